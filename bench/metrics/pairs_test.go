package metrics_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
)

// pairOf returns the errors of two members in one case for every question, W being wrong.
func pairOf(questions ...string) *metrics.PairErrors {
	t := metrics.NewTally(make([]metrics.SeatFacts, 2))
	for q, answers := range questions {
		t.Add(metrics.GradedQuestion{Question: fmt.Sprint(q), Verdicts: verdicts,
			Rounds: [][]synod.Answer{{synod.Answer(answers[:1]), synod.Answer(answers[1:])}}})
	}
	return &t.Numbers().Errors[0]
}

// The interval of phi has the true value, 0, also if one member errs in few of 30 questions.
func TestPhiOfRareErrors(t *testing.T) {
	const runs = 500
	chance, covered := rand.New(rand.NewPCG(8, 1)), 0
	for range runs {
		var questions []string
		for range 30 {
			answers := []byte("RR")
			if chance.Float64() < 0.12 {
				answers[0] = 'W'
			}
			if chance.Float64() < 0.5 {
				answers[1] = 'W'
			}
			questions = append(questions, string(answers))
		}
		if phi := pairOf(questions...).Phi; phi == nil || phi.Low <= 0 && phi.High >= 0 {
			covered++ // without a figure nothing wrong is said
		}
	}
	t.Logf("the interval has the true value in %d of %d studies", covered, runs)
	if covered < runs*90/100 {
		t.Errorf("the interval has the true value in %d of %d studies", covered, runs)
	}
}

// Members that always err together have a phi of 1 with an interval; without ten questions there is none.
func TestPhiOfEqualMembers(t *testing.T) {
	questions := []string{"RR", "RR", "RR", "WW", "WW", "RR", "RR", "WW", "RR", "RR", "RR", "WW"}
	phi := pairOf(questions...).Phi
	if phi == nil || phi.Value != 1 || phi.High != 1 || phi.Low < 0 || phi.N != 12 {
		t.Errorf("%+v", phi)
	}
	if phi := pairOf(questions[:9]...).Phi; phi != nil {
		t.Errorf("of 9 questions: %+v", phi)
	}
}
