package outcome

import (
	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

// Foretold reports whether the council's decision follows from first answers alone (Foretell): its members do not talk,
// or they ask in stages and members that do not change their answers are assumed.
func Foretold(p *plan.Plan) bool {
	_, keeps := p.Protocol().(protocol.Foretelling)
	return p.Committee() == nil && (keeps || p.Protocol().MaxRounds() == 0)
}

// Foretell returns what the council decides, by its own protocol and rule, if its members give these first answers, by
// seat, and do not change them; None: nothing. It is meaningful only if Foretold.
func Foretell(p *plan.Plan, q *synod.Question, first []synod.Answer) synod.Answer {
	noted := make([][]*synod.Opinion, len(first))
	for i, a := range first {
		noted[i] = []*synod.Opinion{{Answer: a}}
	}
	if f, ok := p.Protocol().(protocol.Foretelling); ok {
		noted = f.Foretell(q, first, p.Full().F)
	}
	records := make([]Record, len(first))
	for i := range records {
		records[i] = Record{Seat: synod.NodeID(i), Stopped: sim.Finished}
		for _, o := range noted[i] {
			records[i].Opinions = append(records[i].Opinions, Noted{Opinion: o})
		}
	}
	o := Judge(p, plan.Instance{Question: *q}, records)
	return o.Decision
}
