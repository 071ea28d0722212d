package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/internal/nightly"
)

// drawn returns random answers; many of their confidences are equal.
func drawn(t *rapid.T) []Graded {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Graded {
		return Graded{
			Question:   fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "question")),
			Confidence: float64(rapid.IntRange(0, 12).Draw(t, "twelfths")) / 12,
			Right:      rapid.Bool().Draw(t, "right"),
		}
	}), 0, 40).Draw(t, "answers")
}

// Accuracy, precision, recall and F1 by their definitions; package stats tests the others.
func TestFiguresAgainstTheirDefinitions(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	rapid.Check(t, func(t *rapid.T) {
		list := drawn(t)
		var correct, called, hits, rights float64
		for _, j := range list {
			if j.Right {
				rights++
			}
			if (j.Confidence >= 0.5) == j.Right {
				correct++
			}
			if j.Confidence >= 0.5 {
				called++
				if j.Right {
					hits++
				}
			}
		}
		for _, c := range []struct {
			name string
			of   statistic
			sum  float64
			over float64
		}{{"accuracy", accuracy, correct, float64(len(list))}, {"precision", precision, hits, called},
			{"recall", recall, hits, rights}} {
			if got, ok := c.of(forecasts(list)); ok != (c.over > 0) || ok && !near(got, c.sum/c.over) {
				t.Fatalf("%s %v %v, by definition %v", c.name, got, ok, c.sum/c.over)
			}
		}
		if p, ok := precision(forecasts(list)); ok && hits > 0 {
			r, _ := recall(forecasts(list))
			if f, _ := f1(forecasts(list)); !near(f, 2*p*r/(p+r)) {
				t.Fatalf("F1 %v of precision %v and recall %v", f, p, r)
			}
		}
	})
}

// Bins hold every answer once, intervals are in order, and missing figures are nil.
func TestMeasure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawn(t)
		if len(list) > 12 {
			list = list[:12] // the bootstrap is slow
		}
		f := Measure(list)
		n := 0
		for _, b := range f.Bins {
			n += b.N
			if (b.N == 0) != (b.Right == nil) {
				t.Fatalf("a bin of %d answers has the rate %v", b.N, b.Right)
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
		t.Errorf("figures without answers: %+v", f)
	}
	one := Measure([]Graded{{"q", 0.9, true}})
	if one.AUC != nil || one.Accuracy.Value != 1 {
		t.Errorf("%+v", one)
	}
}

// Answers to one question are resampled together: 25 copies of every answer do not
// make the interval narrower.
func TestBootstrapIsByQuestion(t *testing.T) {
	var few, many []Graded
	for i := range 40 {
		j := Graded{Question: fmt.Sprint(i), Confidence: float64((i*7)%11) / 11, Right: i%3 != 0}
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
		t.Error("the same answers gave different intervals")
	}
	if d := Compared(few, few); d.Value != 0 || d.Low != 0 || d.High != 0 {
		t.Errorf("a list differs from itself by %+v", d)
	}
}

// With few answers the interval includes chance, even if all are predicted correctly.
func TestFewAnswersIncludeChance(t *testing.T) {
	var few []Graded
	for i := range 7 {
		few = append(few, Graded{fmt.Sprint(i), float64(i) / 7, i > 1})
	}
	f := Measure(few)
	if f.AUC.Value != 1 || f.AUC.Low > 0.5 || f.Precision.Low > 0.6 || f.Recall.High != 1 {
		t.Errorf("AUC %+v, precision %+v, recall %+v of seven answers", f.AUC, f.Precision, f.Recall)
	}
	var copies []Graded
	for range 30 {
		copies = append(copies, few...)
	}
	if g := Measure(copies); g.AUC.Low > 0.5 {
		t.Errorf("thirty copies of seven answers: %+v", g.AUC)
	}
}

// Over many draws the intervals cover the true value with about the stated probability. For
// shifted normal distributions the true AUC is known.
func TestIntervalsCover(t *testing.T) {
	const seed, truth = 5, 0.7602499389 // Φ(1/√2)
	draws := nightly.Size(60, 150)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{16, 60} {
		covered := 0
		for range draws {
			var list []Graded
			for i := range n {
				right := i%2 == 0
				x := r.NormFloat64()
				if right {
					x++
				}
				list = append(list, Graded{fmt.Sprint(i), sigmoid(x), right})
			}
			if f := aucMeasure.figure(list, 1); f.Low <= truth && truth <= f.High {
				covered++
			}
		}
		if share := float64(covered) / float64(draws); share < 0.92 {
			t.Errorf("seed %d: intervals of %d answers cover the true value in %.3f of %d draws", seed, n, share, draws)
		}
	}
	if truth := 0.5 * math.Erfc(-0.5); math.Abs(truth-0.7602499389) > 1e-9 {
		t.Error("the true AUC is", truth)
	}
}
