package reference_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/internal/reference"
)

// Totals of small sets of grades, computed by hand.
func TestTotal(t *testing.T) {
	row := func(x float64) []float64 { return []float64{x, x, x, x, x} }
	rows := [][]float64{row(0), row(0), row(4), row(16), row(0)}
	for _, c := range []struct {
		name    string
		vectors [][]float64
		f       int
		want    float64
	}{
		{"geometric-median", rows, 1, 0}, // three of five are equal
		{"geometric-median", [][]float64{row(3)}, 0, 15},
		{"geometric-median", [][]float64{{0, 0, 0, 0, 0}, {4, 0, 0, 0, 0}, {0, 4, 0, 0, 0}, {4, 4, 0, 0, 0}}, 1, 4},
		{"median-total", rows, 1, 0},
		{"median-total", [][]float64{row(1), row(3)}, 0, 10},
		{"coordinate-median", rows, 1, 0},
		{"trimmed-mean", rows, 1, 5 * 4. / 3},
		{"trimmed-mean", rows, 0, 20},
	} {
		got, within, ok := reference.Total(c.name, c.vectors, c.f)
		if !ok || math.Abs(got-c.want) > within {
			t.Errorf("%s of %v, f=%d: %v ± %v; want %v", c.name, c.vectors, c.f, got, within, c.want)
		}
	}
	if _, _, ok := reference.Total("trimmed-mean", rows[:2], 1); ok {
		t.Error("a mean of two is trimmed by one at both ends")
	}
}

// No point nearby has a smaller sum of distances than the geometric median.
func TestGeometricMedian(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		var vectors [][]float64
		for range 3 + chance.IntN(4) {
			v := make([]float64, 2)
			for k := range v {
				v[k] = float64(chance.IntN(21))
			}
			vectors = append(vectors, v)
		}
		total, within, _ := reference.Total("geometric-median", vectors, 0)
		best, at := math.Inf(1), 0.0
		for x := 0.0; x <= 20; x += 0.1 {
			for y := 0.0; y <= 20; y += 0.1 {
				sum := 0.0
				for _, v := range vectors {
					sum += math.Hypot(v[0]-x, v[1]-y)
				}
				if sum < best {
					best, at = sum, x+y
				}
			}
		}
		if math.Abs(total-at) > within+0.4 { // the grid, and how flat the sum is
			t.Errorf("%v: the total is %v ± %v; the best point of a grid has %v", vectors, total, within, at)
		}
	}
}

// The user takes what f+1 evaluators reply, unless two answers have so many.
func TestAccept(t *testing.T) {
	for _, c := range []struct {
		signed  string
		f       int
		want    synod.Answer
		lacking bool
	}{
		{"aab", 1, "a", false}, {"ab", 1, "", false}, {"aabb", 1, "", false}, {"a", 1, "", true}, {"..", 1, "", false},
		{"abb", 0, "", false},
	} {
		if got, lacking := reference.Accept(answers(c.signed), c.f); got != c.want || lacking != c.lacking {
			t.Errorf("%s, f=%d: %q, lacking %v", c.signed, c.f, got, lacking)
		}
	}
}

// A game has one of four outcomes (GM-4).
func TestGameOutcome(t *testing.T) {
	g := reference.Game{Players: 3, F: 0, Rounds: 2}
	note := func(round int, number synod.Answer, stops int) reference.GameNote {
		return reference.GameNote{Round: round, Number: number, Stops: stops}
	}
	gone := []reference.GameNote{note(0, "1", 0)}
	player := func(given, held synod.Answer, stops int) []reference.GameNote {
		return []reference.GameNote{note(0, given, 0), note(1, held, stops)}
	}
	for _, c := range []struct {
		honest  [][]reference.GameNote
		outcome string
		round   int
	}{
		{[][]reference.GameNote{player("1", "2", 2), player("2", "2", 2)}, "valid", 1},
		{[][]reference.GameNote{player("1", "3", 2), player("2", "3", 2)}, "invalid", 1},
		{[][]reference.GameNote{player("1", "1", 2), player("2", "2", 2)}, "premature", 1},
		{[][]reference.GameNote{player("1", "2", 2), player("2", "2", 2), gone}, "premature", 1},
		{[][]reference.GameNote{append(player("1", "2", 1), note(2, "2", 1))}, "none", 0},
		{[][]reference.GameNote{append(player("1", "2", 1), note(2, "2", 1), note(3, "1", 0))}, "valid", 2},
	} {
		if outcome, round := g.Outcome(c.honest); outcome != c.outcome || round != c.round {
			t.Errorf("%v: %s after round %d; want %s after %d", c.honest, outcome, round, c.outcome, c.round)
		}
	}
	if n := (&reference.Game{F: 1}).Adopt("w-msr", []int{0, 3, 4, 9}, nil, 3); n != 4 {
		t.Errorf("the mean of 3 and 4 without 0 and 9 is rounded to %d", n)
	}
}

// SAC drops at most F minus the silent of those below one's own score (Eq. 3 and 4).
func TestFilter(t *testing.T) {
	scores := []synod.Judged{{Of: 1, Score: .2}, {Of: 2, Score: .2}, {Of: 3, Score: .5}, {Of: 4, Score: .9}}
	for _, c := range []struct {
		round   reference.SACRound
		dropped int
	}{
		{reference.SACRound{F: 1, Self: .5}, 1}, {reference.SACRound{F: 3, Self: .5}, 2},
		{reference.SACRound{F: 3, Self: .5, Silent: 2}, 1}, {reference.SACRound{F: 3, Self: .5, Strict: true}, 3},
		{reference.SACRound{F: 1, Self: .5, Silent: 2}, 0}, {reference.SACRound{F: 2, Self: synod.Untrusted}, 2},
	} {
		c.round.Scores = scores
		retained, dropped := c.round.Filter()
		if len(dropped) != c.dropped || len(retained)+len(dropped) != len(scores) ||
			len(dropped) > 0 && dropped[0] != 1 {
			t.Errorf("%+v drops %v and retains %v", c.round, dropped, retained)
		}
	}
}

// Where three of eight vectors are equal and the others pull at them with a force of 2.99, each step is 0.4 % shorter
// only, and the program ends its iteration after 1,000 of them, still 0.2 from the total of the median.
func TestSlowGeometricMedian(t *testing.T) {
	all := func(x float64) []float64 { return []float64{x, x, x, x, x} }
	vectors := [][]float64{all(8), {8, 12, 12, 12, 12}, all(20), all(4), all(0), all(4), all(4),
		{6.857142857142856, 7.428571428571427, 7.428571428571427, 7.428571428571427, 7.428571428571427}}
	var w robust.Workspace
	got, err := w.GeometricMedian(vectors)
	if err != nil || got.Converged {
		t.Errorf("%+v, %v; it should not converge", got, err)
	}
	want, within, ok := reference.Total("geometric-median", vectors, 0)
	if !ok || math.Abs(got.Total-want) > within || within > 2 {
		t.Errorf("the total is %v, and by the reference %v ± %v", got.Total, want, within)
	}
}

// The median of three points on a line is the middle one, and beside it the sum of distances grows.
func TestExcess(t *testing.T) {
	line := [][]float64{{0, 0}, {1, 0}, {5, 0}}
	for x, want := range map[float64]float64{1: 0, 2: 1, 5: 4} {
		if got := reference.Excess(line, []float64{x, 0}); math.Abs(got-want) > 1e-6 {
			t.Errorf("at %v the sum is by %v larger, not by %v", x, got, want)
		}
	}
}
