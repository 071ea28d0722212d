package campaign

import (
	"math"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/protocol/cpwbft"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/protocol/sac"
)

// mostNodes bounds the graphs of which all are tried: 1,098 with 2 to 5 nodes.
const mostNodes = 5

var smallScope = []Trial{
	{Claim: Claim{ID: "F1", Property: "all graphs with at most 5 members: a reliable member retains no answer that " +
		"it scores below the lowest-scored reliable one", Model: Local, Source: "SAC Property 4.2",
		Margin: "ranks above the lowest reliable one", Protocols: []string{"sac"}}, Cases: smallGraphs,
		try: everyOrder(false)},
	{Claim: Claim{ID: "F3", Property: "all graphs with at most 5 members: silence uses up the budget F, so that some " +
		"neighbour is always retained, and Property 4.2 holds", Model: Local, Source: "SAC Eq. 4, finding F3",
		Margin: "retained neighbours beyond the first", Protocols: []string{"sac"}}, Cases: smallGraphs,
		try: everyOrder(true)},
	{Claim: Claim{ID: "F2", Property: "all graphs with at most 5 members and all removals of up to F links of each: " +
		"the retained links have a rooted out-branching, and with r >= 2F+1 those between reliable members have one",
		Model: Local, Source: "SAC Property 4.3, finding F2", Protocols: []string{"sac"}}, Cases: smallGraphs,
		try: everyRemoval},
}

// smallGraphs is the number of undirected graphs with 2 to mostNodes labelled nodes.
const smallGraphs = 1<<1 + 1<<3 + 1<<6 + 1<<10

// smallGraph returns one of them.
func smallGraph(number uint64) graph.Graph {
	n := 2
	for bits := n * (n - 1) / 2; number >= 1<<bits; bits = n * (n - 1) / 2 {
		number -= 1 << bits
		n++
	}
	var edges [][2]int
	for i := range n {
		for j := i + 1; j < n; j++ {
			if number&1 == 1 {
				edges = append(edges, [2]int{i, j})
			}
			number >>= 1
		}
	}
	return graph.MustNew(n, false, edges)
}

// local reports whether a set of members has at most f of each member's neighbours (L(F)).
func local(g graph.Graph, set, f int) bool {
	for i := range g.N() {
		n := 0
		for _, j := range g.In(i) {
			n += set >> j & 1
		}
		if n > f {
			return false
		}
	}
	return true
}

// orders has the weak orders of 1 to mostNodes elements.
var orders = sync.OnceValue(func() (all [mostNodes + 1][][]synod.Score) {
	for m := 1; m <= mostNodes; m++ {
		all[m] = weakOrders(m)
	}
	return all
})

// weakOrders returns all weak orders of m elements as ranks: each rank below the highest is in use.
func weakOrders(m int) (all [][]synod.Score) {
	rank := make([]synod.Score, m)
	for code := range int(math.Pow(float64(m), float64(m))) {
		used := 0
		for k := range rank {
			rank[k] = synod.Score(code % m)
			used |= 1 << (code % m)
			code /= m
		}
		if used&(used+1) == 0 {
			all = append(all, slices.Clone(rank))
		}
	}
	return all
}

// everyOrder tries every F below r, every F-local set and every weak order of scores at every reliable member of a
// small graph. With quiet the Byzantine neighbours of some of the cases say nothing.
func everyOrder(quiet bool) func(t *Tried) {
	return func(t *Tried) {
		g, p := smallGraph(t.Number), sac.New()
		r := robustness.Find(g, nil).R
		for f := range r {
			for set := range 1 << g.N() {
				if !local(g, set, f) {
					continue
				}
				for i := range g.N() {
					if set>>i&1 == 0 {
						t.orders(p, g, f, set, i, quiet)
					}
				}
			}
		}
	}
}

// orders tries every weak order of the scores that member i gives its neighbours and itself.
func (t *Tried) orders(p *sac.SAC, g graph.Graph, f, set, i int, quiet bool) {
	var heard []int
	silent := 0
	for _, j := range g.In(i) {
		if quiet && set>>j&1 == 1 {
			silent++
			continue
		}
		heard = append(heard, j)
	}
	if quiet && silent == 0 {
		return
	}
	for _, rank := range orders()[len(heard)+1] {
		self := rank[len(heard)]
		low := self
		for k, j := range heard {
			if set>>j&1 == 0 {
				low = min(low, rank[k])
			}
		}
		kept := p.Filter(f, self, rank[:len(heard)], silent)
		holds := len(kept) > 0
		for _, k := range kept {
			holds = holds && rank[k] >= low
			if !quiet {
				t.margin(float64(rank[k] - low))
			}
		}
		if quiet {
			t.margin(float64(len(kept) - 1))
		}
		t.check(holds, "edges %v, F=%d, Byzantine %b, %d silent: member %d with ranks %v retains %v", g.Edges(), f, set,
			silent, i, rank, kept)
	}
}

// everyRemoval removes up to F links into each member of a small graph, in every way up to 20,000 ways.
func everyRemoval(t *Tried) {
	g := smallGraph(t.Number)
	n, r := g.N(), robustness.Find(g, nil).R
	for f := 1; f < r; f++ {
		choices := make([][]int, n) // of each member: the sets of neighbours that it may retain
		ways := 1
		for i := range n {
			choices[i] = retainable(g, i, f)
			ways *= len(choices[i])
		}
		for way := range min(ways, 20_000) {
			if ways > 20_000 {
				way = t.rand.IntN(ways)
			}
			kept, rest := make([]int, n), way
			for i := range kept {
				kept[i] = choices[i][rest%len(choices[i])]
				rest /= len(choices[i])
			}
			t.check(rooted(kept, 1<<n-1), "edges %v, F=%d: the retained links %b have no root", g.Edges(), f, kept)
			if r < 2*f+1 {
				continue
			}
			for set := range 1 << n {
				if reliable := 1<<n - 1 - set; reliable != 0 && local(g, set, f) {
					t.check(rooted(kept, reliable), "edges %v, F=%d, Byzantine %b: the retained links %b have no "+
						"root among "+
						"reliable members", g.Edges(), f, set, kept)
				}
			}
		}
	}
}

// retainable returns the sets of neighbours that are left when at most f are removed.
func retainable(g graph.Graph, i, f int) (sets []int) {
	in := g.In(i)
	for keep := range 1 << len(in) {
		set, removed := 0, 0
		for k, j := range in {
			if keep>>k&1 == 1 {
				set |= 1 << j
			} else {
				removed++
			}
		}
		if removed <= f {
			sets = append(sets, set)
		}
	}
	return sets
}

var ruleTrials = []Trial{
	{Claim: Claim{ID: "QU-1", Property: "two quorums of n >= 3f+1 members share more than f of them, and those that " +
		"are not Byzantine are a quorum", Model: Async, Source: "Castro and Liskov 1999; certificates CE-3b",
		Margin: "members that two quorums share beyond f+1", Protocols: []string{"rotating-leader", "fixed-leader",
			"certificate"}}, Cases: 100, try: quorums},
	{Claim: Claim{ID: "QU-2", Property: "a game stops if and only if three times the votes to stop are at least " +
		"twice the players", Model: Any, Source: "game paper §3 (I-GM-1)", Protocols: []string{"game"}}, Cases: 100,
		try: stops},
	{Claim: Claim{ID: "I-GM-4", Property: "with at most a third of the players Byzantine the honest ones can stop a " +
		"game alone, and with more they cannot", Model: Any, Source: "game paper §3 (I-GM-4)",
		Margin: "thirds of a vote from the threshold", Protocols: []string{"game"}}, Cases: 100, try: stopAlone},
	{Claim: Claim{ID: "I-CP-4", Property: "one member with the confidence 1 takes the decision from any number with " +
		"less: cp-wbft claims nothing, and this says that it is still the protocol of the paper", Model: Sync,
		Source: "CP-WBFT Eq. 4, finding F8", Margin: "honest members beyond the first",
		Protocols: []string{"cp-wbft"}}, try: oneLiar},
	{Claim: Claim{ID: "AG-1", Property: "the median of totals is between the lowest and the highest honest total, " +
		"whatever fewer than half of the evaluators say", Model: Sync, Source: "DecentLLMs §III.C, finding F6",
		Margin: "distance to the nearer end of the honest range", Protocols: []string{"decentllms"}}, try: medians},
	{Claim: Claim{ID: "AG-2", Property: "every aggregate gives the same bits in whatever order evaluations come",
		Model: Any, Source: "finding F5", Protocols: []string{"decentllms"}}, try: orderless},
	{Claim: Claim{ID: "WI-1", Property: "an answer that withstands k changed votes leads whatever any k of the " +
		"voters say instead", Model: Any, Source: "own", Protocols: []string{"majority", "weighted-majority",
		"cascade"}},
		try: withstands},
}

// quorums tries every f for one number of members.
func quorums(t *Tried) {
	n := int(t.Number) + 1
	for f := 0; 3*f+1 <= n; f++ {
		q := int(roster.Quorum(uint64(n), uint64(f)))
		shared := 2*q - n
		t.margin(float64(shared - f - 1))
		t.check(shared > f && q <= n-f, "n=%d f=%d: quorums of %d share %d members", n, f, q, shared)
	}
}

func stops(t *Tried) {
	n, g := int(t.Number)+1, game.New()
	for votes := range n + 1 {
		want := float64(votes)/float64(n) >= 2./3-1e-12
		t.check(g.Stops(votes, n) == want, "%d of %d votes: stops is %v", votes, n, g.Stops(votes, n))
	}
}

// stopAlone tries every number of Byzantine players among one number of players.
func stopAlone(t *Tried) {
	n, g := int(t.Number)+1, game.New()
	for b := range n {
		t.check(g.Stops(n-b, n) == (b <= n/3), "%d honest players of %d vote to stop: stops is %v", n-b, n,
			g.Stops(n-b, n))
		t.margin(math.Abs(float64(3*(n-b) - 2*n)))
	}
}

// oneLiar lets one member be surer of another answer than all others are of theirs.
func oneLiar(t *Tried) {
	n := 2 + t.rand.IntN(12)
	last := make([]synod.Opinion, n)
	for i := range last {
		sure := float64(t.rand.IntN(1000)) / 1000
		last[i] = synod.Opinion{Answer: "true", Source: synod.Own, Confidence: &sure}
	}
	at := t.rand.IntN(n)
	all := 1.0
	last[at].Answer, last[at].Confidence = "false", &all
	for _, weigh := range []cpwbft.Weigh{cpwbft.Everyone, cpwbft.Half} {
		p := cpwbft.New()
		p.Weigh = weigh
		got := p.Conclude(last)
		t.check(got == "false", "%d members with less than 1 and one with 1 decide %q", n-1, got)
	}
	t.margin(float64(n - 2))
}

// vectors draws evaluations: most of them near a centre, and some anywhere.
func (t *Tried) vectors(n, wild int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, 5)
		for k := range all[i] {
			all[i][k] = float64(t.rand.IntN(5) + 10)
			if i < wild {
				all[i][k] = float64(t.rand.IntN(2) * 20)
			}
		}
	}
	return all
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func medians(t *Tried) {
	a, err := robust.Catalogue.Find("median-total")
	if !t.need(err) {
		return
	}
	n := 1 + t.rand.IntN(15)
	f := t.rand.IntN((n + 1) / 2)
	all := t.vectors(n, f)
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range all[f:] {
		low, high = min(low, total(v)), max(high, total(v))
	}
	var w robust.Workspace
	r, err := a.Of(&w, all, f)
	if t.need(err) {
		t.margin(min(r.Total-low, high-r.Total))
		t.check(r.Total >= low && r.Total <= high, "%v with %d Byzantine first: %v is outside of %v to %v", all, f,
			r.Total,
			low, high)
	}
}

// orderless compares the results for one set of evaluations in two orders.
func orderless(t *Tried) {
	n := 7 + t.rand.IntN(9)
	all := t.vectors(n, n/4)
	other := slices.Clone(all)
	t.rand.Shuffle(n, func(i, j int) { other[i], other[j] = other[j], other[i] })
	for _, name := range robust.Catalogue.Names() {
		a, err := robust.Catalogue.Find(name)
		f := 0
		if err == nil {
			f = max(0, min(a.Bound(n), n/4))
		}
		var v, w robust.Workspace
		r, err1 := a.Of(&v, all, f)
		s, err2 := a.Of(&w, other, f)
		if !t.need(err) || !t.need(err1) || !t.need(err2) {
			return
		}
		same := math.Float64bits(r.Total) == math.Float64bits(s.Total) && slices.EqualFunc(r.Vector, s.Vector,
			func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
		t.check(same, "%s of %v is %v, and in another order %v", name, all, r, s)
	}
}

// withstands changes as many votes as the winner is said to withstand, in every way.
func withstands(t *Tried) {
	answers := []synod.Answer{"a", "b", "c", synod.None}
	voices := make([]robust.Voice, 3+t.rand.IntN(4))
	for i := range voices {
		voices[i] = robust.Voice{Answer: answers[t.rand.IntN(len(answers))], Weight: int64(1 + t.rand.IntN(3))}
		if t.rand.IntN(2) == 0 {
			voices[i].Answer = "a"
		}
	}
	w, wins := robust.Withstands(robust.VoteRule{Name: "plurality"}, voices, "a")
	t.check(wins == leads(voices), "%v: the answer a wins is %v", voices, wins)
	if !wins {
		return
	}
	t.margin(float64(w.Changed))
	var change func(from, left int)
	change = func(from, left int) {
		t.check(leads(voices), "%v, after at most %d changes: the answer a does not lead", voices, w.Changed)
		for i := from; left > 0 && i < len(voices); i++ {
			was := voices[i].Answer
			for _, a := range answers[1:] {
				voices[i].Answer = a
				change(i+1, left-1)
			}
			voices[i].Answer = was
		}
	}
	change(0, w.Changed)
}

// leads reports whether the answer a has more weight than every other.
func leads(voices []robust.Voice) bool {
	weights := map[synod.Answer]int64{}
	for _, v := range voices {
		weights[v.Answer] += v.Weight
	}
	delete(weights, synod.None)
	for a, w := range weights {
		if a != "a" && w >= weights["a"] {
			return false
		}
	}
	return weights["a"] > 0
}
