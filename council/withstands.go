package council

import (
	"synod.dev/synod"
	"synod.dev/synod/robust"
)

// withstands returns how many independent answers a decision does not depend on, or nil and the reason why that cannot
// be said.
func (j *judgment) withstands(decision synod.Answer) (w *robust.Withstood, why string) {
	p := j.plan
	switch {
	case decision == synod.None:
		return nil, "there is no decision"
	case j.merged != nil && (p.weighting() != nil || !j.heard()):
		return nil, "" // showValue says it
	case j.staged() != nil:
		return j.staged().Withstands, j.staged().Fragile
	case p.spec.Rule.Name == ByProtocol:
		return nil, "the protocol's own step decided, which does not count independent answers"
	case j.compared():
		return nil, "members said which answers mean the same"
	case j.heard() && !p.joinsTexts():
		return nil, "members had heard others before their last answers"
	}
	voices := make([]robust.Voice, 0, p.voters)
	for i := range p.seats {
		if !p.seats[i].NonVoting {
			voices = append(voices, robust.Voice{Answer: j.stand(answerOf(j.last[i])), Weight: 1})
		}
	}
	rule := robust.VoteRule{Name: p.spec.Rule.Name, Support: p.spec.Rule.Support}
	if got, wins := robust.Withstands(rule, voices, decision); wins {
		return &got, ""
	}
	return nil, "answers of members without a vote support the decision"
}

// heard reports whether a voting seat's last answer came after round 0, in which members do not hear one another.
func (j *judgment) heard() bool {
	if j.plan.protocol.MaxRounds() == 0 {
		return false
	}
	for i, o := range j.last {
		if o != nil && o.Round > 0 && !j.plan.seats[i].NonVoting {
			return true
		}
	}
	return false
}
