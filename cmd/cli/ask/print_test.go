package ask

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
)

// The other answers are those that are not the decision, also where no vote puts the decision first.
func TestOtherAnswers(t *testing.T) {
	o := outcome.Outcome{Form: synod.Prose, Answer: new(synod.Answer)}
	*o.Answer = "the best"
	for i, a := range []synod.Answer{"first", "second", "the best"} {
		o.Votes = append(o.Votes, outcome.Vote{Answer: a, Text: string(a), Seats: []string{fmt.Sprint("s", i)}})
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
