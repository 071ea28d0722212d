package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/protocol"
)

// The other answers are those that are not the decision, also where no vote puts the decision first.
func TestOtherAnswers(t *testing.T) {
	o := counciloutcome.Outcome{Form: synod.Prose, Answer: new(synod.Answer)}
	*o.Answer = "the best"
	for i, a := range []synod.Answer{"first", "second", "the best"} {
		o.Votes = append(o.Votes, counciloutcome.Vote{Answer: a, Text: string(a), Seats: []string{fmt.Sprint("s", i)}})
	}
	var b bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&b)
	dissent(cmd, o)
	if got := b.String(); !strings.Contains(got, `"first" (s0)`) || !strings.Contains(got, `"second"`) ||
		strings.Contains(got, "the best") {
		t.Error(got)
	}
}

// Prose is printed with its lines and with marks after its claims, and nothing in it reaches the terminal as a
// control sequence.
func TestProseOnTerminal(t *testing.T) {
	text := "Tides rise.\n\n\tx\x1b[31m \u009b2J \u202e é 潮\nThe end."
	o := counciloutcome.Outcome{Form: synod.Prose, Claims: []counciloutcome.Claim{
		{ID: "c1", Text: "Tides rise", Verdict: protocol.Supported, End: 11},
		{ID: "c2", Text: "The end", Verdict: protocol.Disputed, Start: len(text) - 8, End: len(text)}}}
	var b bytes.Buffer
	s := newScreen(&b)
	if _, err := s.Write([]byte(decisionText(&o, text) + "\n")); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.ContainsAny(got, "\x1b\u009b\u202e") || strings.Count(got, "\n") != 4 ||
		!strings.Contains(got, "rise. [✓c1]\n\n") || !strings.HasSuffix(got, "end. [✗c2]\n") ||
		!strings.Contains(got, "é 潮") {
		t.Errorf("%q", got)
	}
	o.Form = synod.Text
	if decisionText(&o, "two\nlines") != "two lines" {
		t.Error("a short answer has two lines")
	}
}
