package metrics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/llm/probe"
)

func forecasts(c ...float64) (out []metrics.Forecast) { // a negative value is the confidence in a wrong answer
	for _, x := range c {
		sure := math.Abs(x)
		out = append(out, metrics.Forecast{Confidence: &sure, Right: !math.Signbit(x)})
	}
	return out
}

// By hand: 0.9 right, 0.9 wrong, 0.5 right.
func TestCalibration(t *testing.T) {
	var c metrics.Calibrator
	if c.Calibration() != nil {
		t.Error("figures without forecasts")
	}
	c.Add(&metrics.GradedQuestion{Question: "1"}, forecasts(.9, -.9))
	c.Add(&metrics.GradedQuestion{Question: "2"}, append(forecasts(.5), metrics.Forecast{Right: true}))
	got := c.Calibration()
	if want := (.01 + .81 + .25) / 3; math.Abs(got.Brier.Value-want) > 1e-12 || got.Brier.N != 3 || got.N != 3 ||
		got.Missing != 1 {
		t.Errorf("%+v, brier %+v, want %v", got, got.Brier, want)
	}
	if want := (.8 + .5) / 3; math.Abs(*got.ECE-want) > 1e-12 {
		t.Errorf("ECE %v, want %v", *got.ECE, want)
	}
	last := got.Bins[9]
	if last.N != 2 || last.Right.Value != .5 || math.Abs(*last.Confidence-.9) > 1e-12 ||
		got.Bins[0].Confidence != nil || got.Bins[0].Right != nil {
		t.Errorf("bins %+v", got.Bins)
	}
	var certain metrics.Calibrator
	certain.Add(&metrics.GradedQuestion{}, forecasts(1, 1, math.Copysign(0, -1)))
	if got := certain.Calibration(); got.Brier.Value != 0 || *got.ECE != 0 || got.Brier.Low != 0 ||
		got.Brier.High != 1 {
		t.Errorf("the interval of one question must be [0, 1]: %+v", got.Brier)
	}
}

// Brier score and ECE equal those of package probe, and the interval is close to its
// bootstrap over questions.
func TestCalibrationAgainstProbe(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for range 5 {
		var c metrics.Calibrator
		var list []probe.Graded
		for q := range 40 {
			var all []metrics.Forecast
			easy := r.Float64()
			for range 1 + r.IntN(7) {
				sure := math.Round(r.Float64()*20) / 20
				right := r.Float64() < easy
				all = append(all, metrics.Forecast{Confidence: &sure, Right: right})
				list = append(list, probe.Graded{Question: fmt.Sprint(q), Confidence: sure, Right: right})
			}
			c.Add(&metrics.GradedQuestion{Question: fmt.Sprint(q)}, all)
		}
		got, want := c.Calibration(), probe.Measure(list)
		if math.Abs(got.Brier.Value-want.Brier.Value) > 1e-12 || math.Abs(*got.ECE-want.ECE.Value) > 1e-12 ||
			got.N != want.N {
			t.Fatalf("%+v and %+v", got.Brier, want.Brier)
		}
		if math.Abs(got.Brier.Low-want.Brier.Low) > .02 || math.Abs(got.Brier.High-want.Brier.High) > .02 {
			t.Errorf("interval %v to %v; the bootstrap gives %v to %v", got.Brier.Low, got.Brier.High, want.Brier.Low,
				want.Brier.High)
		}
		for b := range got.Bins {
			if got.Bins[b].N != want.Bins[b].N {
				t.Errorf("bin %d: %d and %d", b, got.Bins[b].N, want.Bins[b].N)
			}
		}
	}
}

// Adversaries, absent answers and answers that cannot be graded give no forecasts.
// Only the confidence in the first answer counts.
func TestForecasts(t *testing.T) {
	x, y, bad := .25, .75, 1.5
	sure := metrics.FirstConfidences([]journal.Noted{
		{Node: 0, Opinion: synod.Opinion{Confidence: &x}}, {Node: 0, Opinion: synod.Opinion{Round: 1, Confidence: &y}},
		{Node: 1, Opinion: synod.Opinion{}}, {Node: 2, Opinion: synod.Opinion{Confidence: &y}},
		{Node: 3, Opinion: synod.Opinion{Confidence: &bad}},
		{Node: 9, Opinion: synod.Opinion{Confidence: &y}},
	}, 5)
	c := metrics.GradedQuestion{Confidences: sure, Rounds: [][]synod.Answer{{"R", "W", "R", "R", "?"}},
		Verdicts: map[synod.Answer]task.Verdict{"R": task.Right, "W": task.Wrong, "?": task.Unreadable}}
	got := c.Forecasts([]metrics.SeatFacts{{}, {}, {Adversary: true}, {}, {}}, func(int) bool { return true })
	if len(got) != 3 || *got[0].Confidence != .25 || !got[0].Right || got[1].Confidence != nil || got[1].Right ||
		got[2].Confidence != nil {
		t.Errorf("%+v", got)
	}
}
