package stats_test

import (
	"math"
	"testing"

	"synod.dev/synod/core/stats"
)

// Holm's example: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02.
func TestHolm(t *testing.T) {
	got := stats.Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%d: %v, want %v", i, got[i], want)
		}
	}
	if one := stats.Holm([]float64{0.7, 0.9}); one[0] != 1 || one[1] != 1 {
		t.Errorf("%v: a p-value is at most 1", one)
	}
}
