package sac

import (
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol/check"
)

// mostNodes bounds the graphs of which all are tried: 1,098 with 2 to 5 nodes.
const mostNodes = 5

// smallCases are the claims of which all cases up to a size are tried.
var smallCases = []check.Trial{
	{Claim: check.Claim{ID: "F1", Property: "all graphs with at most 5 members: a reliable member retains no answer " +
		"that " +
		"it scores below the lowest-scored reliable one", Model: check.Local, Source: "SAC Property 4.2",
		Margin: "ranks above the lowest reliable one"}, Cases: smallGraphs,
		Try: everyRank(false)},
	{Claim: check.Claim{ID: "F3", Property: "all graphs with at most 5 members: silence uses up the budget F, so " +
		"that some " +
		"neighbour is always retained, and Property 4.2 holds", Model: check.Local, Source: "SAC Eq. 4, finding F3",
		Margin: "retained neighbours beyond the first"}, Cases: smallGraphs,
		Try: everyRank(true)},
	{Claim: check.Claim{ID: "F2", Property: "all graphs with at most 5 members and all removals of up to F links of " +
		"each: " +
		"the retained links have a rooted out-branching, and with r >= 2F+1 those between reliable members have one",
		Model: check.Local, Source: "SAC Property 4.3, finding F2"}, Cases: smallGraphs,
		Try: everyRemoval},
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

// allOrders returns the weak orders of 1 to mostNodes elements.
func allOrders() (all [mostNodes + 1][][]synod.Score) {
	for m := 1; m <= mostNodes; m++ {
		all[m] = weakOrders(m)
	}
	return all
}

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

// everyRank tries every F below r, every F-local set and every weak order of scores at every reliable member of a
// small graph. With quiet the Byzantine neighbours of some of the cases say nothing.
func everyRank(quiet bool) func(t *check.Tried) {
	return func(t *check.Tried) {
		g, c := smallGraph(t.Number), filterCases{t, New(), allOrders(), quiet}
		r := robustness.Find(g, nil).R
		for f := range r {
			for set := range 1 << g.N() {
				if !local(g, set, f) {
					continue
				}
				for i := range g.N() {
					if set>>i&1 == 0 {
						c.try(g, f, set, i)
					}
				}
			}
		}
	}
}

// filterCases are cases of the filter.
type filterCases struct {
	*check.Tried
	p      *SAC
	orders [mostNodes + 1][][]synod.Score
	quiet  bool
}

// try tries every weak order of the scores that member i gives its neighbours and itself.
func (c *filterCases) try(g graph.Graph, f, set, i int) {
	var heard []int
	silent := 0
	for _, j := range g.In(i) {
		if c.quiet && set>>j&1 == 1 {
			silent++
			continue
		}
		heard = append(heard, j)
	}
	if c.quiet && silent == 0 {
		return
	}
	for _, rank := range c.orders[len(heard)+1] {
		self := rank[len(heard)]
		low := self
		for k, j := range heard {
			if set>>j&1 == 0 {
				low = min(low, rank[k])
			}
		}
		kept := c.p.Filter(f, self, rank[:len(heard)], silent)
		holds := len(kept) > 0
		for _, k := range kept {
			holds = holds && rank[k] >= low
			if !c.quiet {
				c.Spare(float64(rank[k] - low))
			}
		}
		if c.quiet {
			c.Spare(float64(len(kept) - 1))
		}
		c.Check(holds, "edges %v, F=%d, Byzantine %b, %d silent: member %d with ranks %v retains %v", g.Edges(), f, set,
			silent, i, rank, kept)
	}
}

// everyRemoval removes up to F links into each member of a small graph, in every way up to 20,000 ways.
func everyRemoval(t *check.Tried) {
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
				way = t.Rand.IntN(ways)
			}
			kept, rest := make([]int, n), way
			for i := range kept {
				kept[i] = choices[i][rest%len(choices[i])]
				rest /= len(choices[i])
			}
			t.Check(rooted(kept, 1<<n-1), "edges %v, F=%d: the retained links %b have no root", g.Edges(), f, kept)
			if r < 2*f+1 {
				continue
			}
			for set := range 1 << n {
				if reliable := 1<<n - 1 - set; reliable != 0 && local(g, set, f) {
					t.Check(rooted(kept, reliable), "edges %v, F=%d, Byzantine %b: the retained links %b have no "+
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
