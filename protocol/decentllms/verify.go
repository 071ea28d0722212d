package decentllms

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/broadcast"
)

// Verify checks an evaluator's record of a decision (DL-7). The record must have every
// worker and every evaluator once and in order. Every answer, all grades and everything
// that the salt is made of must be signed by their authors, must say what the record
// says of them, and must lead to the record's salt, totals and reply, which the
// evaluator must have signed. That a member was silent is the evaluator's claim alone.
func (p *DecentLLMs) Verify(in protocol.VerifyInput) (*protocol.Verified, error) {
	record, err := synod.RecordOf[Record](in.Opinion)
	if record == nil {
		return nil, err
	}
	if !in.Check.Verify(in.Self, ReplyBytes(in.Opinion.Answer), record.Signature) {
		return nil, fmt.Errorf("decentllms: evaluator %d has not signed its reply", in.Self)
	}
	if !complete(record, in.Cast) {
		return nil, fmt.Errorf("decentllms: the record of evaluator %s does not have all workers and evaluators, each "+
			"once and in order", in.Name(in.Self))
	}
	first, second := p.answers(in.Cast, in.F, synod.DefaultPace),
		p.marks(in.Cast, in.F, synod.DefaultPace) // signatures do not depend on the pace
	answers, all, err := p.onRecord(record, in.Question, &first, &second, in.Check)
	if err != nil {
		return nil, err
	}
	if in.Question.Salt != "" && record.Latest != in.Question.Salt {
		return nil, fmt.Errorf("decentllms: the record of evaluator %s does not have the question's head of the ledger",
			in.Name(in.Self))
	}
	again := &Record{Latest: record.Latest}
	whole := p.score(again, answers, all, in.F)
	if err := commitments(again, record, &first, in.Check); err != nil {
		return nil, err
	}
	again.Salt = salt(again, whole)
	if record.Undecided == late { // the evaluator's claim alone, but it decides nothing
		again.Undecided = late
	}
	if a, _ := best(again); a != in.Opinion.Answer || !same(again, record) {
		return nil, fmt.Errorf("decentllms: evaluator %s replies %q, but its record leads to %q or is not what was "+
			"signed", in.Name(in.Self), in.Opinion.Answer, a)
	}
	return verified(&in, record), nil
}

// verified says what a record that passed all checks proves.
func verified(in *protocol.VerifyInput, record *Record) *protocol.Verified {
	v := &protocol.Verified{
		Claims: []string{
			fmt.Sprintf("evaluator %s replied %s and signed the reply", in.Name(in.Self), in.Opinion.Answer),
			fmt.Sprintf("all answers and grades in the record of %s are signed by their authors, and lead to its reply",
				in.Name(in.Self)),
		},
		NotProved: []string{
			"that the answer is right",
			"that a member recorded as silent was silent",
			fmt.Sprintf("that other evaluators replied alike: that needs at most F=%d Byzantine evaluators and no "+
				"late messages", in.F),
		},
	}
	if in.Question.Salt == "" && record.Latest != "" {
		v.NotProved = append(v.NotProved, "that all members were given the head of the ledger that the record names")
	}
	return v
}

// onRecord reads the signed answers and grades of a record as an evaluator does. Where
// there is no signed message it keeps the reason for ⊥ that the record gives.
func (p *DecentLLMs) onRecord(r *Record, q *synod.Question, first, second *broadcast.Group,
	check synod.Verifier) (answers []answered, all []evaluated, err error) {
	for _, a := range r.Answers {
		d, err := delivered(first, a.Of, a.Value, a.Signature, check)
		if err != nil {
			return nil, nil, err
		}
		x := p.read(q, d)
		if d.Signed == nil {
			x.Bottom = cmp.Or(a.Bottom, x.Bottom)
		}
		answers = append(answers, x)
	}
	for _, g := range r.Grades {
		d, err := delivered(second, g.By, g.Value, g.Signature, check)
		if err != nil {
			return nil, nil, err
		}
		x := gradesOf(d, answers)
		if d.Signed == nil {
			x.bottom = cmp.Or(g.Bottom, x.bottom)
		}
		all = append(all, x)
	}
	return answers, all, nil
}

// complete reports whether a record has every worker and every evaluator of the cast once
// and ascending, because grades count by their position.
func complete(r *Record, cast []synod.Role) bool {
	workers, evaluators := members(cast)
	return slices.EqualFunc(r.Answers, workers, func(a WorkerAnswer, id synod.NodeID) bool { return a.Of == id }) &&
		slices.EqualFunc(r.Grades, evaluators, func(g EvaluatorGrades, id synod.NodeID) bool { return g.By == id })
}

// commitments copies the signed commitments for the salt.
func commitments(into, from *Record, g *broadcast.Group, check synod.Verifier) error {
	for i, x := range from.Grades {
		d, err := delivered(g, x.By, x.Committed, x.CommitSignature, check)
		if err != nil {
			return err
		}
		if d.Signed != nil {
			into.Grades[i].Committed, into.Grades[i].CommitSignature = x.Committed, x.CommitSignature
		}
	}
	return nil
}

// delivered returns what a record has of a sender, as it was delivered.
func delivered(g *broadcast.Group, by synod.NodeID, value, signature []byte, check synod.Verifier) (broadcast.Delivery,
	error) {
	d := broadcast.Delivery{Sender: by}
	if signature == nil {
		return d, nil
	}
	signed := broadcast.Signed{Group: g.Digest(), Sender: by, Value: value, Signature: signature}
	if d.Signed = &signed; !signed.Verify(check) {
		return d, fmt.Errorf("decentllms: member %d has not signed what the record has of its %s", by, g.Name)
	}
	return d, nil
}

// same reports whether two records have the same answers, grades, salt and totals.
func same(a, b *Record) bool {
	return a.Undecided == b.Undecided && bytes.Equal(a.Salt, b.Salt) &&
		slices.EqualFunc(a.Answers, b.Answers, func(x, y WorkerAnswer) bool {
			return x.Of == y.Of && x.Answer == y.Answer && x.Bottom == y.Bottom && bits(x.Total) == bits(y.Total) &&
				x.Converged == y.Converged
		}) &&
		slices.EqualFunc(a.Grades, b.Grades, func(x, y EvaluatorGrades) bool {
			return x.By == y.By && x.Bottom == y.Bottom && slices.Equal(x.Grades, y.Grades) &&
				bytes.Equal(x.Committed, y.Committed)
		})
}

// bits returns the bits of a total; of nil, those of NaN.
func bits(x *float64) uint64 {
	if x == nil {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(*x)
}

// Accept is the user's rule (DL-7): it counts the evaluators' replies with a valid
// signature and accepts f+1 identical ones, because one of them is honest. Two answers
// with f+1 replies each show that more than f evaluators are Byzantine. A reply that there
// is no decision counts as a reply.
func (p *DecentLLMs) Accept(last []synod.Opinion, cast []synod.Role, f int, check synod.Verifier) (a synod.Answer,
	enough bool, why string) {
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
		return synod.None, false, fmt.Sprintf("only %d of %d evaluators sent a signed reply; f+1 = %d are needed",
			signed, len(evaluators), f+1)
	}
	order.Stable(best, func(a, b reply) int { return cmp.Compare(b.n, a.n) })
	top := best[0]
	switch {
	case top.n <= f:
		return synod.None, true, fmt.Sprintf("no f+1 = %d of %d signed replies are identical: more than f = %d "+
			"evaluators err, or rounds were too short", f+1, signed, f)
	case len(best) > 1 && best[1].n > f:
		return synod.None, true, fmt.Sprintf("two replies have f+1 = %d signatures: more than f = %d evaluators err, "+
			"or rounds were too short", f+1, f)
	case top.answer == synod.None:
		return synod.None, true, fmt.Sprintf("%d evaluators reply, signed, that there is no decision: %s", top.n,
			top.undecided)
	}
	return top.answer, true, fmt.Sprintf("%d of %d evaluators reply with it, signed; the user takes f+1 = %d "+
		"identical ones", top.n, len(evaluators), f+1)
}

// reply is an answer that n evaluators signed.
type reply struct {
	answer    synod.Answer
	n         int
	undecided string
}

// Replied reports whether an evaluator signed the answer that it replies with.
func (p *DecentLLMs) Replied(id synod.NodeID, o *synod.Opinion, check synod.Verifier) bool {
	r := RecordOf(o)
	return r != nil && check.Verify(id, ReplyBytes(o.Answer), r.Signature)
}
