package decentllms

import (
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/broadcast"
)

// Verify checks an evaluator's record of a decision as a third party can that has
// the committee's keys (DL-7): every answer and all marks are signed by whose they
// are, say what the record says of them, and come to its totals and to the reply,
// which the evaluator has signed. Who is ⊥ by silence is its word alone.
func (p *DecentLLMs) Verify(self synod.NodeID, o *synod.Opinion, q *synod.Question, cast []synod.Role, f int, check synod.Verifier) error {
	if !check.Verify(self, ReplyBytes(o.Answer), o.Panel.Signature) {
		return fmt.Errorf("decentllms: evaluator %d has not signed its reply", self)
	}
	first, second := p.answers(cast, f), p.marks(cast, f)
	var answers []answered
	for _, a := range o.Panel.Answers {
		d, err := delivered(&first, a.Of, a.Value, a.Signature, check)
		if err != nil {
			return err
		}
		again := p.read(q, d)
		if d.Word == nil {
			again.Bottom = a.Bottom
		}
		answers = append(answers, again)
	}
	var all []marked
	for _, g := range o.Panel.Grades {
		d, err := delivered(&second, g.By, g.Value, g.Signature, check)
		if err != nil {
			return err
		}
		again := mark(d, answers)
		if d.Word == nil {
			again.bottom = g.Bottom
		}
		all = append(all, again)
	}
	again := &synod.Panel{Salt: o.Panel.Salt}
	p.score(again, answers, all, f)
	if a, _ := best(again); a != o.Answer || !same(again, o.Panel) {
		return fmt.Errorf("decentllms: evaluator %d replies %q, and what it has on record comes to %q or is not what was signed", self, o.Answer, a)
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

// same reports whether two records have the same answers, marks and totals.
func same(a, b *synod.Panel) bool {
	return a.Undecided == b.Undecided &&
		slices.EqualFunc(a.Answers, b.Answers, func(x, y synod.PanelAnswer) bool {
			return x.Of == y.Of && x.Answer == y.Answer && x.Bottom == y.Bottom && bits(x.Total) == bits(y.Total)
		}) &&
		slices.EqualFunc(a.Grades, b.Grades, func(x, y synod.PanelGrades) bool {
			return x.By == y.By && x.Bottom == y.Bottom && slices.Equal(x.Grades, y.Grades)
		})
}

// bits are those of a total; of none, those of no number.
func bits(x *float64) uint64 {
	if x == nil {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(*x)
}
