package decentllms

import (
	"math"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// checkDecision compares what an evaluator replies, and its totals, with the reference, from the answers and grades
// that it holds.
func checkDecision(t *check.Trace, h *panelist) {
	p, r := t.Protocol.(*DecentLLMs), h.record
	d := reference.DecentLLMs{F: t.Case.F, Aggregate: p.Aggregate, Salt: r.Salt}
	for _, a := range r.Answers {
		d.Answers = append(d.Answers, a.Answer)
	}
	for _, g := range r.Grades {
		var vectors [][]float64
		if g.Bottom == "" {
			vectors = [][]float64{}
		}
		for k := range g.Grades {
			vectors = append(vectors, g.Grades[k][:])
		}
		d.Grades = append(d.Grades, vectors)
	}
	want, totals, within, near := d.Decide()
	if r.Undecided == late {
		want, near = synod.None, false
	}
	t.Claim("I-DL-D", near || h.Answer == want, "n%d replies %q, and the reference %q: totals %v of %v", h.id, h.Answer,
		want, totals, d)
	for i, a := range r.Answers {
		same := (a.Total == nil) == math.IsNaN(totals[i]) && (a.Total == nil || math.Abs(*a.Total-totals[i]) <= within[i])
		t.Claim("I-DL-D", same, "the total of n%d at n%d is %v, and that of the reference %v: %v", a.Of, h.id, a.Total,
			totals[i], d)
	}
}

// accept is what the user takes of the signed replies.
func accept(t *check.Trace) reference.Step {
	s := reference.Step{Decides: true, Alone: true, Voting: make([]bool, t.Case.N)}
	var signed []synod.Answer
	for i, role := range t.Case.Cast {
		o := t.Last(i)
		if s.Voting[i] = role == Evaluator; role != Evaluator || o == nil {
			continue
		}
		if r := RecordOf(o); r != nil && t.Verifier.Verify(synod.NodeID(i), ReplyBytes(o.Answer), r.Signature) {
			signed = append(signed, o.Answer)
		}
	}
	s.Answer, s.Lacking = reference.Accept(signed, t.Case.F)
	return s
}
