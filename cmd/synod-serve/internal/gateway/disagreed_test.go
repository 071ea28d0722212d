package gateway

import (
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
