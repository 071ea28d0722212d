package gateway

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// Where the members do not agree, the client gets an error. If the form was guessed, which may have been wrong, the
// error has the text of a member; if somebody has named the form it has none.
func TestGuessWithoutAgreement(t *testing.T) {
	said := map[string]string{"a": "A spider has eight legs.", "b": "Insects have six, so six.", "c": "Ten, I think."}
	up := llmtest.Start(t, func(c llmtest.Call) string {
		value := map[string]string{"a": "8", "b": "6", "c": "10"}[c.Model]
		if len(c.Schema) > 0 || !strings.Contains(c.User, "Answer: <value>") {
			return llmtest.Fixed(value, 0.9)(c)
		}
		return said[c.Model] + "\n\nAnswer: " + value
	})
	file := strings.Replace(trio(up.URL, up.URL), "form: number\n", "", 1)
	const text = "How many legs has a spider?"
	h := open(t, map[string]string{"trio": file})
	for _, c := range []struct {
		more  []string
		words bool
	}{{nil, true}, {[]string{`"synod": {"form": "number"}`}, false}} {
		r := h.post(t, chats, questionBody("trio", text, c.more...))
		var got struct {
			Error struct{ Code string }
			Synod Report
		}
		r.into(t, &got)
		words := got.Synod.Words
		if r.StatusCode != 422 || got.Error.Code != "no_consensus" || got.Synod.Status != "undecided" ||
			got.Synod.Answer != nil || got.Synod.Value != nil || (words != nil) != c.words ||
			words != nil && words.Text != said[words.Member] {
			t.Errorf("%v: %d %s", c.more, r.StatusCode, r.body)
		}
	}
}

// Too few members that can answer are no mistake of the request.
func TestTooFewMembers(t *testing.T) {
	up := llmtest.Start(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"two": fmt.Sprintf("protocol: {name: majority}\nmodels:\n  a: {provider: openai, "+
		"url: %q, model: a}\n  b: {provider: openai, url: %q, model: b, key_env: SYNOD_TEST_NO_SUCH_KEY}\n"+
		"seats: [{id: a, model: a}, {id: b, model: b}]", up.URL, up.URL)})
	r := h.post(t, chats, questionBody("two", sum))
	p := r.problem(t)
	if r.StatusCode != 422 || p.Error.Code != "degraded" || p.Error.Type != "server_error" ||
		!strings.Contains(p.Error.Message, "b (b): the gateway has no key for this model") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}
