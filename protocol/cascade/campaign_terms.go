package cascade

import (
	"fmt"
	"math"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// tryTerms checks which bounds and lists of seats a council accepts, and its number of calls.
func tryTerms(t *check.Tried) {
	p, n, f := New(), 1+t.Rand.IntN(8), t.Rand.IntN(5)
	p.Rounds = t.Rand.IntN(3)
	number := func(least float64) float64 {
		return check.Among(t, .5, .5, 1, 1, 3, 3, least, least, -1, math.Inf(1), math.NaN())
	}
	fits := true
	if t.Rand.IntN(2) == 0 {
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = number(0)
			fits = fits && weights[i] >= 0 && weights[i] <= math.MaxFloat64
		}
		p.Weights = map[string][]float64{string(synod.Number): weights}
	}
	if t.Rand.IntN(2) == 0 {
		for range n {
			price := number(0)
			p.Prices, fits = append(p.Prices, price), fits && price > 0 && price <= math.MaxFloat64
		}
	}
	t.Check((p.Validate() == nil) == fits, "weights %v, prices %v: %v", p.Weights, p.Prices, p.Validate())
	if len(p.Prices) > 1 && t.Rand.IntN(8) == 0 {
		p.Prices, fits = p.Prices[1:], false
	}
	if t.Rand.IntN(2) == 0 {
		a, b := t.Rand.IntN(n+2)-1, t.Rand.IntN(n+2)-1
		p.Together = [][2]synod.NodeID{{synod.NodeID(a), synod.NodeID(b)}}
		fits = fits && min(a, b) >= 0 && max(a, b) < n && a != b
	}
	if p.Validate() == nil {
		t.Tolerates(p.CheckCast(make([]synod.Role, n), f), f, (n-1)/2, fits)
	}
	name, note := p.Guarantee(f, 0, true)
	t.Says(name, note, Supported, fmt.Sprintf("F=%d ", f))
	t.Check(p.Calls(make([]int, n)) == n+p.sac().MaxContest(n), "%d members: at most %d calls", n,
		p.Calls(make([]int, n)))
	p.Tiers = [][]synod.NodeID{{0}}
	t.Check(p.Calls(make([]int, n)) == n, "%d members in tiers: at most %d calls", n, p.Calls(make([]int, n)))
}
