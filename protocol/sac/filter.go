package sac

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
)

// Filter applies the filter of one member to scores alone (Eq. 4 of the paper): self is its score of its own answer,
// and all has those of its neighbours' answers; silent more neighbours have sent none. It returns the places in all
// that are retained, ascending. Claims about the filter are checked with it.
func (p *SAC) Filter(f int, self synod.Score, all []synod.Score, silent int) (retained []int) {
	s, heard := scores{self: self}, make([]answer.Heard, len(all))
	for k, v := range all {
		heard[k].From = synod.NodeID(k)
		s.scored = append(s.scored, judged{&heard[k], v})
	}
	for _, j := range (&member{SAC: p, buffers: &buffers{}}).filter(f, make([]synod.NodeID, silent), s).retained {
		retained = append(retained, int(j.From))
	}
	return retained
}
