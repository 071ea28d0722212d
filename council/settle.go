package council

import (
	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/sim"
)

// settle notices that no remaining round can change the decision: a round in which
// every call succeeded and no answer or confidence changed is a fixed point of a protocol
// that Settles, because then every later round asks what has been asked. Chance
// in the network, or a liar whose words change by themselves, rules it out.
type settle struct {
	possible bool
	last     []*synod.Opinion // by node
	noted    []noted          // by round
	round    int              // the last round that all have noted who noted round 0
	rounds   int
}

// noted is what the notes of one round say together.
type noted struct {
	members  int
	restless bool // something changed or failed
}

func newSettle(c *Council) *settle {
	s := &settle{
		possible: c.protocol.Settles() && c.spec.Faults.None(),
		last:     make([]*synod.Opinion, len(c.seats)), round: -1,
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
		for len(s.noted) <= n.Round {
			s.noted = append(s.noted, noted{})
		}
		now := &s.noted[n.Round]
		now.members++
		if n.Failed > 0 || n.Answer == synod.None || // it is asked again
			before == nil || before.Answer != n.Answer || !alike(before.Confidence, n.Confidence) {
			now.restless = true
		}
		if now.members < s.noted[0].members {
			continue
		}
		s.round = max(s.round, n.Round)
		if n.Round > 0 && !now.restless {
			settled = true
		}
	}
	return s.possible && settled
}

func alike(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
