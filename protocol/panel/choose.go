package panel

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
)

// Total is what an answer comes to.
type Total struct {
	Of     synod.NodeID
	Answer synod.Answer // of round 0; None if its author had none, or it is not known
	Total  float64      // 0 to 100
	Judges int          // members whose grades count
	Why    string       // why it has no total; "" if it has one
}

// totals aggregates the grades of all answers. given are the answers by seat, and marks what each seat
// makes of the others'. A grade counts if it is about the author's own text. Missing grades use up f.
func (p *Panel) totals(given []synod.Answer, marks [][]Mark, f int) []Total {
	aggregate, err := robust.Catalogue.Find(p.Aggregate)
	all := make([]Total, len(given))
	var w robust.Workspace
	for i, a := range given {
		t := &all[i]
		*t = Total{Of: synod.NodeID(i), Answer: a}
		if a == synod.None {
			t.Why = "no answer"
			continue
		}
		vectors := vectorsOf(marks, synod.NodeID(i), sumOf(a))
		t.Judges = len(vectors)
		lost := len(given) - 1 - len(vectors)
		if lost > f || err != nil {
			t.Why = fmt.Sprintf("%d of %d members sent no grades of it; f is %d", lost, len(given)-1, f)
			continue
		}
		r, err := aggregate.Of(&w, vectors, f-lost)
		if err != nil {
			t.Why = err.Error()
			continue
		}
		t.Total = r.Total
	}
	return all
}

// rank returns the totals by which the decision is made. loose says why they are those of grades that came, and not
// those that the guarantee is about; "" if they are not.
func (p *Panel) rank(given []synod.Answer, marks [][]Mark, f int) (all []Total, loose string) {
	all = p.totals(given, marks, f)
	silent := silentIn(marks)
	switch {
	case !p.Lenient || silent <= f && best(all) != nil:
		return all, ""
	case silent > f:
		loose = fmt.Sprintf("%d of %d members graded no answer, and f is %d", silent, len(marks), f)
	default:
		loose = fmt.Sprintf("no answer has the grades of all members but f = %d", f)
	}
	for i, a := range given {
		t := &all[i]
		if a == synod.None {
			continue
		}
		*t = Total{Of: synod.NodeID(i), Answer: a, Total: unknownTotal}
		var w robust.Workspace
		if vectors := vectorsOf(marks, t.Of, sumOf(a)); len(vectors) > 0 {
			if r, err := w.TrimmedMean(vectors, 0); err == nil {
				t.Total, t.Judges = r.Total, len(vectors)
			}
		}
	}
	return all, loose
}

// unknownTotal is the total of a text of which nobody can tell how good it is.
const unknownTotal = 50

// silentIn counts the members that graded nothing.
func silentIn(marks [][]Mark) (n int) {
	for _, list := range marks {
		if !slices.ContainsFunc(list, func(m Mark) bool { return m.Grades != nil }) {
			n++
		}
	}
	return n
}

// vectorsOf returns the valid grades of one text by all seats but its author's, one of each seat.
func vectorsOf(marks [][]Mark, of synod.NodeID, text Sum) (vectors [][]float64) {
	for by, list := range marks {
		if synod.NodeID(by) == of {
			continue
		}
		k := slices.IndexFunc(list, func(m Mark) bool { return m.Of == of })
		if k >= 0 && list[k].Text == text && list[k].Grades != nil && list[k].Grades.Valid() {
			vectors = append(vectors, list[k].Grades[:])
		}
	}
	return vectors
}

// best returns the answer with the highest total; nil if none has one.
func best(all []Total) (top *Total) {
	var salt []byte
	h := sha256.New()
	for _, t := range all {
		h.Write([]byte(sumOf(t.Answer)))
	}
	salt = h.Sum(nil)
	for i := range all {
		t := &all[i]
		switch {
		case t.Why != "":
		case top == nil, t.Total > top.Total,
			t.Total == top.Total && bytes.Compare(ticket(salt, t), ticket(salt, top)) > 0:
			top = t
		}
	}
	return top
}

// ticket decides between equal totals. Nobody can choose a text for it, because it depends on all texts.
func ticket(salt []byte, t *Total) []byte {
	h := sha256.Sum256(append(slices.Clone(salt), sumOf(t.Answer)...))
	return h[:]
}
