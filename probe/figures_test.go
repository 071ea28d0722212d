package probe

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawn are answers with confidences that often tie.
func drawn(t *rapid.T) []Judged {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Judged {
		return Judged{
			Question:   fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "question")),
			Confidence: float64(rapid.IntRange(0, 12).Draw(t, "twelfths")) / 12,
			Right:      rapid.Bool().Draw(t, "right"),
		}
	}), 0, 40).Draw(t, "answers")
}

// pairs is the AUC by definition.
func pairs(list []Judged) (float64, bool) {
	var won, all float64
	for _, a := range list {
		for _, b := range list {
			if !a.Right || b.Right {
				continue
			}
			all++
			switch {
			case a.Confidence > b.Confidence:
				won++
			case a.Confidence == b.Confidence:
				won += 0.5
			}
		}
	}
	return won / all, all > 0
}

func TestFiguresAgainstTheirDefinitions(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	rapid.Check(t, func(t *rapid.T) {
		list := drawn(t)
		n := float64(len(list))
		want, exists := pairs(list)
		if got, ok := AUC(list); ok != exists || ok && !near(got, want) {
			t.Fatalf("AUC %v %v, by pairs %v %v", got, ok, want, exists)
		}
		var square, off, correct, called, hits, rights float64
		for b := range bins {
			var conf, right float64
			for _, j := range list {
				if j.Confidence >= float64(b)/bins && (j.Confidence < float64(b+1)/bins || b == bins-1) {
					conf += j.Confidence
					if j.Right {
						right++
					}
				}
			}
			off += math.Abs(conf - right)
		}
		for _, j := range list {
			y := 0.0
			if j.Right {
				y, rights = 1, rights+1
			}
			square += (j.Confidence - y) * (j.Confidence - y)
			if (j.Confidence >= 0.5) == j.Right {
				correct++
			}
			if j.Confidence >= 0.5 {
				called++
				hits += y
			}
		}
		for _, c := range []struct {
			name string
			of   func([]Judged) (float64, bool)
			sum  float64
			over float64
		}{{"brier", brier, square, n}, {"ece", ece, off, n}, {"accuracy", accuracy, correct, n}, {"precision", precision, hits, called}, {"recall", recall, hits, rights}} {
			if got, ok := c.of(list); ok != (c.over > 0) || ok && !near(got, c.sum/c.over) {
				t.Fatalf("%s %v %v, by definition %v", c.name, got, ok, c.sum/c.over)
			}
		}
		if p, ok := precision(list); ok && hits > 0 {
			r, _ := recall(list)
			if f, _ := f1(list); !near(f, 2*p*r/(p+r)) {
				t.Fatalf("F1 %v of precision %v and recall %v", f, p, r)
			}
		}
	})
}

// The intervals hold the value, and answers that do not exist have no figure.
func TestMeasure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawn(t)[:]
		if len(list) > 12 {
			list = list[:12] // the bootstrap is slow
		}
		f := Measure(list)
		n := 0
		for _, b := range f.Bins {
			n += b.N
			if (b.N == 0) != (b.Right == nil) {
				t.Fatalf("a bin of %d has %v", b.N, b.Right)
			}
		}
		if n != len(list) || f.N != n {
			t.Fatalf("%d answers, %d in bins", len(list), n)
		}
		if f.Accuracy != nil && (f.Accuracy.Low > f.Accuracy.High || f.Accuracy.Low < 0 || f.Accuracy.High > 1) {
			t.Fatalf("%+v", f.Accuracy)
		}
	})
	if f := Measure(nil); f.AUC != nil || f.Accuracy != nil || f.N != 0 {
		t.Errorf("figures of nothing: %+v", f)
	}
	one := Measure([]Judged{{"q", 0.9, true}})
	if one.AUC != nil || one.Accuracy.Value != 1 {
		t.Errorf("%+v", one)
	}
}

// Answers to one question are drawn together: a hundred copies of four answers are
// four questions, and their interval is no narrower.
func TestBootstrapIsByQuestion(t *testing.T) {
	var few, many []Judged
	for i := range 40 {
		j := Judged{Question: fmt.Sprint(i), Confidence: float64((i*7)%11) / 11, Right: i%3 != 0}
		few = append(few, j)
		for range 25 {
			many = append(many, j)
		}
	}
	a, b := Measure(few), Measure(many)
	if math.Abs((a.AUC.High-a.AUC.Low)-(b.AUC.High-b.AUC.Low)) > 1e-9 || b.Questions != 40 {
		t.Errorf("%+v and %+v", a.AUC, b.AUC)
	}
	if again := Measure(few); *again.AUC != *a.AUC {
		t.Error("the same answers have two intervals")
	}
	if d := Compared(few, few); d.Value != 0 || d.Low != 0 || d.High != 0 {
		t.Errorf("a list differs from itself by %+v", d)
	}
}
