package robust_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod/core/robust"
)

// Bulyan of numbers agrees with its definition: the mean of the n-4f of n-2f numbers that Krum has chosen one after the
// other which are nearest to their median.
func TestBulyanByDefinition(t *testing.T) {
	chance := rand.New(rand.NewPCG(12, 12))
	var w robust.Workspace
	for k := range 3000 {
		f := k % 3
		vectors := make([][]float64, 4*f+3+chance.IntN(4))
		for i := range vectors {
			vectors[i] = []float64{float64(chance.IntN(40) * chance.IntN(10))}
		}
		r, err := w.Bulyan(vectors, f)
		if want := bulyan(vectors, f); err != nil || math.Abs(r.Vector[0]-want) > 1e-9 {
			t.Fatalf("f = %d, %v: %v (%v), want %v", f, vectors, r.Vector, err, want)
		}
	}
}

func bulyan(vectors [][]float64, f int) float64 {
	var left, chosen []float64
	for _, v := range vectors {
		left = append(left, v[0])
	}
	slices.Sort(left)
	n := len(left)
	for range n - 2*f {
		best, least := 0, math.Inf(1)
		for i, x := range left {
			var squares []float64
			for k, y := range left {
				if k != i {
					squares = append(squares, (x-y)*(x-y))
				}
			}
			slices.Sort(squares)
			sum := 0.0
			for _, s := range squares[:min(max(1, len(left)-f-2), len(squares))] {
				sum += s
			}
			if sum < least {
				best, least = i, sum
			}
		}
		chosen, left = append(chosen, left[best]), slices.Delete(left, best, best+1)
	}
	slices.Sort(chosen)
	half := len(chosen) / 2
	median := chosen[half]
	if len(chosen)%2 == 0 {
		median = (chosen[half-1] + chosen[half]) / 2
	}
	slices.SortStableFunc(chosen, func(a, b float64) int {
		return cmp.Compare(math.Abs(a-median), math.Abs(b-median))
	})
	sum := 0.0
	for _, x := range chosen[:n-4*f] {
		sum += x
	}
	return sum / float64(n-4*f)
}
