package robust_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
)

// vectors draws n vectors of scores from few values, so that ties are common.
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

// [I-DL-2] The order of the inputs, the sign of a zero, and earlier uses of the
// workspace do not change an aggregate.
func TestOrderHasNoEffect(t *testing.T) {
	var used robust.Workspace
	rapid.Check(t, func(t *rapid.T) {
		all := vectors(t, 1)
		a := rapid.SampledFrom(robust.Catalogue.All()).Draw(t, "aggregate")
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

// DecentLLMs Eq. 1: no point nearby and no input has a smaller sum of distances. The
// median may be an input, where Weiszfeld's plain step is undefined.
func TestGeometricMedianIsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := vectors(t, 1)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		if rapid.Bool().Draw(t, "rushing") { // hostile, at the start of the iteration
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
			t.Skip("the iteration reached its limit, which promises nothing")
		}
		// The sum of distances is this near to the least after a last step of 1e-5.
		const slack = 2e-3
		least := cost(all, got.Vector)
		for _, v := range all {
			if cost(all, v) < least-slack {
				t.Fatalf("%v has a smaller sum of distances than %v", v, got.Vector)
			}
		}
		for range 50 {
			near := slices.Clone(got.Vector)
			for j := range near {
				near[j] += r.NormFloat64() * math.Pow(10, -3*r.Float64())
			}
			if cost(all, near) < least-slack {
				t.Fatalf("%v (sum of distances %v) is better than %v (%v)", near, cost(all, near), got.Vector, least)
			}
		}
	})
}

// If the mean is an input but not the median, Weiszfeld's plain step would divide by
// zero or not move; the step of Vardi and Zhang does.
func TestStartAtAnInput(t *testing.T) {
	got, err := new(robust.Workspace).GeometricMedian([][]float64{{0}, {-1}, {3}, {-1}, {-1}})
	if err != nil || !got.Converged || math.Abs(got.Total+1) > 1e-4 {
		t.Errorf("%+v, %v; the median is -1", got, err)
	}
	// From the mean, 0.025, the first iteration ends within rounding of -0.2, although
	// every point between 0 and 0.1 is better.
	got, err = new(robust.Workspace).GeometricMedian([][]float64{{0}, {.1}, {.1}, {.3}, {.4}, {-.2}, {-.3}, {-2}})
	if err != nil || !got.Converged || got.Total < -1e-4 || got.Total > .1001 {
		t.Errorf("%+v, %v; the median is 0 to 0.1", got, err)
	}
	// A hostile vector within rounding of an input, where the mean is too: neither of
	// the two alone holds the iterate, and together they must not either.
	two := [][]float64{{0, 0}, {0, .2}, {.5, 2.1}, {-.1, 11}, {-.2, 2.2}, {-.4, -.3}, {-1, -2}}
	for j := range two[0] {
		for _, v := range two[1:] {
			two[0][j] += v[j] / 6
		}
	}
	got, err = new(robust.Workspace).GeometricMedian(two)
	if better := []float64{-.1992, 2.1458}; err != nil || cost(two, got.Vector) > cost(two, better)+1e-3 {
		t.Errorf("%+v, %v; %v is better", got, err, better)
	}
	// One vector, and equal vectors.
	for n := 1; n < 4; n++ {
		same := slices.Repeat([][]float64{{3, 4}}, n)
		if got, err := new(robust.Workspace).GeometricMedian(same); err != nil || !got.Converged || got.Total != 7 {
			t.Errorf("%d equal vectors: %+v, %v", n, got, err)
		}
	}
}

func TestBadInput(t *testing.T) {
	good := func(n int) [][]float64 { return slices.Repeat([][]float64{{1, 2}}, n) }
	for _, a := range robust.Catalogue.All() {
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
		if r, err := a.Of(new(robust.Workspace), [][]float64{{1e100, -1e100}, {1e100, 1}, {0, 0}}, 0); err != nil ||
			math.IsNaN(r.Total) || math.IsInf(r.Total, 0) {
			t.Errorf("%s at the limit: %+v, %v", a.Name, r, err)
		}
	}
}

// Of vectors with equal sums, Krum returns the first in lexicographic order.
func TestKrumOfEqualSums(t *testing.T) {
	for _, c := range []struct {
		all  [][]float64
		want float64
	}{
		{[][]float64{{0}, {1}, {5}}, 0},
		{[][]float64{{5}, {1}, {0}}, 0},
		{[][]float64{{3}, {2}, {1}, {0}}, 1},
		{[][]float64{{-9}, {2}, {1}, {30}}, 1},
	} {
		if got, err := new(robust.Workspace).Krum(c.all, 0); err != nil || got.Total != c.want {
			t.Errorf("of %v: %+v, %v; want %v", c.all, got, err, c.want)
		}
	}
}

// The methods check f themselves: the fewest vectors for each f are taken, one less is an error.
func TestFewestVectors(t *testing.T) {
	var w robust.Workspace
	for name, c := range map[string]struct {
		of     func([][]float64, int) (robust.Result, error)
		fewest func(f int) int
	}{
		"krum":         {w.Krum, func(f int) int { return 2*f + 3 }},
		"bulyan":       {w.Bulyan, func(f int) int { return 4*f + 3 }},
		"trimmed-mean": {w.TrimmedMean, func(f int) int { return 2*f + 1 }},
	} {
		for f := range 4 {
			all := slices.Repeat([][]float64{{1, 2}}, c.fewest(f))
			if got, err := c.of(all, f); err != nil || got.Total != 3 {
				t.Errorf("%s of %d vectors, f = %d: %+v, %v", name, len(all), f, got, err)
			}
			_, err := c.of(all[1:], f)
			if !errors.Is(err, robust.ErrInput) {
				t.Errorf("%s of %d vectors, f = %d: %v", name, len(all)-1, f, err)
			}
			if name == "trimmed-mean" {
				continue
			}
			if s := fmt.Sprintf("at least %d vectors", len(all)); !strings.Contains(err.Error(), s) {
				t.Errorf("%s of %d vectors: %v does not say %q", name, len(all)-1, err, s)
			}
		}
		if _, err := c.of([][]float64{{1}, {1}, {1}}, -1); !errors.Is(err, robust.ErrInput) {
			t.Errorf("%s with f = -1: %v", name, err)
		}
	}
}

// Small examples, computed by hand.
func TestExamples(t *testing.T) {
	var w robust.Workspace
	for name, c := range map[string]struct {
		of   func([][]float64, int) (robust.Result, error)
		all  [][]float64
		want float64
	}{
		"the mean without both ends": {w.TrimmedMean, [][]float64{{9}, {2}, {0}, {1}}, 1.5},
		// The pairs of 3 are the nearest ones; it is chosen first.
		"krum": {w.Krum, [][]float64{{90}, {1}, {2}, {3}, {4}, {6}, {50}}, 3},
		// 3, 4, 2, 1 and 50 are chosen, in this order; nearest to their median are 2, 3 and 4.
		"bulyan": {w.Bulyan, [][]float64{{90}, {1}, {2}, {3}, {4}, {6}, {50}}, 3},
	} {
		if got, err := c.of(c.all, 1); err != nil || got.Total != c.want {
			t.Errorf("%s of %v: %+v, %v; want %v", name, c.all, got, err, c.want)
		}
	}
}

func TestCatalogue(t *testing.T) {
	for _, a := range robust.Catalogue.All() {
		if got, err := robust.Catalogue.Find(a.Name); err != nil || got.Name != a.Name || a.Summary == "" {
			t.Errorf("%s: %v, %v", a.Name, got.Name, err)
		}
	}
	if _, err := robust.Catalogue.Find("mean"); err == nil {
		t.Error("the mean is not a robust aggregate")
	}
}

// midrange is an aggregate as another module would write it: per entry, the middle
// of the range after the f lowest and the f highest values are dropped.
var midrange = robust.Aggregate{
	Entry: synod.Entry{Name: "midrange", Summary: "the middle of each entry's trimmed range"},
	Bound: func(n int) int { return (n - 1) / 2 },
	Compute: func(_ *robust.Workspace, vectors [][]float64, f int) (robust.Result, error) {
		rows, err := robust.Canonical(vectors)
		if err != nil {
			return robust.Result{}, err
		}
		r := robust.Result{Vector: make([]float64, len(rows[0])), Converged: true}
		for j := range r.Vector {
			var column []float64
			for _, row := range rows {
				column = append(column, row[j])
			}
			slices.Sort(column)
			r.Vector[j] = (column[f] + column[len(column)-1-f]) / 2
			r.Total += r.Vector[j]
		}
		return r, nil
	},
}

// An aggregate of another module is found by name, and checked like our own.
func TestAggregateOfAnotherModule(t *testing.T) {
	c := synod.NewCatalogue("aggregate", robust.Catalogue.All()...) // a copy: other tests use the original
	c.Add(midrange)
	a, err := c.Find("midrange")
	if err != nil {
		t.Fatal(err)
	}
	var w robust.Workspace
	got, err := a.Of(&w, [][]float64{{4, 1}, {1e6, -1e6}, {2, 3}}, 1)
	if err != nil || got.Total != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	for name, f := range map[string]int{"above the bound": 2, "negative": -1} {
		if _, err := a.Of(&w, [][]float64{{1}, {2}, {3}}, f); !errors.Is(err, robust.ErrInput) {
			t.Errorf("f %s: %v", name, err)
		}
	}
	if _, err := a.Of(&w, [][]float64{{1}, {2, 3}, {3}}, 1); !errors.Is(err, robust.ErrInput) {
		t.Errorf("ragged vectors: %v", err)
	}
}

func TestCanonical(t *testing.T) {
	in := [][]float64{{2, 1}, {math.Copysign(0, -1), 5}, {2, 0}}
	got, err := robust.Canonical(in)
	if want := [][]float64{{0, 5}, {2, 0}, {2, 1}}; err != nil || !slices.EqualFunc(got, want, slices.Equal) ||
		math.Signbit(got[0][0]) {
		t.Errorf("%v, %v", got, err)
	}
	if in[0][0] != 2 || !math.Signbit(in[1][0]) {
		t.Errorf("the input was changed: %v", in)
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
