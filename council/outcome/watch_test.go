package outcome

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// heard makes the notes of one tick from the answers of the seats in order, such as "1 2 -", in which - is no
// answer and a dot a seat that notes nothing.
func heard(round int, answers string) (notes []sim.Noted) {
	for i, a := range strings.Fields(answers) {
		switch a {
		case ".":
			continue
		case "-":
			a = ""
		}
		notes = append(notes, sim.Noted{Node: synod.NodeID(i), Opinion: &synod.Opinion{Round: round,
			Answer: synod.Answer(a)}})
	}
	return notes
}

// Each breaker trips in the round that its setting says and not before, and not on what is something else. Rounds
// are the answers of the seats, one tick each.
func TestBreakersTrip(t *testing.T) {
	for _, c := range []struct {
		name, breakers string
		f              int
		dead           []int
		rounds         []string
		trip           string // breaker and round; "": none
		tick           int    // in which it trips; 0: that of the round
		detail         string
	}{
		{"nobody moves", "no_progress: 2", 0, nil, []string{"1 2 3", "1 2 3", "1 2 3"}, "no-progress 2", 0,
			"no answer changed in 2 rounds, and"},
		{"not yet", "no_progress: 3", 0, nil, []string{"1 2 3", "1 2 3", "1 2 3"}, "", 0, ""},
		{"one moves", "no_progress: 2", 0, nil, []string{"1 2 3", "1 2 4", "1 2 5", "1 2 6"}, "", 0, ""},
		{"one of F moves", "no_progress: 2", 1, nil, []string{"1 2 3", "1 2 4", "1 2 5"}, "no-progress 2", 0,
			"no answer but those of at most F=1 members changed in 2 rounds"},
		{"two move and F is 1", "no_progress: 2", 1, nil, []string{"1 2 3", "1 3 4", "1 4 5"}, "", 0, ""},
		{"F is all members", "no_progress: 2", 3, nil, []string{"1 2 3", "1 3 4", "1 4 5"}, "no-progress 2", 0,
			"at most F=2 members"},
		{"the rule decides", "no_progress: 1", 0, nil, []string{"1 1 3", "1 1 3"}, "", 0, ""},
		{"it stands still after it moved", "no_progress: 1", 0, nil, []string{"1 2 3", "2 3 1", "2 3 1"},
			"no-progress 2", 0, ""},
		{"off", "quorum: true", 0, nil, []string{"1 2 3", "1 2 3", "1 2 3"}, "", 0, ""},
		{"nobody noted the first round", "no_progress: 1", 0, nil, []string{". . .", "1 . .", "1 . ."}, "", 0, ""},
		{"a round is over with the next of all but F", "no_progress: 1", 1, nil, []string{"1 2 3 4", "1 2 3 .",
			"1 2 3 ."}, "no-progress 1", 2, ""},
		{"a round is not over without the next of all but F", "no_progress: 1", 1, nil, []string{"1 2 3 4", "1 2 . .",
			"1 2 . ."}, "", 0, ""},
		{"one seat alone", "no_progress: 1", 1, nil, []string{"1 . .", ". . .", "2 . ."}, "no-progress 1", 2, ""},
		{"a round that nobody noted is not over", "no_progress: 1", 1, nil, []string{"1 . .", ". . .", ". . .",
			"2 . ."},
			"", 0, ""},

		{"to and fro", "oscillation: 2", 0, nil, []string{"1 2 3", "2 1 3", "1 2 3", "2 1 3"}, "oscillation 3", 0,
			"for 2 rounds the members have returned"},
		{"to and fro, at once", "oscillation: 1", 0, nil, []string{"1 2 3", "2 1 3", "1 2 3"}, "oscillation 2", 0, ""},
		{"in a circle of three", "oscillation: 1", 0, nil, []string{"1 2 3", "2 3 1", "3 1 2", "1 2 3"},
			"oscillation 3",
			0, ""},
		{"in a circle of four", "oscillation: 1", 0, nil, []string{"1 2 3", "4 2 3", "5 2 3", "6 2 3", "1 2 3"},
			"oscillation 4", 0, ""},
		{"in a circle of five", "oscillation: 1", 0, nil, []string{"1 2 3", "4 2 3", "5 2 3", "6 2 3", "7 2 3", "1 2 3",
			"4 2 3"}, "", 0, ""},
		{"standing still is no oscillation", "oscillation: 1", 0, nil, []string{"1 2 3", "1 2 3", "1 2 3", "1 2 3"},
			"", 0,
			""},
		{"a wanderer beside them", "oscillation: 2", 1, nil, []string{"1 2 3", "2 1 4", "1 2 5", "2 1 6"},
			"oscillation 3", 0, ""},
		{"two wanderers beside one", "oscillation: 2", 1, nil, []string{"1 2 3", "2 4 5", "1 6 7", "2 8 9"}, "", 0, ""},
		{"no progress comes first", "no_progress: 1, oscillation: 1", 1, nil, []string{"1 2 3", "1 2 4", "1 2 3"},
			"no-progress 1", 0, ""},

		{"drift", "drift: 2", 0, nil, []string{"1 2 9", "11 12 19", "21 22 29"}, "drift 2", 0,
			"for 2 rounds the members have changed their answers without coming closer together"},
		{"drift, F left out", "drift: 1", 1, nil, []string{"a b c", "d e f"}, "drift 1", 0,
			"together, F=1 of them left out"},
		{"closer together", "drift: 2", 0, nil, []string{"1 2 9", "11 12 19", "21 22 25", "31 32 35"}, "", 0, ""},
		{"drift that stops", "drift: 2", 0, nil, []string{"1 2 9", "11 12 19", "11 12 19", "21 22 29"}, "", 0, ""},
		{"oscillation is named before drift", "drift: 2, oscillation: 1", 0, nil, []string{"1 2 9", "2 1 9", "1 2 9"},
			"oscillation 2", 0, ""},

		{"too few are left", "quorum: true", 0, []int{1, 2}, []string{"1 - -", "1 - -"}, "no-quorum 1", 0,
			"[a2 a3] are unreachable, and majority needs 2 live members of 3"},
		{"enough are left", "quorum: true", 0, []int{2}, []string{"1 2 -", "1 2 -"}, "", 0, ""},
		{"without an answer, but alive", "quorum: true", 0, []int{1}, []string{"1 - -", "1 - -"}, "", 0, ""},
		{"dead, with an answer", "quorum: true", 0, []int{1, 2}, []string{"1 2 3", "1 2 3"}, "", 0, ""},
		{"not in the first round", "quorum: true", 0, []int{1, 2}, []string{"1 - -"}, "", 0, ""},
	} {
		n := len(strings.Fields(c.rounds[0]))
		p := planOf(t, n, fmt.Sprintf("f: %d\nbreakers: {%s}\n", c.f, c.breakers))
		b := NewBreaker(p)
		dead := func(seat int) bool { return slices.Contains(c.dead, seat) }
		got, tick := "", 0
		if trip, at := firstTrip(b, c.rounds, dead); trip != nil {
			got, tick = fmt.Sprintf("%s %d", trip.Breaker, trip.Round), at
			if !strings.Contains(trip.Detail, c.detail) || c.f == 0 && strings.Contains(trip.Detail, "F=") {
				t.Errorf("%s: %q, want %q", c.name, trip.Detail, c.detail)
			}
			if c.tick == 0 {
				c.tick = trip.Round
			}
		}
		if got != c.trip || got != "" && tick != c.tick {
			t.Errorf("%s: %q in tick %d, want %q in tick %d", c.name, got, tick, c.trip, c.tick)
		}
	}
}

// firstTrip returns the first trip over the answers of rounds, and the tick of it; nil if there is none.
func firstTrip(b *Breaker, rounds []string, dead func(int) bool) (*Trip, int) {
	for tick, answers := range rounds {
		if trip := b.After(heard(tick, answers), dead); trip != nil {
			return trip, tick
		}
	}
	return nil, 0
}

// A seat that was seen to equivocate trips its breaker at once, even before a round is over. Each is named once.
func TestBreakerNamesEquivocators(t *testing.T) {
	p := planOf(t, 4, "breakers: {equivocation: true}\n")
	b := NewBreaker(p)
	note := func(suspects ...synod.NodeID) *Trip {
		return b.After([]sim.Noted{{Node: 0, Opinion: &synod.Opinion{Round: 2, Suspects: suspects}}}, nil)
	}
	if trip := note(); trip != nil {
		t.Errorf("nobody is suspected: %+v", trip)
	}
	if trip := note(3, 1, 3); trip == nil || trip.Detail != "[a2 a4] told different members different things" ||
		trip.Round != 2 || trip.Breaker != Equivocation {
		t.Errorf("%+v", trip)
	}
	b = NewBreaker(planOf(t, 4, "breakers: {quorum: true}\n"))
	if trip := note(1); trip != nil {
		t.Errorf("the breaker is off: %+v", trip)
	}
}

// A journal may claim any round. Notes of impossible rounds are left out.
func TestBreakerBoundsRounds(t *testing.T) {
	b := NewBreaker(planOf(t, 1, "breakers: {no_progress: 1000}\n"))
	for round, want := range map[int]int{-1: 0, maxRounds + 1: 0, maxRounds: maxRounds + 1} {
		b.Reset()
		b.add(heard(round, "1")[0])
		if len(b.noted) != want || len(b.answers) != want {
			t.Errorf("round %d: %d rounds are kept, want %d", round, len(b.noted), want)
		}
	}
}

// The range of numbers leaves out the f lowest and the f highest. It needs two numbers more, and at most f answers
// that are none.
func TestWidth(t *testing.T) {
	for _, c := range []struct {
		answers string
		f       int
		want    float64 // -1: there is none
	}{
		{"1 5", 0, 4}, {"5 1 3", 0, 4}, {"1", 0, -1}, {"1 5 x", 0, -1}, {"1 2 4 99", 1, 2}, {"1 2 4", 1, -1},
		{"1 2 4 99 x", 1, 2}, {"1 2 4 99 x y", 1, -1}, {"-9 -1 1 9 99 -99", 2, 2}, {"1 2 Inf 4 9", 1, 2},
		{"NaN 2 3 4 9", 1, 1}, {"-3 1", 0, 4},
	} {
		got := -1.0
		var answers []synod.Answer
		for _, a := range strings.Fields(c.answers) {
			answers = append(answers, synod.Answer(a))
		}
		if w, ok := width(answers, c.f); ok {
			got = w
		}
		if got != c.want {
			t.Errorf("%s without %d: %v, want %v", c.answers, c.f, got, c.want)
		}
	}
}

// Members drift while more than F of them move and they come no closer: a larger group, or a range narrower by a
// tenth.
func TestDriftCountsRounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		leftOut int
		rounds  []string
		want    []int // after each round but the first
		voices  []int
	}{
		{"two seats of one voice move, and F is 1", 1, []string{"a b c", "d e c"}, []int{0}, []int{0, 0, 1}},
		{"a larger group of one voice is no larger", 0, []string{"a b c", "d d e", "f f g"}, []int{1, 2},
			[]int{0, 0, 1}},
		{"all wander", 0, []string{"a b c", "d e f", "g h i"}, []int{1, 2}, nil},
		{"nobody moves", 0, []string{"a b c", "a b c"}, []int{0}, nil},
		{"one moves, and F is 1", 1, []string{"a b c", "d b c"}, []int{0}, nil},
		{"two move, and F is 1", 1, []string{"a b c", "d e c"}, []int{1}, nil},
		{"a larger group", 0, []string{"a b c", "d d e", "f f g", "h h h"}, []int{0, 1, 0}, nil},
		{"a range narrower by less than a tenth", 0, []string{"0 100", "1 92", "2 93", "3 92"}, []int{1, 2, 0}, nil},
		{"just a tenth", 0, []string{"0 100", "1 91"}, []int{1}, nil},
		{"a smaller group of none", 0, []string{"a a", "- -", "- b"}, []int{1, 2}, nil},
	} {
		d := drift{narrowed: math.Inf(1)}
		var got []int
		var before []synod.Answer
		for i, round := range c.rounds {
			var now []synod.Answer
			for _, n := range heard(0, round) {
				now = append(now, n.Answer)
			}
			if i == 0 {
				d.record(now, voicing{c.voices, c.leftOut, c.leftOut})
			} else {
				d.next(before, now, voicing{c.voices, c.leftOut, c.leftOut})
				got = append(got, d.rounds)
			}
			before = now
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
