package metrics_test

import (
	"math"
	"testing"

	"synod.dev/synod/metrics"
)

func TestMean(t *testing.T) {
	var m metrics.Mean
	if m.Rate() != nil {
		t.Error("a mean of nothing")
	}
	m.Add(4)
	if r := m.Rate(); r.Value != 4 || r.N != 1 || r.Low != 0 || r.High != 8 {
		t.Errorf("of one value: %+v", r)
	}
	m.Add(6)
	// variance 2, over two values 1: the half width is 1.96.
	if r := m.Rate(); r.Value != 5 || r.N != 2 || math.Abs(r.High-6.96) > 0.001 || math.Abs(r.Low-3.04) > 0.001 || !r.Count {
		t.Errorf("of two values: %+v", r)
	}
	var same metrics.Mean
	for range 5 {
		same.Add(0.1)
	}
	if r := same.Rate(); math.Abs(r.High-r.Low) > 1e-6 {
		t.Errorf("of equal values: %+v", r)
	}
}
