package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/core/stats"
)

// Computed by hand: of 40 pairs 10 are yes both times, 5 and 5 only once. The variance is that of Bishop, Fienberg and
// Holland; the interval goes from the lower end of the table with half a pair more of each outcome to the upper end of
// the table without them.
func TestPhiByHand(t *testing.T) {
	var p stats.ClusterPhi
	for i, n := range []int{20, 5, 5, 10} {
		for range n {
			var cells [4]int
			cells[i] = 1
			p.Add(cells[0], cells[1], cells[2], cells[3])
		}
	}
	end := func(both, yes, n, sign float64) (phi, at float64) {
		phi = (both*n - yes*yes) / (yes * (n - yes))
		skew := (n - 2*yes) * (n - 2*yes) / (yes * (n - yes))
		se := math.Sqrt((1 - phi*phi + phi*(1+phi*phi/2)*skew - 0.75*phi*phi*2*skew) / n)
		return phi, math.Tanh(math.Atanh(phi) + sign*stats.Z*se/(1-phi*phi))
	}
	value, high := end(10, 15, 40, 1)
	_, low := end(10.5, 16, 42, -1)
	want := stats.Estimate{Value: value, Low: low, High: high}
	e, ok := p.Estimate()
	if !ok || math.Abs(e.Value-value)+math.Abs(e.Low-low)+math.Abs(e.High-high) > 1e-12 {
		t.Errorf("%+v, want %+v", e, want)
	}
}

// The interval has the correlation and stays from -1 to 1. Exchanging the two changes nothing, exchanging yes and no of
// one of them changes the sign. Equal repeats add nothing but Student's quantile.
func TestPhiInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p, exchanged, opposite, repeated stats.ClusterPhi
		k := rapid.IntRange(1, 60).Draw(t, "clusters")
		for range k {
			c := rapid.SliceOfN(rapid.IntRange(0, 3), 4, 4).Draw(t, "cells")
			p.Add(c[0], c[1], c[2], c[3])
			exchanged.Add(c[0], c[2], c[1], c[3])
			opposite.Add(c[1], c[0], c[3], c[2])
			repeated.Add(3*c[0], 3*c[1], 3*c[2], 3*c[3])
		}
		e, ok := p.Estimate()
		for what, o := range map[string]*stats.ClusterPhi{"exchanged": &exchanged, "repeated": &repeated,
			"opposite": &opposite} {
			f, also := o.Estimate()
			if what == "opposite" {
				f = stats.Estimate{Value: -f.Value, Low: -f.High, High: -f.Low}
			}
			if ok != also || math.Abs(e.Value-f.Value) > 1e-9 || p.N() != p.Clusters() &&
				math.Abs(e.Low-f.Low)+math.Abs(e.High-f.High) > 1e-6 {
				t.Fatalf("%s: %+v %v, want %+v %v", what, f, also, e, ok)
			}
		}
		if ok && (e.Low < -1 || e.Low > e.Value || e.Value > e.High || e.High > 1 || math.IsNaN(e.Low+e.High)) {
			t.Fatalf("%+v", e)
		}
	})
}

// Members that always err together have a correlation of 1, with an interval below it.
func TestPhiOfEqualMembers(t *testing.T) {
	var p stats.ClusterPhi
	for q := range 30 {
		p.Add(q%3, 0, 0, 2-q%3)
	}
	if e, ok := p.Estimate(); !ok || e.Value != 1 || e.High != 1 || e.Low < 0.5 || e.Low > 0.95 {
		t.Errorf("%+v %v", e, ok)
	}
	var always stats.ClusterPhi
	always.Add(0, 3, 0, 4)
	if e, ok := always.Estimate(); ok {
		t.Errorf("%+v of a member that always errs", e)
	}
}

// Two members err in 10 to 60 % of questions, and the second copies the first in none to 95 % of them. Half of the
// repeats of a question are the same as its first. In a second count one of them errs in less than 20 %.
func TestCoversPhi(t *testing.T) {
	for _, d := range []struct{ questions, repeats int }{{30, 1}, {100, 1}, {300, 1}, {30, 5}, {60, 5}} {
		chance := rand.New(rand.NewPCG(7, uint64(1000*d.questions+d.repeats)))
		var phi, rare covers
		for range *studies {
			a, own, copies := 0.1+0.5*chance.Float64(), 0.1+0.5*chance.Float64(), 0.95*chance.Float64()
			b := copies*a + (1-copies)*own
			p := phiStudy(chance, d.questions, d.repeats, a, own, copies)
			e, ok := p.Estimate()
			if !ok {
				continue
			}
			truth := copies * math.Sqrt(a*(1-a)/(b*(1-b)))
			phi.add(e.Low, e.High, truth)
			if min(a, b) < 0.2 {
				rare.add(e.Low, e.High, truth)
			}
		}
		phi.check(t, fmt.Sprintf("phi, %d questions × %d", d.questions, d.repeats))
		rare.check(t, fmt.Sprintf("phi of a member that errs rarely, %d questions × %d", d.questions, d.repeats))
	}
}

// phiStudy draws the errors of two members.
func phiStudy(chance *rand.Rand, questions, repeats int, a, b, copies float64) (p stats.ClusterPhi) {
	for range questions {
		var cells [4]int
		outcome := 0
		for r := range repeats {
			if r == 0 || chance.Float64() < 0.5 {
				first, second := successes(chance, 1, a), successes(chance, 1, b)
				if chance.Float64() < copies {
					second = first
				}
				outcome = first + 2*second
			}
			cells[outcome]++
		}
		p.Add(cells[0], cells[1], cells[2], cells[3])
	}
	return p
}
