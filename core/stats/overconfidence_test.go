package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/core/stats"
)

// alarmed counts in how many of 500 histories of n forecasts the evidence reaches 1/level at some time. Answers are
// right with the probability that was forecast, less a number of points.
func alarmed(n int, level, less float64) float64 {
	chance, alarms := rand.New(rand.NewPCG(1, 2)), 0
	const histories = 500
	for range histories {
		var list []stats.Forecast
		for range n {
			p := 0.4 + 0.6*math.Sqrt(chance.Float64()) // most forecasts are high
			list = append(list, stats.Forecast{Confidence: p, Right: chance.Float64() < p-less})
			if len(list)%5 == 0 && stats.Overconfidence(list) >= 1/level {
				alarms++
				break
			}
		}
	}
	return float64(alarms) / histories
}

// Whoever looks again and again at forecasts that hold is alarmed with the stated probability at most, and errors in 15
// more of 100 answers are found.
func TestOverconfidence(t *testing.T) {
	for _, level := range []float64{0.1, 0.01} {
		if share := alarmed(200, level, 0); share > level {
			t.Errorf("level %v: %.4f of the histories alarm although the forecasts hold", level, share)
		}
	}
	if share := alarmed(200, 0.01, 0.15); share < 0.9 {
		t.Errorf("with 15 points more errors, %.3f of the histories alarm within 200 labels, want 0.9", share)
	} else {
		t.Logf("15 points more errors: found in %.3f of the histories within 200 labels, %.3f within 100, %.3f within "+
			"50; false alarms %.4f", share, alarmed(100, 0.01, 0.15), alarmed(50, 0.01, 0.15), alarmed(200, 0.01, 0))
	}
}

// By hand: one forecast, and the edges.
func TestOverconfidenceByHand(t *testing.T) {
	want := 0.0
	for _, shift := range []float64{0.5, 1, 2, 3} {
		q := 1 / (1 + math.Exp(shift-math.Log(0.9/0.1)))
		want += (1 - q) / 0.1 / 4
	}
	if got := stats.Overconfidence([]stats.Forecast{{Confidence: 0.9}}); math.Abs(got-want) > 1e-12 {
		t.Errorf("a wrong answer at 0.9: %v, want %v", got, want)
	}
	if got := stats.Overconfidence(nil); got != 1 {
		t.Errorf("nothing: %v", got)
	}
	sure := []stats.Forecast{{Confidence: 1, Right: true}, {Confidence: 0}}
	if got := stats.Overconfidence(sure); math.Abs(got-1) > 1e-12 {
		t.Errorf("certain and true: %v, want 1", got)
	}
	if got := stats.Overconfidence([]stats.Forecast{{Confidence: 1}}); !(got > 1) || math.IsInf(got, 0) {
		t.Errorf("certain and wrong: %v", got)
	}
}
