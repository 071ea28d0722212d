package wmsr

import (
	"fmt"
	"math/big"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = check.Subject{
	Place: 8, Exchanges: true, Share: 8,
	Claims: []check.Claim{
		{ID: "LB-5", Property: "honest numbers stay between the smallest and the largest first number of honest " +
			"members",
			Model: check.Local, Source: "LeBlanc et al. 2013, Lemma 1", Margin: "distance from the end of the range"},
	},
	States: []string{"answer own", "answer absent", "answer new", "dropped one", "silent neighbour", "numbers meet"},
	Setup: func(c check.Chance, x *check.Case) {
		x.N = 4 + c.IntN(4)
		x.Params = fmt.Sprintf("{rounds: %d, decimals: %d, window: %d}", 1+c.IntN(4), c.IntN(4), 1+c.IntN(2))
		c.DrawGraph(x)
	},
	Horizon: func(*check.Case) synod.Tick { return 30 },
	Check:   func(t *check.Trace) { checkRange(t); checkSteps(t) }, Watch: check.KeepDiary,
}.Deciding("I-WR-D", "the number that each member holds after a round, and the one that enough end on",
	"LeBlanc et al. 2013", nil).Saying("I-WR-T", "LeBlanc et al. 2013", tryTerms)

// checkRange checks validity: it needs no synchrony, and no robustness of the graph.
func checkRange(t *check.Trace) {
	if t.Above {
		return
	}
	var low, high *big.Rat
	for _, a := range t.Replies {
		x := numberOf(a)
		if low == nil || x.Cmp(low) < 0 {
			low = x
		}
		if high == nil || x.Cmp(high) > 0 {
			high = x
		}
	}
	least, meet := new(big.Rat), low != nil
	for i := range t.Notes {
		if !t.Honest(synod.NodeID(i)) {
			continue
		}
		for _, n := range t.Notes[i] {
			t.State("dropped one", len(n.Dropped) > 0)
			t.State("silent neighbour", len(n.Silent) > 0)
			x := numberOf(n.Answer)
			if x == nil || low == nil {
				continue
			}
			t.Claim("LB-5", x.Cmp(low) >= 0 && x.Cmp(high) <= 0, "n%d holds %s in round %d, outside of [%s, %s]", i,
				n.Answer,
				n.Round, low.RatString(), high.RatString())
			inside, _ := least.Sub(x, low).Float64()
			above, _ := least.Sub(high, x).Float64()
			t.Margin("LB-5", min(inside, above))
		}
		if o := t.Last(i); meet && o != nil {
			meet = numberOf(o.Answer) != nil && t.Last(i).Answer == lastHonest(t)
		}
	}
	t.State("numbers meet", meet)
}

// checkSteps compares the rounds of each member that began with a number with the reference, from what it heard.
func checkSteps(t *check.Trace) {
	p := t.Protocol.(*WMSR)
	for i, notes := range t.Notes {
		if !t.Plain(synod.NodeID(i)) || len(notes) == 0 || numberOf(notes[0].Answer) == nil {
			continue
		}
		again := reference.NewWMSR(t.Case.F, p.Decimals, numberOf(notes[0].Answer))
		for k := 1; k < len(notes); k++ {
			heard, usual := heardNumbers(t, i, k)
			if !usual {
				break
			}
			want, dropped := again.Step(heard)
			got := numberOf(notes[k].Answer)
			t.Claim("I-WR-D", got != nil && got.Cmp(want) == 0 && len(notes[k].Dropped) == dropped,
				"n%d holds %s after round %d and dropped %v; the reference holds %s and dropped %d of %v", i,
				notes[k].Answer, k, notes[k].Dropped, want.RatString(), dropped, heard)
		}
	}
}

// heardNumbers returns the last number of each neighbour that a member heard in the rounds of the window, for its note
// number k. It is not usual if one is too long to be sent on.
func heardNumbers(t *check.Trace, seat, k int) (all []*big.Rat, usual bool) {
	window, last := t.Protocol.(*WMSR).Window, map[synod.NodeID]*big.Rat{}
	for round := max(0, k-window); round < k; round++ {
		from, responses := t.Answers(seat, round, t.Diaries[seat].Noted[round+1].Heard)
		for n, r := range responses {
			if x := numberOf(r.Answer); x != nil {
				last[from[n]] = x
			}
			if len(r.Answer) > 60 {
				return nil, false
			}
		}
	}
	for _, id := range t.Peers[seat] {
		if last[id] != nil {
			all = append(all, last[id])
		}
	}
	return all, true
}

// lastHonest returns the last answer of the first honest member.
func lastHonest(t *check.Trace) synod.Answer {
	for i := range t.Notes {
		if o := t.Last(i); o != nil && t.Honest(synod.NodeID(i)) {
			return o.Answer
		}
	}
	return synod.None
}

func numberOf(a synod.Answer) *big.Rat {
	x, ok := new(big.Rat).SetString(string(a))
	if !ok {
		return nil
	}
	return x
}
