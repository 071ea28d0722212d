package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Improved is a graph made r-robust by adding edges.
type Improved struct {
	Graph   Graph
	Added   [][2]int
	Optimal bool // fewer additions are proven not to be enough
}

// ErrStopped is returned where there is nothing to return when stop ends the work.
var ErrStopped = errors.New("graph: stopped before an answer was found")

// Improve adds few edges to make the graph r-robust. It first adds an edge across each pair of sets that shows the graph
// is not, from several seeds; takes out those not needed; and then tries every way to do with fewer, as far as a
// budget of a few thousand decisions goes.
func Improve(g Graph, r int, seed uint64, stop func() bool) (Improved, error) {
	if r < 1 || r > (g.n+1)/2 {
		return Improved{}, fmt.Errorf("graph: no graph of %d nodes is %d-robust, or all are: want 1 to ⌈n/2⌉ = %d", g.n, r, (g.n+1)/2)
	}
	if g.n > SearchLimit {
		return Improved{}, fmt.Errorf("graph: improve %d nodes: want at most %d, where robustness can be confirmed", g.n, SearchLimit)
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
	slices.SortFunc(best, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return Improved{m.with(best), best, optimal}, nil
}

type improver struct {
	g      Graph
	r      int
	stop   func() bool
	rng    *rand.Rand
	budget int // decisions left for proving
}

func (m *improver) done() bool { return m.budget <= 0 || m.stop() }

func (m *improver) with(added [][2]int) Graph {
	return mustNew(m.g.n, m.g.directed, append(m.g.Edges(), added...))
}

// crossings lists the edges that are not there and end, heard, in a set of the pair from outside it. Every r-robust
// supergraph has one of them, or the pair would still stand.
func crossings(g Graph, pair [2][]int) (all [][2]int) {
	seen := map[[2]int]bool{}
	for _, set := range pair {
		in, err := g.members(set)
		if err != nil {
			continue
		}
		for _, v := range set {
			for u := range g.n {
				e := [2]int{u, v}
				if !g.directed {
					e = [2]int{min(u, v), max(u, v)}
				}
				if u != v && !in[u] && !g.HasEdge(u, v) && !seen[e] {
					seen[e] = true
					all = append(all, e)
				}
			}
		}
	}
	return all
}

// greedy adds random crossings, mostly at nodes that hear little, until the graph is r-robust, then drops what is not
// needed.
func (m *improver) greedy() (added [][2]int, ok bool) {
	for {
		g := m.with(added)
		res := Decide(g, m.r, m.stop)
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
		if yes, _ := IsRobust(m.with(fewer), m.r, m.stop); yes {
			added = fewer
		}
	}
	return added, true
}

// within looks for k more edges that do, through the crossings of the pairs that stand in the way. False means there are
// none, unless the improver is done.
func (m *improver) within(added [][2]int, k int) ([][2]int, bool) {
	if m.done() {
		return nil, false
	}
	m.budget--
	g := m.with(added)
	res := Decide(g, m.r, m.stop)
	if res.Lower >= m.r {
		return slices.Clone(added), true
	}
	if k == 0 || res.Upper >= m.r {
		return nil, false
	}
	for _, e := range crossings(g, res.Witness) {
		if done, ok := m.within(append(added, e), k-1); ok {
			return done, true
		}
	}
	return nil, false
}

// Without is what remains of a graph when nodes leave: the others, renumbered in order, and which they were.
func Without(g Graph, nodes []int) (rest Graph, kept []int, err error) {
	gone, err := g.members(nodes)
	if err != nil {
		return Graph{}, nil, err
	}
	index := make([]int, g.n)
	for i := range g.n {
		if index[i] = -1; !gone[i] {
			index[i] = len(kept)
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return Graph{}, nil, errors.New("graph: nobody is left")
	}
	var edges [][2]int
	for _, e := range g.Edges() {
		if u, v := index[e[0]], index[e[1]]; u >= 0 && v >= 0 {
			edges = append(edges, [2]int{u, v})
		}
	}
	return mustNew(len(kept), g.directed, edges), kept, nil
}

// SACCalls is what a question costs SAC at most, without reuse: n first answers, then in each round a score for every
// neighbour's answer and one's own, and a refinement (systems.md §1).
func SACCalls(g Graph, rounds int) int { return g.n + rounds*(g.Links()+2*g.n) }
