package council

import (
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// outOfReach says why there is no decision where that is nobody's opinion: of those
// who answer nobody was ever reached, or of those who vote more were not than the
// bound F allows for (GR-2). "" otherwise, and where the rule counts seats: it knows
// itself how many of them it takes.
func (c *Council) outOfReach(s *session) string {
	p, ok := c.protocol.(protocol.Answering)
	if !ok || c.spec.Rule.Name != ByProtocol {
		return ""
	}
	var gone []int // of those who vote
	answering, mute := 0, []int{}
	for i := range c.seats {
		dead := s.dead(i)
		if p.Answers(synod.NodeID(i), c.cast) {
			if answering++; dead {
				mute = append(mute, i)
			}
		}
		if dead && (c.mute == nil || !c.mute[i]) {
			gone = append(gone, i)
		}
	}
	switch {
	case answering > 0 && len(mute) == answering:
		return "nobody who answers could be reached: " + strings.Join(c.names(mute), ", ")
	case len(gone) > c.spec.F:
		return fmt.Sprintf("%s could not be reached, and f is %d", strings.Join(c.names(gone), ", "), c.spec.F)
	}
	return ""
}
