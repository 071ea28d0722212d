package cascade

import (
	"fmt"
	"math"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// tryTerms checks which bounds and lists of seats a council accepts, and its number of calls.
func tryTerms(t *check.Tried) {
	tryTiers(t)
	p, n, f := New(), 1+t.Rand.IntN(8), t.Rand.IntN(5)
	p.Rounds = t.Rand.IntN(3)
	number := func() float64 {
		return check.Among(t, .5, .5, 1, 1, 3, 3, 0, 0, -1, math.Inf(1), math.NaN())
	}
	fits := true
	if t.Rand.IntN(2) == 0 {
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = number()
			fits = fits && weights[i] >= 0 && weights[i] <= math.MaxFloat64
		}
		p.Weights = map[string][]float64{string(synod.Number): weights}
	}
	if t.Rand.IntN(2) == 0 {
		for range n {
			price := number()
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

// tryTiers checks which tiers a council accepts: those that have each seat once. What needs them is refused without.
func tryTiers(t *check.Tried) {
	p, n := New(), 1+t.Rand.IntN(6)
	p.Stop, p.Race = check.Among(t, Certain, Probable), t.Rand.IntN(2) == 0
	p.AtLeast, p.Probe = check.Among(t, 0, .5), check.Among(t, answer.NoProbe, answer.LikelihoodProbe)
	t.Check((p.Validate() == nil) == (!p.Race && p.AtLeast == 0 && p.Probe == answer.NoProbe),
		"without tiers: race %v, at_least %v, probe %s: %v", p.Race, p.AtLeast, p.Probe, p.Validate())
	times, fits := map[int]int{}, true
	for seats := t.Rand.Perm(n); len(seats) > 0; {
		k := min(len(seats), check.Among(t, 0, 1, 1, 1, 2, 2, 3, 3))
		var tier []synod.NodeID
		for _, s := range seats[:k] {
			s = check.Among(t, s, s, s, s, s, s, s, t.Rand.IntN(n+2)-1) // mostly what it is
			tier = append(tier, synod.NodeID(s))
			times[s]++
		}
		p.Tiers, seats, fits = append(p.Tiers, tier), seats[k:], fits && k > 0
	}
	t.Check((p.Validate() == nil) == (p.Stop == Probable), "tiers with stop: %s: %v", p.Stop, p.Validate())
	for i := range n {
		fits = fits && times[i] == 1
	}
	t.Check((p.CheckCast(make([]synod.Role, n), 0) == nil) == (fits && len(times) == n), "%d seats in the tiers %v: %v",
		n, p.Tiers, p.CheckCast(make([]synod.Role, n), 0))
}
