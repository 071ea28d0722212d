package outcome

import (
	"synod.dev/synod"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/trust"
	"synod.dev/synod/protocol"
)

// QuestionKey is the name of a question in a trust file.
func QuestionKey(q *synod.Question) string { return trust.Hash(q.ID + "\x00" + q.Text) }

// Observations returns the independent first answers of an outcome for a trust file. There are none if the
// protocol asks
// members in stages and the question was no audit: who was asked then depends on what the others answered. label grades
// an answer; nil: no key is known.
func Observations(p *plan.Plan, q *synod.Question, o *Outcome,
	label func(synod.Answer) reliability.Label) (all []reliability.Observation) {
	if a, ok := p.Protocol().(protocol.Auditing); ok && !a.Audited(q) {
		return nil
	}
	return FirstAnswers(p, q, o, label)
}

// FirstAnswers returns the first answers of the members that were asked, by hash. A member whose calls failed is left
// out. label grades an answer; nil: no key is known.
func FirstAnswers(p *plan.Plan, q *synod.Question, o *Outcome,
	label func(synod.Answer) reliability.Label) (all []reliability.Observation) {
	names := plan.TrustNames(p)
	for i := range o.Members {
		m := &o.Members[i]
		one := reliability.Observation{Question: QuestionKey(q), Kind: string(q.Form), Member: names[i]}
		switch {
		case m.First != nil:
			if one.Answer = trust.Hash(string(*m.First)); m.Likelihood != nil {
				one.Sure = *m.Likelihood
			}
			if label != nil {
				one.Label = label(*m.First)
			}
		case m.Calls[statusUnreadable] == 0:
			continue
		}
		all = append(all, one)
	}
	return all
}
