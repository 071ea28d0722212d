package reference

import (
	"math"
	"slices"

	"synod.dev/synod"
)

// SACRound is what one member scored in a round of SAC.
type SACRound struct {
	F      int
	Strict bool           // drop the F lowest, whatever one's own score (SAC-7)
	Silent int            // neighbours without an answer, which use up F (SAC-4)
	Self   synod.Score    // of one's own answer
	Scores []synod.Judged // of the neighbours
}

// Filter is Eq. 3 and 4 of SAC: of the neighbours with a score strictly below one's own, the F lowest are dropped, all
// if there are fewer; of equal scores the first by seat. A member that cannot score its own answer has no anchor, and
// drops the lowest. Both lists are ascending.
func (r *SACRound) Filter() (retained, dropped []synod.NodeID) {
	anchor := r.Self
	if r.Strict || anchor == synod.Untrusted {
		anchor = synod.Score(math.Inf(1))
	}
	left := slices.Clone(r.Scores)
	for range max(0, r.F-r.Silent) {
		lowest := -1
		for i, s := range left {
			if s.Score < anchor && (lowest < 0 || s.Score < left[lowest].Score ||
				s.Score == left[lowest].Score && s.Of < left[lowest].Of) {
				lowest = i
			}
		}
		if lowest >= 0 {
			dropped = append(dropped, left[lowest].Of)
			left = slices.Delete(left, lowest, lowest+1)
		}
	}
	for _, s := range left {
		retained = append(retained, s.Of)
	}
	slices.Sort(retained)
	slices.Sort(dropped)
	return retained, dropped
}
