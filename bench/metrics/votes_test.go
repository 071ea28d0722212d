package metrics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/internal/nightly"
)

// draw returns questions to honest seats that err with probability p. With
// probability together, either all seats err or none.
func draw(chance *rand.Rand, questions, seats int, p, together float64) (cases []metrics.GradedQuestion) {
	for q := range questions {
		answers := make([]synod.Answer, seats)
		common, shared := chance.Float64() < p, chance.Float64() < together
		for i := range answers {
			answers[i] = "R"
			if wrong := chance.Float64() < p; shared && common || !shared && wrong {
				answers[i] = "W"
			}
		}
		cases = append(cases, metrics.GradedQuestion{Question: fmt.Sprint(q), Rounds: [][]synod.Answer{answers},
			Verdicts: verdicts})
	}
	return cases
}

func effective(seats []metrics.SeatFacts, cases []metrics.GradedQuestion) *metrics.Rate {
	t := metrics.NewTally(seats)
	for _, c := range cases {
		t.Add(c)
	}
	return t.Numbers().Metrics.EffectiveVotes
}

// The interval covers the truth with about the stated probability, for independent members
// and for members whose errors have a known correlation.
func TestEffectiveVotesCoverage(t *testing.T) {
	const seats = 6
	runs := nightly.Size(80, 200)
	for _, together := range []float64{0, 0.1, 0.3, 0.7} {
		chance := rand.New(rand.NewPCG(5, uint64(1000*together)))
		truth, covered := seats/(1+(seats-1)*together), 0
		for range runs {
			e := effective(make([]metrics.SeatFacts, seats), draw(chance, 300, seats, 0.4, together))
			if e.Low <= truth+1e-9 && truth <= e.High+1e-9 {
				covered++
			}
			if e.N != 300 || e.Low > e.Value || e.High < e.Value {
				t.Fatalf("%+v", *e)
			}
		}
		t.Logf("correlation %v: the interval covers %.2f in %d of %d runs", together, truth, covered, runs)
		if covered < runs*90/100 {
			t.Errorf("correlation %v: the interval covers the truth in only %d of %d runs", together, covered, runs)
		}
	}
}

// Members that always err together count as exactly one vote.
func TestEffectiveVotesOfEqualMembers(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 5))
	e := effective(make([]metrics.SeatFacts, 5), draw(chance, 200, 5, 0.3, 1))
	if e == nil || math.Abs(e.Value-1) > 1e-9 || math.Abs(e.Low-1) > 1e-9 || math.Abs(e.High-1) > 1e-9 {
		t.Errorf("%+v", e)
	}
}

// Computed by hand: two seats, 20 questions; 4 wrong for both, 2 and 2 for one.
// Covariance 4/20 − (6/20)², variance 6/20·14/20.
func TestEffectiveVotesByHand(t *testing.T) {
	var cases []metrics.GradedQuestion
	for q, errs := range []string{"WW", "WW", "WW", "WW", "WR", "WR", "RW", "RW", "RR", "RR", "RR", "RR", "RR", "RR",
		"RR", "RR", "RR", "RR", "RR", "RR"} {
		cases = append(cases, metrics.GradedQuestion{Question: fmt.Sprint(q), Verdicts: verdicts,
			Rounds: [][]synod.Answer{{synod.Answer(errs[:1]), synod.Answer(errs[1:])}}})
	}
	rho := (4.0/20 - 0.09) / 0.21
	if e := effective(make([]metrics.SeatFacts, 2), cases); e == nil || math.Abs(e.Value-2/(1+rho)) > 1e-12 {
		t.Errorf("%+v, want %v", e, 2/(1+rho))
	}
}

// The order of questions and of seats does not matter. Adversaries, non-voting
// seats and later rounds are ignored.
func TestEffectiveVotesOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chance := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(2, 5).Draw(t, "seats")
		cases := draw(chance, rapid.IntRange(1, 60).Draw(t, "questions"), n, 0.4, 0.2)
		for _, c := range cases { // some answers are absent or unreadable
			for i := range c.Rounds[0] {
				if chance.IntN(10) == 0 {
					c.Rounds[0][i] = []synod.Answer{"", "?"}[chance.IntN(2)]
				}
			}
		}
		want := effective(make([]metrics.SeatFacts, n), cases)
		order, others := chance.Perm(n), []synod.Answer{"W", "R"}
		chance.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		seats := append(make([]metrics.SeatFacts, n), metrics.SeatFacts{Adversary: true},
			metrics.SeatFacts{Unasked: true})
		for k, c := range cases {
			row := make([]synod.Answer, 0, n+2)
			for _, i := range order {
				row = append(row, c.Rounds[0][i])
			}
			row = append(row, others...)
			cases[k].Rounds = [][]synod.Answer{row, make([]synod.Answer, n+2)}
		}
		got := effective(seats, cases)
		if (got == nil) != (want == nil) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if got == nil {
			return
		}
		off := math.Abs(got.Value-want.Value) + math.Abs(got.Low-want.Low) + math.Abs(got.High-want.High)
		if off > 1e-9 || got.N != want.N {
			t.Fatalf("%+v, want %+v", *got, *want)
		}
	})
}

// With too little data there is no figure.
func TestEffectiveVotesWithTooLittleData(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 6))
	for name, e := range map[string]*metrics.Rate{
		"one honest seat": effective([]metrics.SeatFacts{{}, {Adversary: true}}, draw(chance, 100, 2, 0.5, 0)),
		"few questions":   effective(make([]metrics.SeatFacts, 3), draw(chance, 8, 3, 0.5, 0)),
		"no errors":       effective(make([]metrics.SeatFacts, 3), draw(chance, 100, 3, 0, 0)),
		"no questions":    effective(make([]metrics.SeatFacts, 3), nil),
		"too many seats":  effective(make([]metrics.SeatFacts, 200), draw(chance, 20, 200, 0.5, 0)),
	} {
		if e != nil {
			t.Errorf("%s: %+v", name, *e)
		}
	}
}
