package council

import (
	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/sim"
)

// settle notices that no remaining round can change the decision: a round in
// which every call succeeded and no answer changed is a fixed point of a protocol
// that Settles, because then every later round asks what has been asked. Chance
// in the network, or a liar whose words change by themselves, rules it out.
type settle struct {
	possible bool
	last     []*synod.Opinion // by node
	noted    map[int]int      // members that noted a round
	restless map[int]bool     // rounds in which something changed or failed
	round    int              // the last round that all have noted who noted round 0
	rounds   int
}

func newSettle(c *Council) *settle {
	s := &settle{
		possible: c.protocol.Settles() && c.spec.Faults.None(),
		last:     make([]*synod.Opinion, len(c.seats)), noted: map[int]int{}, restless: map[int]bool{}, round: -1,
		rounds: c.protocol.MaxRounds(),
	}
	for _, liar := range c.liars {
		if liar == nil {
			continue
		}
		if steady, ok := liar.(adversary.Steady); !ok || !steady.Steady() {
			s.possible = false
		}
	}
	return s
}

// after takes the notes of a tick and reports whether a round has settled.
func (s *settle) after(notes []sim.Noted) bool {
	settled := false
	for _, n := range notes {
		before := s.last[n.Node]
		s.last[n.Node] = n.Opinion
		s.noted[n.Round]++
		if n.Failed > 0 || before == nil || before.Answer != n.Answer {
			s.restless[n.Round] = true
		}
		if s.noted[n.Round] < s.noted[0] {
			continue
		}
		s.round = max(s.round, n.Round)
		if n.Round > 0 && !s.restless[n.Round] {
			settled = true
		}
	}
	return s.possible && settled
}
