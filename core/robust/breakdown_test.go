package robust_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/core/robust"
)

// far is the position of hostile vectors in an attack; honest entries are in [0,20].
const far = 1e6

// council returns n vectors of d scores; the entries of the first b, hostile ones, are all at.
func council(r *rand.Rand, n, b, d int, at float64) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, d)
		for j := range all[i] {
			if all[i][j] = 20 * r.Float64(); i < b {
				all[i][j] = at
			}
		}
	}
	return all
}

// Each aggregate tolerates its breakdown point of hostile vectors and no more.
func TestBreakdown(t *testing.T) {
	type row struct {
		name        string
		n, f, point int
	}
	rows := []row{
		// The comments of Krum and Bulyan explain what they tolerate beyond f.
		{"krum", 3, 0, 1}, {"krum", 5, 1, 2}, {"krum", 7, 2, 3}, {"krum", 15, 6, 7},
		{"bulyan", 3, 0, 0}, {"bulyan", 7, 1, 3}, {"bulyan", 11, 2, 4}, {"bulyan", 15, 3, 6},
		// Trimming f removes f hostile vectors, whatever n.
		{"trimmed-mean", 3, 1, 1}, {"trimmed-mean", 15, 2, 2}, {"trimmed-mean", 15, 6, 6},
	}
	for n := 1; n <= 16; n++ {
		for _, name := range []string{"geometric-median", "coordinate-median", "median-total"} {
			rows = append(rows, row{name, n, 0, (n+1)/2 - 1})
		}
	}
	var w robust.Workspace
	for _, row := range rows {
		a, err := robust.Catalogue.Find(row.name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			for b := 0; b <= row.point+1; b++ {
				r := rand.New(rand.NewPCG(seed, uint64(row.n)))
				got, err := a.Of(&w, council(r, row.n, b, 5, far), row.f)
				if err != nil {
					t.Fatal(err)
				}
				away := math.Abs(got.Total) > 1e4
				if away != (b > row.point) {
					t.Fatalf("%s of %d, f = %d, seed %d: %d hostile vectors give %v", row.name, row.n, row.f, seed, b,
						got.Total)
				}
			}
		}
	}
}

// hostile places b hostile vectors by one of several strategies.
func hostile(r *rand.Rand, all [][]float64, b int) {
	strategy, at := r.IntN(5), far*math.Pow(10, -6*r.Float64())
	for i := range b {
		for j := range all[i] {
			switch strategy {
			case 0:
				all[i][j] = at
			case 1:
				all[i][j] = at * r.NormFloat64()
			case 2:
				all[i][j] = 20 * float64(i%2)
			case 3:
				all[i][j] = all[len(all)-1][j] + at*float64(j%2)
			case 4:
				all[i][j] = -at * float64(i+1)
			}
		}
	}
}

// Within Bound, for every hostile strategy: medians and trimmed mean stay in the
// range of the honest vectors (I-DL-4 for totals); the geometric median stays within
// 2ρ(n-f)/(n-2f) of the honest mean (I-DL-5), Krum and Bulyan near it.
func TestWithinBound(t *testing.T) {
	var w robust.Workspace
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := 1 + r.IntN(15)
		for _, a := range robust.Catalogue.All() {
			if a.Bound(n) < 0 {
				continue
			}
			b := r.IntN(a.Bound(n) + 1)
			all := council(r, n, 0, 3, 0)
			hostile(r, all, b)
			got, err := a.Of(&w, all, b)
			if err != nil {
				t.Fatal(err)
			}
			if why := within(a.Name, all[b:], got, n, b); why != "" {
				t.Fatalf("%s of %d with %d hostile, seed %d: %s: %+v of %v", a.Name, n, b, seed, why, got, all)
			}
		}
	}
}

func within(name string, honest [][]float64, got robust.Result, n, f int) string {
	switch name {
	case "median-total":
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range honest {
			low, high = min(low, v[0]+v[1]+v[2]), max(high, v[0]+v[1]+v[2])
		}
		if got.Total < low || got.Total > high {
			return fmt.Sprintf("outside [%v, %v]", low, high)
		}
	case "coordinate-median", "trimmed-mean":
		for j, x := range got.Vector {
			low, high := math.Inf(1), math.Inf(-1)
			for _, v := range honest {
				low, high = min(low, v[j]), max(high, v[j])
			}
			if x < low || x > high {
				return fmt.Sprintf("entry %d outside [%v, %v]", j, low, high)
			}
		}
	default:
		centre, radius := ball(honest)
		bound := 1e-3 + 2*radius*float64(n-f)/float64(n-2*f)
		if name != "geometric-median" {
			bound = 10 * float64(n) * radius
		}
		if d := distance(got.Vector, centre); d > bound || !got.Converged && name == "geometric-median" && d > 2*bound {
			return fmt.Sprintf("distance %v from the honest mean, the bound is %v", d, bound)
		}
	}
	return ""
}

func ball(honest [][]float64) (centre []float64, radius float64) {
	centre = make([]float64, len(honest[0]))
	for _, v := range honest {
		for j, x := range v {
			centre[j] += x / float64(len(honest))
		}
	}
	for _, v := range honest {
		radius = max(radius, distance(v, centre))
	}
	return centre, radius
}

// fromOrigin is Weiszfeld's iteration as it is often written: from the origin, with a
// lower limit on distances to avoid a division by zero.
func fromOrigin(all [][]float64) []float64 {
	y := make([]float64, len(all[0]))
	for range 1000 {
		next, weights := make([]float64, len(y)), 0.0
		for _, v := range all {
			weight := 1 / max(distance(v, y), 1e-10)
			weights += weight
			for j := range v {
				next[j] += weight * v[j]
			}
		}
		for j := range next {
			next[j] /= weights
		}
		step := distance(next, y)
		if y = next; step <= 1e-5 {
			break
		}
	}
	return y
}

// [DL-3] One evaluator that scores zero captures an iteration that starts at the
// origin, whatever eight honest ones score. Ours starts at the mean.
func TestStartAtOriginIsCaptured(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	all := council(r, 9, 1, 5, 0)
	for _, v := range all[1:] {
		for j := range v {
			v[j] = 15 + v[j]/4
		}
	}
	if twin := fromOrigin(all); distance(twin, make([]float64, 5)) > 1e-3 {
		t.Errorf("the weak version is at %v; it should be captured at the origin", twin)
	}
	got, err := new(robust.Workspace).GeometricMedian(all)
	if err != nil || !got.Converged || got.Total < 75 {
		t.Errorf("%+v, %v", got, err)
	}
	// Without the zero vector the weak version is right, so the start is the weakness.
	if twin := fromOrigin(all[1:]); distance(twin, got.Vector) > 2 {
		t.Errorf("the weak version is at %v, ours at %v", twin, got.Vector)
	}
}
