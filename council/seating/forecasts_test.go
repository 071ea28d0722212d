package seating

import (
	"reflect"
	"testing"

	"synod.dev/synod/core/stats"
)

// What is stated of decisions holds on questions that were not fitted, and not if the models have changed.
func TestForecasts(t *testing.T) {
	s := drawn(5, 400, []float64{1, 1, 5}, []float64{0.8, 0.75, 0.9})
	tiers := Tiers{Tiers: [][]int{{0, 1}, {2}}, Stop: 0.9}
	ece := func(list []stats.Forecast) float64 {
		e, ok := stats.ECE(list)
		if !ok || len(list) < 380 {
			t.Fatalf("%d forecasts", len(list))
		}
		return e
	}
	own := s.Forecasts(tiers, 1)
	if e := ece(own); e > 0.05 {
		t.Errorf("calibration error %.3f on own questions", e)
	}
	if again := s.Forecasts(tiers, 1); !reflect.DeepEqual(own, again) {
		t.Error("one seed, two results")
	}
	same, worse := drawn(6, 400, nil, []float64{0.8, 0.75, 0.9}), drawn(7, 400, nil, []float64{0.6, 0.55, 0.7})
	if e := ece(s.Foretell(tiers, same.Questions)); e > 0.05 {
		t.Errorf("calibration error %.3f on questions of the same kind", e)
	}
	if e := ece(s.Foretell(tiers, worse.Questions)); e < 0.1 {
		t.Errorf("calibration error %.3f although the models are worse", e)
	}
	only, seats := s.Only(Tiers{Tiers: [][]int{{2}, {0}}, Stop: 0.9, F: 1})
	if !reflect.DeepEqual(only.Models, []string{"m2", "m0"}) || !reflect.DeepEqual(seats.Tiers, [][]int{{0}, {1}}) ||
		seats.Stop != 0.9 || seats.F != 1 || only.Questions[0].Answers[1] != s.Questions[0].Answers[0] {
		t.Errorf("%v %+v", only.Models, seats)
	}
}

// No statement is made of what is not decided: with F = 1 an answer of one model alone is no decision.
func TestForecastsOfDecisions(t *testing.T) {
	s := drawn(8, 60, []float64{1, 1}, []float64{0.5, 0.5})
	agreed := 0
	for _, q := range s.Questions {
		if q.Answers[0] == q.Answers[1] {
			agreed++
		}
	}
	if got := s.Forecasts(Tiers{Tiers: [][]int{{0, 1}}, F: 1}, 1); len(got) != agreed || agreed == 60 {
		t.Errorf("%d forecasts of %d questions with an answer of two", len(got), agreed)
	}
}

// What is stated of a question does not depend on its own right answer.
func TestForecastsOfOthers(t *testing.T) {
	s := drawn(9, 60, []float64{1, 1}, []float64{0.7, 0.6})
	tiers := Tiers{Tiers: [][]int{{0, 1}}}
	before, part := s.Forecasts(tiers, 1), s.split(1)
	at := 0 // of the first question in the list, which has one part of the questions after the other
	for _, k := range part {
		if k < part[0] {
			at++
		}
	}
	s.Questions[0].Right = "another answer"
	after := s.Forecasts(tiers, 1)
	if len(before) != 60 || len(after) != 60 || before[at].Confidence != after[at].Confidence {
		t.Errorf("%d, %d forecasts; %+v and %+v", len(before), len(after), before[at], after[at])
	}
	if reflect.DeepEqual(before[:at], after[:at]) && reflect.DeepEqual(before[at+1:], after[at+1:]) {
		t.Error("nothing was learned from the question")
	}
}
