package robust_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod/core/robust"
)

// tableI holds the scores of evaluators e0 to e7 for workers w0 to w9 in DecentLLMs'
// Table I. Evaluator e8 is Byzantine and gives 100 to w9 and 0 to the others.
var tableI = [][]float64{
	{63, 95, 92, 75, 46, 50, 92, 96, 95, 6},
	{21, 98, 99, 55, 45, 41, 89, 99, 100, 22},
	{33, 100, 75, 45, 40, 35, 99, 100, 85, 0},
	{60, 80, 100, 80, 50, 94, 82, 82, 82, 38},
	{52, 83, 66, 57, 44, 84, 84, 83, 66, 35},
	{49, 53, 60, 19, 42, 27, 66, 66, 66, 7},
	{31, 52, 79, 49, 27, 17, 79, 84, 49, 34},
	{75, 100, 80, 100, 50, 64, 100, 100, 100, 39},
}

// DecentLLMs Table I, systems.md §4: the exact medians of the printed totals.
// Workers w6 and w7 tie; the Byzantine worker is last.
func TestTableI(t *testing.T) {
	want := []float64{49, 83, 79, 55, 44, 41, 84, 84, 82, 34}
	byzantine := []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 100}
	var w robust.Workspace
	for worker, median := range want {
		var totals [][]float64
		for _, e := range append(slices.Clone(tableI), byzantine) {
			totals = append(totals, []float64{e[worker]})
		}
		if got, err := w.MedianTotal(totals); err != nil || got.Total != median {
			t.Errorf("w%d: %v, %v; want %v", worker, got.Total, err, median)
		}
	}
}

// split draws five criteria in [0,20] that add up to a total of Table I, normally
// distributed about a fifth of it.
func split(r *rand.Rand, total, spread float64) []float64 {
	v := make([]float64, 5)
	for j := range v {
		v[j] = min(max(total/5+spread*r.NormFloat64(), 0), 20)
	}
	for rest := 1.0; rest > 1e-9 || rest < -1e-9; {
		rest = total - (v[0] + v[1] + v[2] + v[3] + v[4])
		for j := range v {
			v[j] = min(max(v[j]+rest/5, 0), 20)
		}
	}
	return v
}

// shape counts, over trials of Table I with f colluders beside the eight honest
// evaluators, how often some worker's score leaves the range of the honest
// totals, and how often the Byzantine worker wins.
func shape(t *testing.T, name string, f int, spread float64, trials int) (outside, captured float64) {
	a, err := robust.Catalogue.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var w robust.Workspace
	r := rand.New(rand.NewPCG(uint64(f), uint64(spread)))
	for range trials {
		left, best, winner := false, -1.0, 0
		for worker := range 10 {
			low, high := 100.0, 0.0
			var all [][]float64
			for _, e := range tableI {
				v := split(r, e[worker], spread)
				all = append(all, v)
				sum := v[0] + v[1] + v[2] + v[3] + v[4]
				low, high = min(low, sum), max(high, sum)
			}
			for range f {
				grade := 0.0
				if worker == 9 {
					grade = 20
				}
				all = append(all, []float64{grade, grade, grade, grade, grade})
			}
			got, err := a.Of(&w, all, f)
			if err != nil {
				t.Fatal(err)
			}
			left = left || got.Total < low || got.Total > high
			if got.Total > best {
				best, winner = got.Total, worker
			}
		}
		if left {
			outside++
		}
		if winner == 9 {
			captured++
		}
	}
	return outside / float64(trials), captured / float64(trials)
}

// Finding F6 and the shape of Fig. 8: the geometric median leaves the range of the
// honest totals within its own bound (7 of 15), and is captured by seven colluders if
// the criteria are spread widely. The median of totals does neither.
func TestGeometricMedianLeavesTheHonestRange(t *testing.T) {
	const trials = 200
	var fallen []float64
	for _, spread := range []float64{3, 5, 8} {
		for f := range 8 {
			out, taken := shape(t, "geometric-median", f, spread, trials)
			t.Logf("geometric-median, spread %v, f = %d: outside %.2f, captured %.2f", spread, f, out, taken)
			switch {
			case f == 0 && out > 0, f <= 6 && taken > 0:
				t.Errorf("spread %v, f = %d: outside %v, captured %v", spread, f, out, taken)
			case f == 5 && out < 0.5, f >= 6 && out < 1:
				t.Errorf("spread %v, f = %d: outside in only %v of the runs", spread, f, out)
			case f == 7:
				fallen = append(fallen, taken)
			}
			if out, taken := shape(t, "median-total", f, spread, trials); out+taken > 0 {
				t.Errorf("median-total, spread %v, f = %d: outside %v, captured %v", spread, f, out, taken)
			}
		}
	}
	if !slices.IsSorted(fallen) || fallen[0] > 0.1 || fallen[2] < 0.9 {
		t.Errorf("captured at f = 7 by spread: %v; it should rise from about 0 to about 1", fallen)
	}
}
