package council

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
)

// fixedPoint notices that no remaining round can change the decision. A round in which
// every call succeeded and no answer or confidence changed is a fixed point of a
// protocol that Settles, because every later round would ask the same. There is no fixed point with
// random faults in the network, or with an adversary whose messages change by themselves.
//
// Seats that patience made late in the round are left out: at most the spare number, and
// only if the others agree without them. They count among the F faulty seats. To the
// others, a later round could only bring other messages of faulty seats, and the run
// would never end early if it waited for a seat that is late again and again. The claim
// does not need those rounds: what holds after every number of rounds holds after this
// one. A late seat that would have changed its answer later is not waited for; that is
// the price of patience.
//
// A seat whose refinement was cut off is left out in the same way, but if all seats that
// are not faulty hold one answer, its refinement had nothing else to choose, and the
// seat counts as one that kept its answer.
type fixedPoint struct {
	plan     *plan.Plan
	possible bool
	first    []*synod.Opinion // by seat
	last     []*synod.Opinion // by seat
	rounds   []roundNotes
	complete int  // the last round that all have noted who noted round 0; -1: none
	merges   bool // the decision is made field by field, so late seats may change a part of it
}

// roundNotes summarises the notes of one round.
type roundNotes struct {
	members int
	faulty  []synod.NodeID // seats that patience made faulty
	kept    []synod.NodeID // other seats whose refinement was cut off
	changed bool           // an answer or confidence of another seat changed, or a call of it failed
}

func newFixedPoint(p *plan.Plan) *fixedPoint {
	return &fixedPoint{
		plan: p, possible: p.Settles(), complete: -1,
		first: make([]*synod.Opinion, len(p.Seats())), last: make([]*synod.Opinion, len(p.Seats())),
	}
}

// reset prepares for another run.
func (s *fixedPoint) reset() {
	clear(s.first)
	clear(s.last)
	s.rounds, s.complete = s.rounds[:0], -1
}

// after takes the notes of a tick and reports whether a round is a fixed point. late is
// session.late.
func (s *fixedPoint) after(notes []sim.Noted, late func(sim.Noted) (faulty, kept bool)) bool {
	found := false
	for _, n := range notes {
		before := s.last[n.Node]
		if s.last[n.Node] = n.Opinion; before == nil {
			s.first[n.Node] = n.Opinion
		}
		for len(s.rounds) <= n.Round {
			s.rounds = append(s.rounds, roundNotes{})
		}
		r := &s.rounds[n.Round]
		r.members++
		switch faulty, kept := late(n); {
		case faulty:
			r.faulty = append(r.faulty, n.Node)
		case kept:
			r.kept = append(r.kept, n.Node)
		case n.Failed > 0 || n.Answer == synod.None || // it is asked again
			before == nil || before.Answer != n.Answer || !equalConfidence(before.Confidence, n.Confidence):
			r.changed = true
		}
		if r.members < s.rounds[0].members {
			continue
		}
		s.complete = max(s.complete, n.Round)
		found = found || s.possible && n.Round > 0 && !r.changed && s.agreeWithoutLate(r)
	}
	return found
}

// agreeWithoutLate reports whether the late seats of a round need not be waited for:
// there are none, or they are no more than may be spared, and the decision is the same
// with their last answers and without.
func (s *fixedPoint) agreeWithoutLate(r *roundNotes) bool {
	late := r.faulty
	if !s.unanimous(r.faulty) {
		late = slices.Concat(r.faulty, r.kept)
	}
	if len(late) == 0 {
		return true
	}
	if s.merges {
		return false
	}
	if len(late) > s.plan.Patience().Spare && !s.plan.Patience().ByRule {
		return false
	}
	all, others := make([]outcome.Record, len(s.last)), make([]outcome.Record, len(s.last))
	for i, o := range s.last {
		all[i].Seat, others[i].Seat = synod.NodeID(i), synod.NodeID(i)
		if o == nil {
			continue
		}
		all[i].Opinions = []outcome.Noted{{Opinion: s.first[i]}, {Opinion: o}}
		if !slices.Contains(late, synod.NodeID(i)) {
			others[i].Opinions = all[i].Opinions
		}
	}
	with := outcome.Winner(s.plan, all)
	return with != synod.None && with == outcome.Winner(s.plan, others)
}

// unanimous reports whether all seats but the faulty ones hold the same answer.
func (s *fixedPoint) unanimous(faulty []synod.NodeID) bool {
	var held synod.Answer
	for i, o := range s.last {
		switch {
		case o == nil || slices.Contains(faulty, synod.NodeID(i)):
		case held == synod.None:
			held = o.Answer
		case held != o.Answer:
			return false
		}
	}
	return held != synod.None
}

func equalConfidence(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
