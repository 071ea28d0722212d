package decentllms

import (
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod"
)

// Accept is the user's rule (DL-7): of the evaluators' replies, those whose
// signature holds are counted, and f+1 identical ones are taken, for one of them is
// honest. Two answers with so many show that more than f evaluators are not. A
// reply that there is no decision is a reply.
func (p *DecentLLMs) Accept(last []synod.Opinion, cast []synod.Role, f int, check synod.Verifier) (a synod.Answer, enough bool, why string) {
	_, evaluators := members(cast)
	signed, best := 0, []reply(nil)
	for _, id := range evaluators {
		o := &last[id]
		if !p.Replied(id, o, check) {
			continue
		}
		signed++
		i := slices.IndexFunc(best, func(r reply) bool { return r.answer == o.Answer })
		if i < 0 {
			i, best = len(best), append(best, reply{o.Answer, 0, RecordOf(o).Undecided})
		}
		best[i].n++
	}
	if signed <= f {
		return synod.None, false, fmt.Sprintf("only %d of %d evaluators sent a signed reply; f+1 = %d are needed", signed, len(evaluators), f+1)
	}
	slices.SortStableFunc(best, func(a, b reply) int { return cmp.Compare(b.n, a.n) })
	top := best[0]
	switch {
	case top.n <= f:
		return synod.None, true, fmt.Sprintf("no f+1 = %d of %d signed replies are identical: more than f = %d evaluators err, or rounds were too short", f+1, signed, f)
	case len(best) > 1 && best[1].n > f:
		return synod.None, true, fmt.Sprintf("two replies have f+1 = %d signatures: more than f = %d evaluators err, or rounds were too short", f+1, f)
	case top.answer == synod.None:
		return synod.None, true, fmt.Sprintf("%d evaluators reply, signed, that there is no decision: %s", top.n, top.undecided)
	}
	return top.answer, true, fmt.Sprintf("%d of %d evaluators reply with it, signed; the user takes f+1 = %d identical ones", top.n, len(evaluators), f+1)
}

// reply is what so many evaluators have signed alike.
type reply struct {
	answer    synod.Answer
	n         int
	undecided string
}

// Answers reports that workers answer the question, and nobody else.
func (p *DecentLLMs) Answers(seat synod.NodeID, cast []synod.Role) bool {
	return cast[seat] == Worker
}

// Replied reports that an evaluator has signed the answer that it replies with.
func (p *DecentLLMs) Replied(id synod.NodeID, o *synod.Opinion, check synod.Verifier) bool {
	r := RecordOf(o)
	return r != nil && check.Verify(id, ReplyBytes(o.Answer), r.Signature)
}
