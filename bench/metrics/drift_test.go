package metrics_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/stats"
)

// drawn are n labels of answers that are right with the stated probability, less some points.
func drawn(seed uint64, n int, less float64) (list []metrics.Later) {
	chance := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		p := 0.5 + chance.Float64()/2
		month := "2026-10"
		if i >= n/2 {
			month = "2026-11"
		}
		list = append(list, metrics.Later{Month: month, Forecast: stats.Forecast{Confidence: p,
			Right: chance.Float64() < p-less}})
	}
	return list
}

// Labels that follow the probabilities do not warn; labels with errors in 15 more of 100 answers do.
func TestDrifts(t *testing.T) {
	alarms, found := 0, 0
	for seed := range uint64(200) {
		for _, d := range metrics.Drifts(drawn(seed, 300, 0)) {
			if d.Warning() != "" {
				alarms++
			}
		}
		if metrics.Drifts(drawn(seed, 300, 0.15))[0].Warns {
			found++
		}
	}
	if alarms > 8 { // 400 tests at a level of 0.01; more than eight have a probability of 0.02
		t.Errorf("%d of 400 tests warn although the probabilities hold", alarms)
	}
	if found < 190 {
		t.Errorf("15 points more errors are found in %d of 200 histories of 300 labels", found)
	}
}

// A month is tested by itself, and a question counts once.
func TestDriftOfAMonth(t *testing.T) {
	list := append(drawn(1, 400, 0), drawn(2, 200, 0.3)...)
	for i := range list[400:] {
		list[400+i].Month = "2026-12"
	}
	tests := metrics.Drifts(list)
	if len(tests) != 2 || tests[1].Month != "2026-12" || tests[1].N != 200 || !tests[1].Warns || tests[0].N != 600 {
		t.Errorf("%+v", tests)
	}
	if w := tests[1].Warning(); !strings.Contains(w, "200 answers were graded in 2026-12") {
		t.Error(w)
	}
	for i := range list {
		list[i].Question = "the same"
	}
	if d := metrics.Drifts(list)[0]; d.N != 1 || d.Warns {
		t.Errorf("one question that was asked 600 times: %+v", d)
	}
	if metrics.Drifts(nil) != nil {
		t.Error("a test of nothing")
	}
}

// By hand: two answers of one bin, and what is expected by chance.
func TestStated(t *testing.T) {
	if metrics.NewStated(nil, 1) != nil {
		t.Error("figures of nothing")
	}
	s := metrics.NewStated([]stats.Forecast{{Confidence: .95, Right: true}, {Confidence: .91}}, 1)
	if s.N != 2 || math.Abs(s.ECE.Value-.43) > 1e-12 || s.Bins[9].N != 2 || s.ECE.Low > .43 || s.ECE.High < .43 {
		t.Errorf("%+v, error %+v", s, s.ECE)
	}
	// Both are right with probability 0.8645, one with 0.131, and none with 0.0045.
	want := .95*.91*.07 + (.95*.09+.05*.91)*.43 + .05*.09*.93
	if math.Abs(s.IfTrue-want) > 0.02 {
		t.Errorf("by chance %v, want %v", s.IfTrue, want)
	}
}

// Probabilities that hold show about the error that is expected by chance; others show more than their interval's lower
// end allows for.
func TestStatedOfMany(t *testing.T) {
	of := func(list []metrics.Later) (plain []stats.Forecast) {
		for _, l := range list {
			plain = append(plain, l.Forecast)
		}
		return plain
	}
	good, bad := metrics.NewStated(of(drawn(3, 500, 0)), 1), metrics.NewStated(of(drawn(3, 500, .2)), 1)
	if good.ECE.Low > good.IfTrue || bad.ECE.Low < bad.IfTrue || bad.ECE.Low > .2 || bad.ECE.High < .2 {
		t.Errorf("good %+v by chance %v, bad %+v by chance %v", good.ECE, good.IfTrue, bad.ECE, bad.IfTrue)
	}
}
