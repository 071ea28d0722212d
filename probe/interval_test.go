package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Few answers prove nothing, however well they are told apart.
func TestFewAnswersProveNothing(t *testing.T) {
	var few []Judged
	for i := range 7 {
		few = append(few, Judged{fmt.Sprint(i), float64(i) / 7, i > 1})
	}
	f := Measure(few)
	if f.AUC.Value != 1 || f.AUC.Low > 0.5 || f.Precision.Low > 0.6 || f.Recall.High != 1 {
		t.Errorf("AUC %+v, precision %+v, recall %+v of seven answers", f.AUC, f.Precision, f.Recall)
	}
	var copies []Judged
	for range 30 {
		copies = append(copies, few...)
	}
	if g := Measure(copies); g.AUC.Low > 0.5 {
		t.Errorf("thirty copies of seven answers: %+v", g.AUC)
	}
}

// Over many draws the intervals hold the true value about as often as they say: with
// shifted normals the true AUC is known. The simulation prints its seed.
func TestIntervalsCover(t *testing.T) {
	const seed, draws, truth = 5, 150, 0.7602499389 // Φ(1/√2)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{16, 60} {
		held := 0
		for range draws {
			var list []Judged
			for i := range n {
				right := i%2 == 0
				x := r.NormFloat64()
				if right {
					x++
				}
				list = append(list, Judged{fmt.Sprint(i), sigmoid(x), right})
			}
			if f := measures[4].figure(list, 1); f.Low <= truth && truth <= f.High {
				held++
			}
		}
		if share := float64(held) / draws; share < 0.92 {
			t.Errorf("seed %d: intervals from %d answers held the truth in %.3f of %d draws", seed, n, share, draws)
		}
	}
	if truth := 0.5 * math.Erfc(-0.5); math.Abs(truth-0.7602499389) > 1e-9 {
		t.Error("the true AUC is", truth)
	}
}

// Wilson's interval of 8 in 10, as in textbooks.
func TestWilson(t *testing.T) {
	if low, high := wilson(0.8, 10); math.Abs(low-0.4902) > 1e-4 || math.Abs(high-0.9433) > 1e-4 {
		t.Error(low, high)
	}
}
