package campaign

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/cpwbft"
)

// ordinary returns the subject of a protocol whose members exchange answers and that promises nothing more.
func ordinary(name string, share float64, params ...string) *subject {
	return &subject{
		name: name, exchanges: true, share: share,
		claims: slices.Concat(common, answering),
		states: []string{"answer own", "answer absent"},
		setup: func(c chance, x *Execution) {
			x.N = 4 + c.IntN(4)
			x.F = 1 + c.IntN((x.N-1)/2)
			x.Params = params[c.IntN(len(params))]
		},
		horizon: func(*Execution) synod.Tick { return 10 },
		build:   ofCatalogue(name),
		check:   func(*trace) {},
	}
}

// staged is ordinary for a protocol whose members do not exchange answers in rounds.
func staged(name string, share float64, form synod.Form, params ...string) *subject {
	s := ordinary(name, share, params...)
	s.exchanges, s.form, s.claims, s.states = false, form, common, []string{"answers", "no answer"}
	s.horizon = func(*Execution) synod.Tick { return 60 }
	s.check = func(t *trace) {
		for i := range t.notes {
			if o := t.last(i); o != nil {
				t.state("answers", o.Answer != synod.None)
				t.state("no answer", o.Answer == synod.None)
			}
		}
	}
	return s
}

// singleSubject asks one seat, which has nothing to go on with after its only call.
var singleSubject = func() *subject {
	s := ordinary("single", 3, "{}")
	s.claims = slices.DeleteFunc(s.claims, func(c Claim) bool { return c.ID == claimReplay })
	return s
}()

var (
	cascadeSubject = staged("cascade", 6, synod.Number, "{prices: []}", "{rounds: 1}")
	panelSubject   = staged("panel", 0.2, synod.Prose, "{}", "{claims: true}")
)

var cpwbftSubject = &subject{
	name: "cp-wbft", exchanges: true, share: 12,
	claims: append([]Claim{
		{ID: "I-CP-1", Property: "the decision is that of Eq. 4: the answer with the highest mean confidence",
			Model:  Any,
			Source: "CP-WBFT Eq. 4"},
		{ID: "I-CP-2", Property: "every confidence that a member goes by is in [0,1]", Model: Any, Source: "CP-WBFT §4",
			Margin: "distance from 0 or 1"},
		{ID: "I-CP-3", Property: "the order of members changes nothing in the decision", Model: Any, Source: "own"},
	}, slices.Concat(common, answering)...),
	states: []string{"answer own", "answer kept", "answer adopted", "answer absent", "tie of means", "no confidence"},
	setup: func(c chance, x *Execution) {
		x.N = 4 + c.IntN(4)
		x.F = 1 + c.IntN((x.N-1)/2)
		x.Params = []string{"{}", "{rounds: 2}", "{adopt: pooled}", "{weigh: reference}",
			"{probe: none, adopt: majority}",
			"{rounds: 2, reflect: true}"}[c.IntN(6)]
	},
	horizon: func(*Execution) synod.Tick { return 20 },
	build:   ofCatalogue("cp-wbft"),
	check:   checkCPWBFT,
}

// checkCPWBFT compares stage 2 with Eq. 4, by the letter, in exact fractions.
func checkCPWBFT(t *trace) {
	p := t.protocol.(*cpwbft.CPWBFT)
	var last []synod.Opinion
	for i := range t.notes {
		if o := t.last(i); o != nil {
			last = append(last, *o)
		}
		for _, n := range t.notes[i] {
			if t.honest(synod.NodeID(i)) && n.Confidence != nil {
				c := *n.Confidence
				t.claim("I-CP-2", c >= 0 && c <= 1, "n%d has the confidence %v", i, c)
				t.margin("I-CP-2", min(c, 1-c))
			}
			t.state("no confidence", n.Confidence == nil && n.Answer != synod.None)
		}
	}
	got := p.Conclude(last)
	want, tie := equation4(last, p.Weigh == cpwbft.Half)
	t.claim("I-CP-1", got == want, "it decides %q, and Eq. 4 gives %q: %v", got, want, last)
	t.state("tie of means", tie)
	shuffled := slices.Clone(last)
	rand.New(rand.NewPCG(t.x.Seed, 4)).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	t.claim("I-CP-3", p.Conclude(shuffled) == got, "another order decides %q and not %q", p.Conclude(shuffled), got)
}

// equation4 is Eq. 4 of CP-WBFT: the answer with the highest mean confidence; of equal ones that with more supporters,
// then the first in bytes. half leaves out those below 0.5 where any is at least 0.5. tie reports that means were
// equal.
func equation4(last []synod.Opinion, half bool) (best synod.Answer, tie bool) {
	type camp struct {
		sum *big.Rat
		n   int64
	}
	confidence := func(o *synod.Opinion) float64 {
		if o.Confidence == nil {
			return 0
		}
		return *o.Confidence
	}
	sure := half && slices.ContainsFunc(last, func(o synod.Opinion) bool {
		return o.Answer != synod.None && confidence(&o) >= .5
	})
	camps := map[synod.Answer]*camp{}
	for i := range last {
		o := &last[i]
		c := confidence(o)
		if o.Answer == synod.None || !(c >= 0 && c <= 1) || sure && c < .5 {
			continue
		}
		if camps[o.Answer] == nil {
			camps[o.Answer] = &camp{sum: new(big.Rat)}
		}
		nine, _ := new(big.Rat).SetString(fmt.Sprintf("%.9f", c)) // confidences count to nine decimals
		camps[o.Answer].sum.Add(camps[o.Answer].sum, nine)
		camps[o.Answer].n++
	}
	mean := func(c *camp) *big.Rat { return new(big.Rat).Quo(c.sum, big.NewRat(c.n, 1)) }
	for a, c := range camps {
		if best == synod.None {
			best = a
			continue
		}
		top := camps[best]
		order := mean(c).Cmp(mean(top))
		if cmp.Or(order, cmp.Compare(c.n, top.n), cmp.Compare(best, a)) > 0 {
			best = a
		}
	}
	for a, c := range camps {
		tie = tie || a != best && mean(c).Cmp(mean(camps[best])) == 0
	}
	return best, tie
}

var wmsrSubject = &subject{
	name: "w-msr", exchanges: true, share: 8,
	claims: append([]Claim{
		{ID: "LB-5", Property: "honest numbers stay between the smallest and the largest first number of honest " +
			"members",
			Model: Local, Source: "LeBlanc et al. 2013, Lemma 1", Margin: "distance from the end of the range"},
	}, slices.Concat(common, answering)...),
	states: []string{"answer own", "answer absent", "answer new", "dropped one", "silent neighbour", "numbers meet"},
	setup: func(c chance, x *Execution) {
		x.N = 4 + c.IntN(4)
		x.Params = fmt.Sprintf("{rounds: %d, decimals: %d, window: %d}", 1+c.IntN(4), c.IntN(4), 1+c.IntN(2))
		drawGraph(c, x)
	},
	horizon: func(*Execution) synod.Tick { return 30 },
	build:   ofCatalogue("w-msr"),
	check:   checkWMSR,
}

// checkWMSR checks validity: it needs no synchrony, and no robustness of the graph.
func checkWMSR(t *trace) {
	if t.x.Above {
		return
	}
	var low, high *big.Rat
	for _, a := range t.replies {
		x := numberOf(a)
		if low == nil || x.Cmp(low) < 0 {
			low = x
		}
		if high == nil || x.Cmp(high) > 0 {
			high = x
		}
	}
	least, meet := new(big.Rat), low != nil
	for i := range t.notes {
		if !t.honest(synod.NodeID(i)) {
			continue
		}
		for _, n := range t.notes[i] {
			t.state("dropped one", len(n.Dropped) > 0)
			t.state("silent neighbour", len(n.Silent) > 0)
			x := numberOf(n.Answer)
			if x == nil || low == nil {
				continue
			}
			t.claim("LB-5", x.Cmp(low) >= 0 && x.Cmp(high) <= 0, "n%d holds %s in round %d, outside of [%s, %s]", i,
				n.Answer,
				n.Round, low.RatString(), high.RatString())
			inside, _ := least.Sub(x, low).Float64()
			above, _ := least.Sub(high, x).Float64()
			t.margin("LB-5", min(inside, above))
		}
		if o := t.last(i); meet && o != nil {
			meet = numberOf(o.Answer) != nil && t.last(i).Answer == t.lastHonest()
		}
	}
	t.state("numbers meet", meet)
}

// lastHonest returns the last answer of the first honest member.
func (t *trace) lastHonest() synod.Answer {
	for i := range t.notes {
		if o := t.last(i); o != nil && t.honest(synod.NodeID(i)) {
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
