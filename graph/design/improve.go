package design

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/internal/order"
)

// Improved is a graph made r-robust by adding edges.
type Improved struct {
	Graph   graph.Graph
	Added   [][2]int // the new edges, ascending
	Optimal bool     // fewer additions are proven not to be enough
}

// Improve adds few edges to a graph to make it r-robust, for r from 1 to ⌈n/2⌉ and up to
// robustness.SearchLimit nodes; otherwise it returns an error. It first adds an edge into each pair
// of sets that proves that the graph is not, several times with different random choices, and
// removes the edges not needed. Then it tries every way to do with fewer, up to a limit of 4,000
// decisions. If stop (nil: never) returns true, it returns the best result so far, or ErrStopped.
func Improve(g graph.Graph, r int, seed uint64, stop func() bool) (Improved, error) {
	n := g.N()
	if r < 1 || r > (n+1)/2 {
		return Improved{}, fmt.Errorf("graph: cannot make a graph of %d nodes %d-robust: want 1 to ⌈n/2⌉ = %d", n, r,
			(n+1)/2)
	}
	if n > robustness.SearchLimit {
		return Improved{}, fmt.Errorf("graph: improve %d nodes: want at most %d, where robustness can be confirmed", n,
			robustness.SearchLimit)
	}
	if stop == nil {
		stop = func() bool { return false }
	}
	m := improver{g: g, r: r, stop: stop, rng: rand.New(rand.NewPCG(seed, 0x696d70726f7665)), budget: 4000}
	var best [][2]int
	for k := 0; k < 12 && (k == 0 || len(best) > 1 && !m.done()); k++ {
		if added, ok := m.greedy(); ok && (k == 0 || len(added) < len(best)) {
			best = added
		} else if k == 0 {
			return Improved{}, ErrStopped
		}
	}
	optimal := true
	for fewer := 0; fewer < len(best); fewer++ {
		added, ok := m.within(nil, fewer)
		if ok {
			best = added
		} else if m.done() {
			optimal = false
			break
		}
	}
	order.Sort(best, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return Improved{m.with(best), best, optimal}, nil
}

type improver struct {
	g      graph.Graph
	r      int
	stop   func() bool
	rng    *rand.Rand
	budget int // decisions left for within
}

func (m *improver) done() bool { return m.budget <= 0 || m.stop() }

func (m *improver) with(added [][2]int) graph.Graph {
	return graph.MustNew(m.g.N(), m.g.Directed(), append(m.g.Edges(), added...))
}

// crossings lists the missing edges that would give a member of a set of the pair an in-neighbour
// outside. Every r-robust supergraph has one of them, because otherwise the pair would still prove
// that it is not.
func crossings(g graph.Graph, pair [2][]int) (all [][2]int) {
	seen := map[[2]int]bool{}
	for _, set := range pair {
		for _, v := range set {
			for u := range g.N() {
				e := [2]int{u, v}
				if !g.Directed() {
					e = [2]int{min(u, v), max(u, v)}
				}
				if !slices.Contains(set, u) && !g.HasEdge(u, v) && !seen[e] {
					seen[e] = true
					all = append(all, e)
				}
			}
		}
	}
	return all
}

// greedy adds random crossings, preferring nodes with few in-neighbours, until the graph is r-robust, then removes the
// edges that are not needed. ok is false if stop has ended it.
func (m *improver) greedy() (added [][2]int, ok bool) {
	for {
		g := m.with(added)
		res := robustness.Decide(g, m.r, m.stop)
		if res.Lower >= m.r {
			break
		}
		if res.Upper >= m.r {
			return nil, false
		}
		choices := crossings(g, res.Witness)
		pick := choices[m.rng.IntN(len(choices))]
		for range 3 {
			other := choices[m.rng.IntN(len(choices))]
			if g.InDegree(other[0])+g.InDegree(other[1]) < g.InDegree(pick[0])+g.InDegree(pick[1]) {
				pick = other
			}
		}
		added = append(added, pick)
	}
	for k := len(added) - 1; k >= 0; k-- {
		fewer := slices.Delete(slices.Clone(added), k, k+1)
		if yes, _ := robustness.IsRobust(m.with(fewer), m.r, m.stop); yes {
			added = fewer
		}
	}
	return added, true
}

// within looks for k more edges that make the graph r-robust, among the crossings of the pairs that prove it is not. If
// ok is false there are none, unless the improver is done.
func (m *improver) within(added [][2]int, k int) (edges [][2]int, ok bool) {
	if m.done() {
		return nil, false
	}
	m.budget--
	g := m.with(added)
	res := robustness.Decide(g, m.r, m.stop)
	if res.Lower >= m.r {
		return slices.Clone(added), true
	}
	if k == 0 || res.Upper >= m.r {
		return nil, false
	}
	for _, e := range crossings(g, res.Witness) {
		if edges, ok = m.within(append(added, e), k-1); ok {
			return edges, true
		}
	}
	return nil, false
}
