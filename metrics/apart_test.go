package metrics_test

import (
	"math/rand/v2"
	"testing"

	"synod.dev/synod/metrics"
)

// Newcombe (1998), Statist. Med. 17, 873–890, Table II, method 10: 56/70 − 48/80
// is 0.2000 (0.0524 to 0.3339), and 9/10 − 3/10 is 0.6000 (0.1705 to 0.8090).
func TestApartIsNewcombe(t *testing.T) {
	near(t, "a", metrics.Apart(metrics.Wilson(56, 70), metrics.Wilson(48, 80)), 0.2, 0.0524, 0.3339, 70)
	near(t, "b", metrics.Apart(metrics.Wilson(9, 10), metrics.Wilson(3, 10)), 0.6, 0.1705, 0.8090, 10)
	if metrics.Apart(nil, metrics.Wilson(1, 2)) != nil || metrics.Apart(metrics.Wilson(1, 2), nil) != nil {
		t.Error("no data must give no difference")
	}
}

// A published share has Wilson's interval, and a published difference one that
// covers what two such samples differ by nineteen times of twenty.
func TestPublished(t *testing.T) {
	want := metrics.Wilson(27, 30)
	near(t, "share", metrics.Published(0.9, 30, false), want.Value, want.Low, want.High, 30)
	if metrics.Published(0.9, 0, false) != nil {
		t.Error("no questions must give no figure")
	}
	chance := rand.New(rand.NewPCG(1, 1))
	const n, trials = 30, 4000
	covered := 0
	for range trials {
		k := 0
		for range n {
			k += bit(chance.Float64() < 0.6) - bit(chance.Float64() < 0.5)
		}
		r := metrics.Published(float64(k)/n, n, true)
		covered += bit(r.Low <= 0.1 && 0.1 <= r.High)
	}
	if share := float64(covered) / trials; share < 0.93 {
		t.Errorf("the interval covers the truth in %.3f of trials", share)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
