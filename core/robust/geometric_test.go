package robust_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod/core/robust"
)

// descend returns a point with a sum of distances near to the least: it goes from a point in
// steps along each axis, which get shorter when none of them helps.
func descend(all [][]float64, from []float64) []float64 {
	y := slices.Clone(from)
	for step := 8.0; step > 1e-6; {
		helped := false
		for j := range y {
			for _, move := range []float64{step, -step} {
				before := cost(all, y)
				if y[j] += move; cost(all, y) < before {
					helped = true
				} else {
					y[j] -= move
				}
			}
		}
		if !helped {
			step /= 2
		}
	}
	return y
}

// pull returns the sum of the unit vectors from y towards the others.
func pull(others [][]float64, y []float64) []float64 {
	sum := make([]float64, len(y))
	for _, v := range others {
		for j := range y {
			sum[j] += (v[j] - y[j]) / distance(v, y)
		}
	}
	return sum
}

// A hostile vector beside the mean, where the iteration starts, makes the first step shorter
// than the tolerance although the honest vectors pull away from it. The result is the median
// nevertheless.
func TestVectorBesideTheMeanDoesNotHoldTheIterate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	tried := 0
	for range 4000 {
		honest := council(r, 6, 0, 2, 0)
		mean, _ := ball(honest)
		away := pull(honest, mean)
		force := math.Hypot(away[0], away[1])
		if force < 1.2 || force > 1.4 {
			continue
		}
		tried++
		beside := []float64{mean[0] - away[0]/force*2e-5, mean[1] - away[1]/force*2e-5}
		all := append(honest, beside)
		got, err := new(robust.Workspace).GeometricMedian(all)
		if err != nil || !got.Converged {
			t.Fatalf("%+v, %v", got, err)
		}
		if best := descend(all, got.Vector); cost(all, got.Vector) > cost(all, best)+1e-3 {
			t.Errorf("of %v: %v has the sum of distances %v, %v has %v", all, got.Vector, cost(all, got.Vector), best,
				cost(all, best))
		}
	}
	if tried < 50 {
		t.Errorf("only %d cases", tried)
	}
}

// An input that is the median holds the iterate: the iteration converges to it, from afar and
// if it starts there.
func TestMedianThatIsAnInput(t *testing.T) {
	for _, c := range []struct {
		all    [][]float64
		median []float64
	}{
		{[][]float64{{0}, {0}, {0}, {1}, {5}}, []float64{0}},
		{[][]float64{{0}, {0}, {-1}, {-1}, {2}}, []float64{0}}, // the mean
		{[][]float64{{7, 1}, {7, 1}, {7, 1}, {0, 0}, {9, 30}}, []float64{7, 1}},
		{[][]float64{{0, 0}, {0, 0}, {-1, 0}, {-1, 0}, {2, 0}, {0, 3}, {0, -3}}, []float64{0, 0}}, // the mean
		{[][]float64{{0, 0}, {1, 0}, {-1, 2}, {-1, -2}}, []float64{0, 0}},
	} {
		got, err := new(robust.Workspace).GeometricMedian(c.all)
		if err != nil || !got.Converged || distance(got.Vector, c.median) > 1e-4 {
			t.Errorf("of %v: %+v, %v; the median is %v", c.all, got, err, c.median)
		}
	}
}

// Iterations counts from 1, and is 1000 if the iteration does not converge. Where the others
// pull at an input as strongly as it holds, steps become shorter only slowly.
func TestIterationsAreCounted(t *testing.T) {
	var w robust.Workspace
	got, err := w.GeometricMedian([][]float64{{3, 4}, {3, 4}})
	if err != nil || got.Iterations != 1 || !got.Converged {
		t.Errorf("equal vectors: %+v, %v", got, err)
	}
	got, err = w.GeometricMedian([][]float64{{0, 0}, {1e4, 1e4 * math.Sqrt(3)}, {1e4, -1e4 * math.Sqrt(3)}})
	if err != nil || got.Iterations != 1000 || got.Converged {
		t.Errorf("a slow iteration: %+v, %v", got, err)
	}
}
