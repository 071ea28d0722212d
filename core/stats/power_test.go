package stats_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"synod.dev/synod/core/stats"
)

var studies = flag.Int("studies", 2000, "synthetic studies of each design; 10000: make coverage")

// near5 fails if a share of studies is five standard errors from the stated one, which happens by chance in less than
// one of a million runs.
func near5(t *testing.T, what string, hits int, want float64) {
	t.Helper()
	share := float64(hits) / float64(*studies)
	t.Logf("| %s | %.1f | %.1f |", what, 100*want, 100*share)
	if math.Abs(share-want) > 5*math.Sqrt(max(want*(1-want), 0.01)/float64(*studies)) {
		t.Errorf("%s: stated power %.4f, achieved %.4f", what, want, share)
	}
}

// The stated power of McNemar's exact test is achieved in drawn studies of the stated size, and one of 80 % needs it.
func TestPairedPower(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		what      string
		lost, won float64
	}{{"paired, 5 points, 10 % differ", 0.025, 0.075}, {"paired, 5 points, 20 % differ", 0.075, 0.125},
		{"paired, 10 points, 30 % differ", 0.1, 0.2}, {"paired, 5 points, 5 % differ", 0, 0.05}} {
		n, ok := stats.PairedSize(c.lost, c.won, 0.05, 0.8)
		power := stats.PairedPower(n, c.lost, c.won, 0.05)
		if !ok || power < 0.8 || stats.PairedPower(n-1, c.lost, c.won, 0.05) >= 0.8 {
			t.Errorf("%s: %d pairs have a power of %.4f", c.what, n, power)
		}
		lost := distuv.Binomial{P: c.lost / (c.lost + c.won), Src: chance}
		hits := 0
		for range *studies {
			changed := int(distuv.Binomial{N: float64(n), P: c.lost + c.won, Src: chance}.Rand())
			lost.N = float64(changed)
			b := int(lost.Rand())
			if stats.McNemar(b, changed-b) <= 0.05 {
				hits++
			}
		}
		near5(t, c.what, hits, power)
	}
}

// The same for two shares of different questions.
func TestUnpairedPower(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 1))
	for _, c := range []struct {
		what string
		p, q float64
	}{{"unpaired, 70 and 75 %", 0.7, 0.75}, {"unpaired, 50 and 60 %", 0.5, 0.6}, {"unpaired, 90 and 95 %", 0.9, 0.95}} {
		n, ok := stats.UnpairedSize(c.p, c.q, 0.05, 0.8)
		power := stats.UnpairedPower(n, c.p, c.q, 0.05)
		if !ok || power < 0.8 || power > 0.82 {
			t.Errorf("%s: %d questions each have a power of %.4f", c.what, n, power)
		}
		hits, size := 0, float64(n)
		for range *studies {
			a := distuv.Binomial{N: size, P: c.p, Src: chance}.Rand() / size
			b := distuv.Binomial{N: size, P: c.q, Src: chance}.Rand() / size
			mean := (a + b) / 2
			if math.Abs(a-b) > stats.Z*math.Sqrt(2*mean*(1-mean)/size) {
				hits++
			}
		}
		near5(t, c.what, hits, power)
	}
}

// Without a difference a test rejects no more often than its level, and n that is too large is told.
func TestPowerAtItsEnds(t *testing.T) {
	if p := stats.PairedPower(500, 0.1, 0.1, 0.05); p > 0.05 || p < 0.02 {
		t.Errorf("McNemar's test rejects equal shares in %.4f of studies", p)
	}
	if p := stats.PairedPower(500, 0, 0, 0.05); p != 0 {
		t.Errorf("nothing changes, and it rejects in %v", p)
	}
	if _, ok := stats.PairedSize(0.25, 0.2501, 0.05, 0.8); ok {
		t.Error("a hundredth of a point is shown by a million questions")
	}
	d, ok := stats.Detectable(0.8, 0.8, func(d float64) float64 { return stats.PairedPower(120, 0.1, 0.1+d, 0.05) })
	if !ok || math.Abs(stats.PairedPower(120, 0.1, 0.1+d, 0.05)-0.8) > 0.01 {
		t.Errorf("%v %v", d, ok)
	}
}

// Of signs that are chosen in all possible ways, the share whose sum is as far from 0, by listing all.
func TestPairedPermutation(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 1))
	for range 300 {
		d := make([]int, chance.IntN(11))
		sum := 0
		for i := range d {
			d[i] = chance.IntN(9) - 3
			sum += d[i]
		}
		far := 0
		for signs := range 1 << len(d) {
			s := 0
			for i, v := range d {
				s += v * (1 - 2*(signs>>i&1))
			}
			if max(s, -s) >= max(sum, -sum) {
				far++
			}
		}
		if got, want := stats.PairedPermutation(d), float64(far)/float64(int(1)<<len(d)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: %v, by listing %v", d, got, want)
		}
	}
	ones := make([]int, 30)
	for i := range ones {
		ones[i] = 1 - 2*(i%5/4)
	}
	if got, want := stats.PairedPermutation(ones), stats.McNemar(6, 24); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, McNemar %v", got, want)
	}
}
