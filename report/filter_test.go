package report

import (
	"testing"

	"synod.dev/synod/metrics"
	"synod.dev/synod/task"
)

// The filters of a page find undecided, wrong and captured questions.
func TestQuestionClass(t *testing.T) {
	r := &Report{Seats: []Member{{ID: "a"}, {ID: "x", Adversary: "replay"}}}
	votes := []Support{{Answer: "7", Seats: []string{"a", "x"}}, {Answer: "8", Seats: []string{"a"}}}
	for want, q := range map[string]*Question{
		"q q-undecided":        {},
		"q":                    {Answer: "7", Verdict: task.Right, Votes: votes},
		"q q-wrong q-captured": {Answer: "7", Verdict: task.Wrong, Votes: votes},
		"q q-wrong":            {Answer: "8", Verdict: task.Wrong, Votes: votes},
	} {
		if got := r.questionClass(q); got != want {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
}

// Every model has a panel of its own in the plot of confidences, so that none hides another.
func TestCalibrationShowsEveryModel(t *testing.T) {
	half, five := 0.5, 5
	bin := metrics.Bin{Confidence: &half, N: five, Right: metrics.Share(3, five)}
	r := &Report{Calibration: &Calibration{}}
	for _, name := range []string{"a", "b", "c", "d"} {
		m := ModelCalibration{Model: name}
		m.Bins = append(m.Bins, bin)
		r.Calibration.Models = append(r.Calibration.Models, m)
	}
	p := r.calibrationPanels()
	if len(p.charts) != 4 || p.charts[3].Title != "d" || p.failed() != nil {
		t.Errorf("%d panels, %v", len(p.charts), p.failed())
	}
	if svg, err := calibrationPlot(r).SVG(); err != nil || len(svg) == 0 {
		t.Error(err)
	}
}
