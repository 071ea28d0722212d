package decentllms

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/broadcast"
)

// Verify checks an evaluator's record of a decision as a third party can that has
// the committee's keys (DL-7): it has every worker and every evaluator once, in their
// order; every answer, all marks and all that the salt is made of are signed by whose
// they are, say what the record says of them, and come to its salt, totals and reply,
// which the evaluator has signed. Who is ⊥ by silence is its word alone.
func (p *DecentLLMs) Verify(self synod.NodeID, o *synod.Opinion, q *synod.Question, cast []synod.Role, f int, check synod.Verifier) error {
	if !check.Verify(self, ReplyBytes(o.Answer), o.Panel.Signature) {
		return fmt.Errorf("decentllms: evaluator %d has not signed its reply", self)
	}
	if !complete(o.Panel, cast) {
		return fmt.Errorf("decentllms: the record of evaluator %d is not of all workers and evaluators, each once and in order", self)
	}
	first, second := p.answers(cast, f), p.marks(cast, f)
	answers, all, err := p.onRecord(o.Panel, q, &first, &second, check)
	if err != nil {
		return err
	}
	again := &synod.Panel{}
	whole := p.score(again, answers, all, f)
	if err := commitments(again, o.Panel, &first, check); err != nil {
		return err
	}
	again.Salt = salt(again, whole)
	if o.Panel.Undecided == late { // its word alone, and it decides nothing
		again.Undecided = late
	}
	if a, _ := best(again); a != o.Answer || !same(again, o.Panel) {
		return fmt.Errorf("decentllms: evaluator %d replies %q, and what it has on record comes to %q or is not what was signed", self, o.Answer, a)
	}
	return nil
}

// onRecord reads what was signed of answers and marks as an evaluator does. Without
// a word there is the record's reason for ⊥.
func (p *DecentLLMs) onRecord(r *synod.Panel, q *synod.Question, first, second *broadcast.Group, check synod.Verifier) (answers []answered, all []marked, err error) {
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
func complete(r *synod.Panel, cast []synod.Role) bool {
	workers, evaluators := members(cast)
	return slices.EqualFunc(r.Answers, workers, func(a synod.PanelAnswer, id synod.NodeID) bool { return a.Of == id }) &&
		slices.EqualFunc(r.Grades, evaluators, func(g synod.PanelGrades, id synod.NodeID) bool { return g.By == id })
}

// commitments takes over what evaluators have signed for the salt.
func commitments(into, from *synod.Panel, g *broadcast.Group, check synod.Verifier) error {
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
		return d, fmt.Errorf("decentllms: %d has not signed what the record has of its %s", by, g.Name)
	}
	return d, nil
}

// same reports whether two records have the same answers, marks, salt and totals.
func same(a, b *synod.Panel) bool {
	return a.Undecided == b.Undecided && bytes.Equal(a.Salt, b.Salt) &&
		slices.EqualFunc(a.Answers, b.Answers, func(x, y synod.PanelAnswer) bool {
			return x.Of == y.Of && x.Answer == y.Answer && x.Bottom == y.Bottom && bits(x.Total) == bits(y.Total) && x.Converged == y.Converged
		}) &&
		slices.EqualFunc(a.Grades, b.Grades, func(x, y synod.PanelGrades) bool {
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
