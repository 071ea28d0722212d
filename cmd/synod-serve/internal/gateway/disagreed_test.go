package gateway

import (
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// Where the form was guessed and the members do not agree, the client gets the text of one of them, which says that it
// is no decision; with a form that somebody has named, or where an error is asked for, it gets an error.
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
	r := h.post(t, chats, questionBody("trio", text))
	var got struct {
		Choices []struct{ Message struct{ Content string } }
		Synod   Report
	}
	r.into(t, &got)
	if r.StatusCode != 200 || got.Synod.Status != "undecided" || got.Synod.Answer != nil || got.Synod.Value != nil {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	words := got.Synod.Words
	content := got.Choices[0].Message.Content
	if words == nil || !strings.HasPrefix(content, said[words.Member]+"\n\n[No decision: the members did not agree.") {
		t.Errorf("%q of %+v", content, words)
	}
	for what, more := range map[string]string{"form": `"synod": {"form": "number"}`,
		"error": `"synod": {"on_no_consensus": "error"}`} {
		if r := h.post(t, chats, questionBody("trio", text, more)); r.StatusCode != 422 {
			t.Errorf("%s: %d %s", what, r.StatusCode, r.body)
		}
	}
}
