package search

import (
	"cmp"
	"fmt"

	"synod.dev/synod/bench/metrics"
)

// Objective says in which order the parts of a score count.
const Objective = "captures of right answers, then lost answers, then lost decisions, then cost"

// Damage is what an attack did to the questions that it was tried on, compared with the council without adversaries on
// the same questions with the same seeds.
type Damage struct {
	Questions int `json:"questions"`
	Right     int `json:"right"` // decided rightly without adversaries
	// Captured counts questions that were decided rightly without adversaries, and with them wrongly, by an answer
	// that an adversary held.
	Captured int `json:"captured"`
	Lost     int `json:"lost"`     // decided rightly without adversaries, and not with them
	Stopped  int `json:"stopped"`  // decided without adversaries, and not with them
	Proved   int `json:"proved"`   // in which a member was proved to have signed two values
	Failed   int `json:"failed"`   // not played to their end, such as a provider's failure; in no other figure
	Calls    int `json:"calls"`    // model calls of the attacked council
	Baseline int `json:"baseline"` // model calls without adversaries
}

// Compare returns a positive number if s harms the council more than t by Objective.
func (s Damage) Compare(t Damage) int {
	return cmp.Or(cmp.Compare(s.Captured, t.Captured), cmp.Compare(s.Lost, t.Lost), cmp.Compare(s.Stopped, t.Stopped),
		cmp.Compare(s.Cost(), t.Cost()))
}

// Capture returns the share of right answers that were captured, with Wilson's 95 % interval; nil if none was right.
func (s Damage) Capture() *metrics.Rate { return metrics.Share(s.Captured, s.Right) }

// Cost returns the calls over those without adversaries; 1 if there were none.
func (s Damage) Cost() float64 {
	if s.Baseline == 0 {
		return 1
	}
	return float64(s.Calls) / float64(s.Baseline)
}

func (s Damage) String() string {
	return fmt.Sprintf("%d of %d right answers captured, %d lost, %d decisions lost, cost × %.2f", s.Captured, s.Right,
		s.Lost, s.Stopped, s.Cost())
}
