package outcome

import (
	"maps"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

// withstands returns how many independent answers a decision does not depend on, or nil and the reason why that cannot
// be said.
func (j *judgment) withstands(decision synod.Answer) (w *robust.Withstood, why string) {
	p := j.plan
	switch {
	case decision == synod.None:
		return nil, "there is no decision"
	case j.merged != nil && (plan.FirstHand(p) || !j.heard()):
		return nil, "" // showValue says it
	case j.staged() != nil:
		return withSupport(j, j.staged().Withstands, decision), j.staged().Fragile
	case p.Full().Rule.Name == plan.ByProtocol && meanVote(p):
		return j.withstandsByMean(decision)
	case p.Full().Rule.Name == plan.ByProtocol:
		return nil, "the protocol's own step decided, which does not count independent answers"
	case someCompared(j):
		return nil, "members said which answers mean the same"
	case weightedVote(p) != nil && j.heard():
		return j.withstandsByWeight(decision)
	case j.heard() && !plan.JoinsTexts(p):
		return nil, "members had heard others before their last answers"
	}
	return j.withstandsBySeats(decision)
}

// withstandsBySeats returns what a decision that counts the seats' last answers withstands.
func (j *judgment) withstandsBySeats(decision synod.Answer) (w *robust.Withstood, why string) {
	p := j.plan
	voices := make([]robust.Voice, 0, p.Voters())
	for i := range p.Seats() {
		if !p.Seats()[i].NonVoting {
			voices = append(voices, robust.Voice{Answer: j.stand(AnswerOf(j.last[i])), Weight: 1})
		}
	}
	if got, wins := robust.Withstands(robust.VoteRule{Name: p.Full().Rule.Name}, voices, decision); wins {
		return limited(j, &got, decision), ""
	}
	return nil, "the members' last answers alone do not choose the decision"
}

// limited lowers what a vote withstands to what else the decision needs: answers of enough seats, and the rule's
// support.
func limited(j *judgment, w *robust.Withstood, decision synod.Answer) *robust.Withstood {
	return withSupport(j, withQuorum(j, w), decision)
}

// withQuorum lowers what a decision withstands to how many seats may be left out or fall silent before too few have an
// answer. A majority of all seats has enough in any case, and so have those who asked in stages or signed replies.
func withQuorum(j *judgment, w *robust.Withstood) *robust.Withstood {
	rule := j.plan.Full().Rule.Name
	if w == nil || rule != plan.Plurality && (rule != plan.ByProtocol || j.ownStep().signed) {
		return w
	}
	present := failedVotes(j)
	for i, o := range j.last {
		if !j.plan.Seats()[i].NonVoting && AnswerOf(o) != synod.None {
			present++
		}
	}
	spare := max(0, 2*present-j.plan.Voters()-1) // more than half of the seats that are left must have an answer
	return &robust.Withstood{Ignored: min(w.Ignored, spare), Changed: min(w.Changed, spare/2)}
}

// withSupport lowers what a decision withstands to what the rule's support does: as many voices must have given it in
// round 0, and those with few seats are lost first.
func withSupport(j *judgment, w *robust.Withstood, decision synod.Answer) *robust.Withstood {
	need := j.plan.Full().Rule.Support
	if w == nil || need == 0 {
		return w
	}
	seats := map[int]int{} // by voice
	for i, a := range j.first {
		if a != synod.None && j.stand(a) == decision {
			seats[j.plan.VoiceOf(i)]++
		}
	}
	limited := w.AtMost(robust.Spare(slices.Collect(maps.Values(seats)), need))
	return &limited
}

// weightedVote returns the protocol if its members take the first answer with the largest weight; nil for others.
func weightedVote(p *plan.Plan) protocol.WeightedVote {
	if w, ok := p.Protocol().(protocol.WeightedVote); ok && w.VotesByWeight() {
		return w
	}
	return nil
}

// claimable is the weight of a member that claims to be certain. Sums of weights in units of 1e-9 do not depend on
// their order.
const claimable = int64(1e9)

// withstandsByWeight returns what a decision withstands where every member takes the first answer with the largest
// weight, and the rule counts who holds it. As long as the weighted vote of the first answers stays the same, all
// members that hold the decision keep it, except those that are removed or changed. So both votes must withstand it.
func (j *judgment) withstandsByWeight(decision synod.Answer) (w *robust.Withstood, why string) {
	p := j.plan
	if g := p.Graph(); g.Changes() || g.MinDegree() < len(p.Seats())-1 {
		return nil, "members do not hear all first answers on this graph"
	}
	if slices.ContainsFunc(j.last, func(o *synod.Opinion) bool { return missedFirst(j, o) }) {
		return nil, "a member did not hear a first answer, or has not taken one over yet"
	}
	voices := weighedAnswers(j)
	vote := robust.VoteRule{Name: robust.Plurality, Claim: claimable}
	first, wins := robust.Withstands(vote, voices, decision)
	if !wins {
		return nil, "the weighted vote of the first answers does not choose the decision, or only by a tie"
	}
	last, why := j.withstandsBySeats(decision)
	if last == nil {
		return nil, why
	}
	return &robust.Withstood{Ignored: min(first.Ignored, last.Ignored), Changed: min(first.Changed, last.Changed)}, ""
}

// weighedAnswers returns the first answers with the weights that members claim.
func weighedAnswers(j *judgment) []robust.Voice {
	weigh, voices := plan.Weighting(j.plan), make([]robust.Voice, len(j.seats))
	for i, r := range j.seats {
		for _, o := range r.Opinions {
			if o.Round == 0 && j.first[i] != synod.None {
				weight := math.Round(weigh(o.Opinion) * float64(claimable))
				voices[i] = robust.Voice{Answer: o.Answer, Weight: int64(weight)}
			}
		}
	}
	return voices
}

// meanVote reports whether the protocol's own step takes the first answer with the highest mean weight.
func meanVote(p *plan.Plan) bool {
	m, ok := p.Protocol().(protocol.MeanVote)
	return ok && m.VotesByMean()
}

// withstandsByMean returns what the win of the highest mean weight withstands.
func (j *judgment) withstandsByMean(decision synod.Answer) (*robust.Withstood, string) {
	w, wins := robust.WithstandsMean(weighedAnswers(j), decision)
	switch {
	case !wins:
		return nil, "another answer has the same mean confidence, or was given with none"
	case j.plan.Full().Rule.Support > 0:
		return nil, "support counts seats, and the protocol's own step counts mean confidences"
	}
	return limited(j, &w, decision), ""
}

// missedFirst reports whether a member's last answer does not follow from all first answers.
func missedFirst(j *judgment, last *synod.Opinion) bool {
	return last == nil || last.Round == 0 || slices.ContainsFunc(last.Silent, func(id synod.NodeID) bool {
		return id >= 0 && int(id) < len(j.first) && j.first[id] != synod.None
	})
}

// withstoodVoices is what a decision withstands in voices.
func withstoodVoices(p *plan.Plan, w *robust.Withstood) *robust.Withstood {
	if w == nil || p.VoicesOf() == nil {
		return w
	}
	return &robust.Withstood{Ignored: plan.InVoices(p, w.Ignored), Changed: plan.InVoices(p, w.Changed)}
}

// supporters returns how many voices gave an answer before they heard others.
func (j *judgment) supporters(decision synod.Answer) int {
	if decision == synod.None {
		return 0
	}
	heard := map[int]bool{}
	for i, a := range j.first {
		if a != synod.None && j.stand(a) == decision {
			heard[j.plan.VoiceOf(i)] = true
		}
	}
	return len(heard)
}
