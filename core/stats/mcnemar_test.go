package stats

import (
	"math/rand/v2"
	"testing"
)

// By hand: shares of 0.25 and 0.10 of pairs differ one way and the other, so ψ = 0.35 and δ = 0.15:
// (1.960·√0.35 + 0.8416·√(0.35−0.0225))² / 0.0225 = 119.7.
func TestMcNemarSize(t *testing.T) {
	if n := McNemarSize(0.35, 0.15); n != 120 {
		t.Errorf("%d, want 120", n)
	}
	if a, b := McNemarSize(0.35, -0.15), McNemarSize(0.35, 0); a != 120 || b != 0 {
		t.Errorf("%d and %d", a, b)
	}
	const runs = 2000
	chance, n, shown := rand.New(rand.NewPCG(1, 1)), McNemarSize(0.35, 0.15), 0
	for range runs {
		b, c := 0, 0
		for range n {
			switch u := chance.Float64(); {
			case u < 0.25:
				b++
			case u < 0.35:
				c++
			}
		}
		if McNemar(b, c) < 0.05 {
			shown++
		}
	}
	if power := float64(shown) / runs; power < 0.7 || power > 0.85 {
		t.Errorf("the exact test has a power of %.3f with so many pairs", power)
	}
}
