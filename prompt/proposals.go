package prompt

import (
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/clean"
)

// Proposals shows what players said in a round, a line each, as a block that their
// words cannot close.
func (v *view) Proposals(all []synod.Proposal) string {
	border := v.nonce()
	var s strings.Builder
	s.WriteString("<<" + border + "\n")
	for _, p := range all {
		fmt.Fprintf(&s, "player %d: ", p.By)
		if p.Value == nil {
			s.WriteString("said nothing\n")
			continue
		}
		fmt.Fprintf(&s, "%d", *p.Value)
		if p.Reason != "" {
			s.WriteString(", because " + clean.Line(p.Reason, synod.MaxReason))
		}
		s.WriteByte('\n')
	}
	return s.String() + border + ">>"
}
