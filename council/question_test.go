package council

import (
	"strings"
	"testing"

	"synod.dev/synod"
)

// A question that a person typed has a form, given or guessed.
func TestReadQuestion(t *testing.T) {
	const listed = "Which is a fruit?\nA) an apple\nB) a stone"
	for _, c := range []struct {
		text    string
		form    synod.Form
		want    synod.Form
		options int
		err     string
	}{
		{"What is 17 + 25?", "", synod.Number, 0, ""},
		{"What is 17 + 25?", synod.Text, synod.Text, 0, ""},
		{listed, "", synod.Choice, 2, ""},
		{listed, synod.Choice, synod.Choice, 2, ""},
		{listed, synod.Text, synod.Text, 0, ""},
		{"What is it?", "poem", "", 0, `form is "poem"; it must be one of`},
		{"", "", "", 0, "the question is empty"},
		{"\xff", synod.Text, "", 0, "is not UTF-8"},
		{strings.Repeat("x", synod.MaxConversation), synod.Text, synod.Text, 0, ""},
		{strings.Repeat("x", synod.MaxConversation+1), synod.Text, "", 0, "at most 4194304 (4096 KB)"},
	} {
		q, err := ReadQuestion(c.text, c.form)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%.20q as %q: %v", c.text, c.form, err)
			}
			continue
		}
		if err != nil || q.Form != c.want || len(q.Options) != c.options || q.Text == "" {
			t.Errorf("%.20q as %q: %.20q of form %s with %d options, %v", c.text, c.form, q.Text, q.Form,
				len(q.Options), err)
		}
		if (c.form == synod.Choice) != (q.Text != c.text) {
			t.Errorf("%.20q as %q: the text is %.40q", c.text, c.form, q.Text)
		}
	}
}
