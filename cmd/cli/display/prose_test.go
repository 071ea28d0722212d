package display

import (
	"bytes"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/protocol"
)

// Prose is printed with its lines and with marks after its claims, and nothing in it reaches the terminal as a
// control sequence.
func TestProseOnTerminal(t *testing.T) {
	text := "Tides rise.\n\n\tx\x1b[31m \u009b2J \u202e é 潮\nThe end."
	o := outcome.Outcome{Form: synod.Prose, Claims: []outcome.Claim{
		{ID: "c1", Text: "Tides rise", Verdict: protocol.Supported, End: 11},
		{ID: "c2", Text: "The end", Verdict: protocol.Disputed, Start: len(text) - 8, End: len(text)}}}
	var b bytes.Buffer
	s := app.NewScreen(&b)
	if _, err := s.Write([]byte(DecisionText(&o, text) + "\n")); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.ContainsAny(got, "\x1b\u009b\u202e") || strings.Count(got, "\n") != 4 ||
		!strings.Contains(got, "rise. [✓c1]\n\n") || !strings.HasSuffix(got, "end. [✗c2]\n") ||
		!strings.Contains(got, "é 潮") {
		t.Errorf("%q", got)
	}
	o.Form = synod.Text
	if DecisionText(&o, "two\nlines") != "two lines" {
		t.Error("a short answer has two lines")
	}
}
