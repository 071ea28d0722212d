package robust_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/robust"
)

// vectors draws n vectors of scores; few values, so that ties are common.
func vectors(t *rapid.T, least int) [][]float64 {
	n, d := rapid.IntRange(least, 15).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "d")
	score := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-20, 200).Draw(t, "s")) / 10 })
	return rapid.SliceOfN(rapid.SliceOfN(score, d, d), n, n).Draw(t, "vectors")
}

func bits(r robust.Result) []uint64 {
	out := []uint64{math.Float64bits(r.Total), uint64(r.Iterations)}
	for _, x := range r.Vector {
		out = append(out, math.Float64bits(x))
	}
	return out
}

// [I-DL-2] No aggregate sees the order in which its inputs came, the sign of a
// zero, or what the workspace was used for before.
func TestOrderCannotShow(t *testing.T) {
	var used robust.Workspace
	rapid.Check(t, func(t *rapid.T) {
		all := vectors(t, 1)
		a := rapid.SampledFrom(robust.Aggregates).Draw(t, "aggregate")
		f := a.Bound(len(all))
		if f < 0 {
			return
		}
		want, err := a.Of(new(robust.Workspace), all, f)
		if err != nil {
			t.Fatal(err)
		}
		first := bits(want)
		for range 5 {
			again := rapid.Permutation(all).Draw(t, "again")
			for i, v := range again {
				again[i] = slices.Clone(v)
				for j, x := range v {
					if x == 0 {
						again[i][j] = math.Copysign(0, -1)
					}
				}
			}
			got, err := a.Of(&used, again, f)
			if err != nil || !slices.Equal(bits(got), first) {
				t.Fatalf("%s: %v after %v, %v", a.Name, got, want, err)
			}
		}
	})
}

func cost(all [][]float64, y []float64) (s float64) {
	for _, v := range all {
		s += distance(v, y)
	}
	return s
}

func distance(a, b []float64) float64 {
	s := 0.0
	for j := range a {
		s += (a[j] - b[j]) * (a[j] - b[j])
	}
	return math.Sqrt(s)
}

// DecentLLMs Eq. 1: nothing nearby and no input is nearer to all vectors. The
// median may be an input, where the plain Weiszfeld step does not exist.
func TestGeometricMedianIsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := vectors(t, 1)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		if rapid.Bool().Draw(t, "rushing") { // a liar who sees the others sits where the iteration starts
			for j := range all[0] {
				all[0][j] = rapid.SampledFrom([]float64{0, 1e-15, 1e-9, 1e-6, 1e-3}).Draw(t, "off")
				for _, v := range all[1:] {
					all[0][j] += v[j] / float64(len(all)-1)
				}
			}
		}
		got, err := new(robust.Workspace).GeometricMedian(all)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Converged {
			t.Skip("no promise")
		}
		// A step of 1e-5 leaves the sum of distances this near to the least.
		const slack = 2e-3
		least := cost(all, got.Vector)
		for _, v := range all {
			if cost(all, v) < least-slack {
				t.Fatalf("%v is nearer to all than %v", v, got.Vector)
			}
		}
		for range 50 {
			near := slices.Clone(got.Vector)
			for j := range near {
				near[j] += r.NormFloat64() * math.Pow(10, -3*r.Float64())
			}
			if cost(all, near) < least-slack {
				t.Fatalf("%v (%v) is nearer to all than %v (%v)", near, cost(all, near), got.Vector, least)
			}
		}
	})
}

// Where the mean is an input but not the median, Weiszfeld's plain step would
// divide by zero or stay; the step of Vardi and Zhang goes on.
func TestStartAtAnInput(t *testing.T) {
	got, err := new(robust.Workspace).GeometricMedian([][]float64{{0}, {-1}, {3}, {-1}, {-1}})
	if err != nil || !got.Converged || math.Abs(got.Total+1) > 1e-4 {
		t.Errorf("%+v, %v; the median is -1", got, err)
	}
	// From the mean, 0.025, the iterate comes to within rounding of -0.2 and no
	// further, though all between 0 and 0.1 is better.
	got, err = new(robust.Workspace).GeometricMedian([][]float64{{0}, {.1}, {.1}, {.3}, {.4}, {-.2}, {-.3}, {-2}})
	if err != nil || !got.Converged || got.Total < -1e-4 || got.Total > .1001 {
		t.Errorf("%+v, %v; the median is 0 to 0.1", got, err)
	}
	// A liar within rounding of an input, where the mean is too: neither of the two
	// alone holds the iterate, and together they may not either.
	two := [][]float64{{0, 0}, {0, .2}, {.5, 2.1}, {-.1, 11}, {-.2, 2.2}, {-.4, -.3}, {-1, -2}}
	for j := range two[0] {
		for _, v := range two[1:] {
			two[0][j] += v[j] / 6
		}
	}
	got, err = new(robust.Workspace).GeometricMedian(two)
	if better := []float64{-.1992, 2.1458}; err != nil || cost(two, got.Vector) > cost(two, better)+1e-3 {
		t.Errorf("%+v, %v; %v is nearer to all", got, err, better)
	}
	// One vector, and all the same.
	for n := 1; n < 4; n++ {
		same := slices.Repeat([][]float64{{3, 4}}, n)
		if got, err := new(robust.Workspace).GeometricMedian(same); err != nil || !got.Converged || got.Total != 7 {
			t.Errorf("%d alike: %+v, %v", n, got, err)
		}
	}
}

func TestBadInput(t *testing.T) {
	good := func(n int) [][]float64 { return slices.Repeat([][]float64{{1, 2}}, n) }
	for _, a := range robust.Aggregates {
		for name, c := range map[string]struct {
			vectors [][]float64
			f       int
		}{
			"none": {}, "empty": {[][]float64{{}}, 0}, "ragged": {[][]float64{{1}, {1, 2}, {1}, {1}}, 0},
			"NaN": {[][]float64{{1}, {math.NaN()}, {1}}, 0}, "infinite": {[][]float64{{math.Inf(-1)}, {1}, {1}}, 0},
			"huge": {[][]float64{{1e101}, {1}, {1}}, 0}, "f": {good(9), a.Bound(9) + 1}, "less": {good(9), -1},
		} {
			if _, err := a.Of(new(robust.Workspace), c.vectors, c.f); !errors.Is(err, robust.ErrInput) {
				t.Errorf("%s of %s: %v", a.Name, name, err)
			}
		}
		if r, err := a.Of(new(robust.Workspace), [][]float64{{1e100, -1e100}, {1e100, 1}, {0, 0}}, 0); err != nil || math.IsNaN(r.Total) || math.IsInf(r.Total, 0) {
			t.Errorf("%s at the limit: %+v, %v", a.Name, r, err)
		}
	}
}

func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(robust.Aggregates, func(a, b robust.Aggregate) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table is not in order")
	}
	for _, a := range robust.Aggregates {
		if got, err := robust.Find(a.Name); err != nil || got.Name != a.Name || a.Summary == "" {
			t.Errorf("%s: %v, %v", a.Name, got.Name, err)
		}
	}
	if _, err := robust.Find("mean"); err == nil {
		t.Error("the mean is no robust aggregate")
	}
}

func BenchmarkGeometricMedian(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 15))
	cases := make([][][]float64, 64)
	for i := range cases {
		for range 15 {
			v := make([]float64, 5)
			for j := range v {
				v[j] = float64(r.IntN(21))
			}
			cases[i] = append(cases[i], v)
		}
	}
	var w robust.Workspace
	b.ReportAllocs()
	iterations := 0
	for i := 0; b.Loop(); i++ {
		got, err := w.GeometricMedian(cases[i%len(cases)])
		if err != nil || !got.Converged {
			b.Fatal(got, err)
		}
		iterations += got.Iterations
	}
	b.ReportMetric(float64(iterations)/float64(b.N), "iterations/op")
}
