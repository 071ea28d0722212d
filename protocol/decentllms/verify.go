package decentllms

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
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
		return nil, fmt.Errorf("decentllms: the record of evaluator %s does not have all workers and evaluators, each once and in order", in.Name(in.Self))
	}
	first, second := p.answers(in.Cast, in.F, synod.DefaultPace), p.marks(in.Cast, in.F, synod.DefaultPace) // signatures do not depend on the pace
	answers, all, err := p.onRecord(record, in.Question, &first, &second, in.Check)
	if err != nil {
		return nil, err
	}
	again := &Record{}
	whole := p.score(again, answers, all, in.F)
	if err := commitments(again, record, &first, in.Check); err != nil {
		return nil, err
	}
	again.Salt = salt(again, whole)
	if record.Undecided == late { // the evaluator's claim alone, but it decides nothing
		again.Undecided = late
	}
	if a, _ := best(again); a != in.Opinion.Answer || !same(again, record) {
		return nil, fmt.Errorf("decentllms: evaluator %s replies %q, but its record leads to %q or is not what was signed", in.Name(in.Self), in.Opinion.Answer, a)
	}
	return &protocol.Verified{
		Claims: []string{
			fmt.Sprintf("evaluator %s replied %s and signed the reply", in.Name(in.Self), in.Opinion.Answer),
			fmt.Sprintf("all answers and grades in the record of %s are signed by their authors, and lead to its reply", in.Name(in.Self)),
		},
		NotProved: []string{
			"that the answer is right",
			"that a member recorded as silent was silent",
			fmt.Sprintf("that other evaluators replied alike: that needs at most F=%d Byzantine evaluators and no late messages", in.F),
		},
	}, nil
}

// onRecord reads what was signed of answers and marks as an evaluator does. Without
// a word there is the record's reason for ⊥.
func (p *DecentLLMs) onRecord(r *Record, q *synod.Question, first, second *broadcast.Group, check synod.Verifier) (answers []answered, all []marked, err error) {
	for _, a := range r.Answers {
		d, err := delivered(first, a.Of, a.Value, a.Signature, check)
		if err != nil {
			return nil, nil, err
		}
		x := p.read(q, d)
		if d.Word == nil {
			x.Bottom = cmp.Or(a.Bottom, x.Bottom)
		}
		answers = append(answers, x)
	}
	for _, g := range r.Grades {
		d, err := delivered(second, g.By, g.Value, g.Signature, check)
		if err != nil {
			return nil, nil, err
		}
		x := mark(d, answers)
		if d.Word == nil {
			x.bottom = cmp.Or(g.Bottom, x.bottom)
		}
		all = append(all, x)
	}
	return answers, all, nil
}

// complete reports that a record has every worker and every evaluator of the cast
// once and ascending: marks count by the place of who gave and who got them.
func complete(r *Record, cast []synod.Role) bool {
	workers, evaluators := members(cast)
	return slices.EqualFunc(r.Answers, workers, func(a WorkerAnswer, id synod.NodeID) bool { return a.Of == id }) &&
		slices.EqualFunc(r.Grades, evaluators, func(g EvaluatorGrades, id synod.NodeID) bool { return g.By == id })
}

// commitments takes over what evaluators have signed for the salt.
func commitments(into, from *Record, g *broadcast.Group, check synod.Verifier) error {
	for i, x := range from.Grades {
		d, err := delivered(g, x.By, x.Committed, x.CommitSignature, check)
		if err != nil {
			return err
		}
		if d.Word != nil {
			into.Grades[i].Committed, into.Grades[i].CommitSignature = x.Committed, x.CommitSignature
		}
	}
	return nil
}

// delivered is what a record has of a sender, as it was delivered.
func delivered(g *broadcast.Group, by synod.NodeID, value, signature []byte, check synod.Verifier) (broadcast.Delivery, error) {
	d := broadcast.Delivery{Sender: by}
	if signature == nil {
		return d, nil
	}
	word := broadcast.Signed{Group: g.Digest(), Sender: by, Value: value, Signature: signature}
	if d.Word = &word; !word.Verify(check) {
		return d, fmt.Errorf("decentllms: member %d has not signed what the record has of its %s", by, g.Name)
	}
	return d, nil
}

// same reports whether two records have the same answers, marks, salt and totals.
func same(a, b *Record) bool {
	return a.Undecided == b.Undecided && bytes.Equal(a.Salt, b.Salt) &&
		slices.EqualFunc(a.Answers, b.Answers, func(x, y WorkerAnswer) bool {
			return x.Of == y.Of && x.Answer == y.Answer && x.Bottom == y.Bottom && bits(x.Total) == bits(y.Total) && x.Converged == y.Converged
		}) &&
		slices.EqualFunc(a.Grades, b.Grades, func(x, y EvaluatorGrades) bool {
			return x.By == y.By && x.Bottom == y.Bottom && slices.Equal(x.Grades, y.Grades) && bytes.Equal(x.Committed, y.Committed)
		})
}

// bits are those of a total; of none, those of no number.
func bits(x *float64) uint64 {
	if x == nil {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(*x)
}
