package bench

import (
	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

func in(id synod.NodeID, seats int) bool { return id >= 0 && int(id) < seats }

// ranked grades the answers that the record of the first honest seat ranks, the best
// first. All honest seats have the same record. It returns nil if there is none.
func (r *reader) ranked(item task.Item, noted []journal.Noted) (verdicts []task.Verdict) {
	e, err := catalog.Protocols.Find(r.Protocol)
	if err != nil {
		return nil
	}
	p, ok := e.New().(protocol.Ranking)
	if !ok {
		return nil
	}
	for _, n := range noted {
		if !in(n.Node, len(r.Seats)) || r.Seats[n.Node].Adversary != "" || n.Record == nil {
			continue
		}
		for _, a := range p.Ranked(&n.Opinion) {
			verdicts = append(verdicts, item.Grade(a).Verdict)
		}
		return verdicts
	}
	return nil
}

// took returns the tick of the last opinion of an honest voting seat: when it decided,
// if the protocol ends early, else the tick of its last round.
func (r *reader) took(noted []journal.Noted) (most synod.Tick) {
	for i := range noted {
		n := &noted[i]
		if in(n.Node, len(r.Seats)) && r.Seats[n.Node].Adversary == "" && !r.Seats[n.Node].NonVoting {
			most = max(most, n.Tick)
		}
	}
	return most
}

// elapsed returns when the last honest voting seat had decided by the clock, in milliseconds. It
// returns 0 for a run in virtual time.
func (r *reader) elapsed(records []outcome.Record) (most int) {
	if !r.plan.Full().Runner.Capabilities().Measured {
		return 0
	}
	for i, s := range r.Seats {
		if s.Adversary == "" && !s.NonVoting {
			most = max(most, records[i].Elapsed)
		}
	}
	return most
}
