package metrics_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/robust"
)

// Five graded questions by hand: two decided rightly, one wrongly, one undecided, and one whose decision
// withstands an unknown number.
func TestWithstands(t *testing.T) {
	tally := metrics.NewTally(make([]metrics.SeatFacts, 3))
	add := func(a synod.Answer, w *robust.Withstood) {
		tally.Add(metrics.GradedQuestion{Rounds: [][]synod.Answer{{a, a, a}}, Verdicts: verdicts, Agreed: a != "",
			Decision: a, Withstands: w})
	}
	if tally.Numbers().Withstands != nil {
		t.Error("a curve without questions")
	}
	add("R", &robust.Withstood{Ignored: 2, Changed: 1})
	add("R", &robust.Withstood{})
	add("W", &robust.Withstood{Ignored: 1})
	add("", nil)
	add("R", nil)
	got := tally.Numbers().Withstands
	if len(got) != 3 {
		t.Fatalf("%d points: %+v", len(got), got)
	}
	for k, want := range [][4]int{{3, 2, 3, 2}, {2, 1, 1, 1}, {1, 1, 0, 0}} {
		for i, r := range []*metrics.Rate{got[k].Ignored.Decided, got[k].Ignored.Right, got[k].Changed.Decided,
			got[k].Changed.Right} {
			share := metrics.Share(want[i], 5)
			near(t, "curve", r, share.Value, share.Low, share.High, 5)
		}
		if got[k].K != k {
			t.Errorf("point %d has k %d", k, got[k].K)
		}
	}
}
