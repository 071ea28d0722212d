package bench_test

import (
	"math"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
)

// The assumptions of a study are measured in earlier runs: the base in one, what differs by chance in its repeats, and
// what differs between two councils in both.
func TestPowerFrom(t *testing.T) {
	one := create(t, plan(t, seven, 20, 3))
	two := create(t, plan(t, strings.Replace(seven, "0.8", "0.3", 1), 20, 3))
	work(t, one, 2)
	work(t, two, 2)
	compared, err := bench.Compare(two, one)
	if err != nil {
		t.Fatal(err)
	}
	base, differ, alike, err := bench.PowerFrom([]*bench.Run{one, two})
	if err != nil {
		t.Fatal(err)
	}
	p := compared.Pairs
	if want := float64(p[1][0]+p[1][1]) / float64(p.N()); math.Abs(base-want) > 1e-12 {
		t.Errorf("base %v, want %v", base, want)
	}
	if want := float64(p[0][1]+p[1][0]) / float64(p.N()); math.Abs(differ-want) > 1e-12 || alike < 0 || alike > 1 {
		t.Errorf("differ %v, want %v; alike %v", differ, want, alike)
	}
	if _, chance, _, err := bench.PowerFrom([]*bench.Run{one}); err != nil || math.IsNaN(chance) || chance > 0.6 {
		t.Errorf("between repeats %v, %v", chance, err)
	}
}

// Fewer questions are needed the fewer differ, more for more comparisons, and fewer that are repeated.
func TestPowerPlan(t *testing.T) {
	needed := func(p report.Power) []int {
		t.Helper()
		plan, err := bench.Power(p)
		if err != nil {
			t.Fatal(err)
		}
		var n []int
		for _, r := range plan.Rows {
			n = append(n, *r.Questions)
		}
		return n
	}
	n := needed(report.Power{})
	if len(n) != 4 || n[0] >= n[1] || n[1] >= n[2] {
		t.Errorf("%v", n)
	}
	once, six := needed(report.Power{Differ: 0.2}), needed(report.Power{Differ: 0.2, Comparisons: 6})
	often := needed(report.Power{Differ: 0.2, Repeat: 4, Alike: 0.5})
	if once[0] >= six[0] || often[0] >= once[0] || often[0] < once[0]/4 {
		t.Errorf("once %v, six comparisons %v, four repeats %v", once, six, often)
	}
	for _, wrong := range []report.Power{{Detect: 2}, {Base: 0.99}, {Differ: 0.01}, {Power: 1}, {Comparisons: -1}} {
		if _, err := bench.Power(wrong); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}
