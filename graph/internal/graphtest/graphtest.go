// Package graphtest has what the tests of several graph packages share: random graphs, lists of all small graphs, and
// robustness computed by its definition.
//
// Its rank is 3: it uses packages graph, robustness and topology. Tests of these packages are therefore external.
package graphtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
)

// Reach returns the largest number of nodes outside a set that are in-neighbours of one member. It calls nothing but
// HasEdge.
func Reach(g graph.Graph, in func(int) bool) int {
	most := 0
	for i := range g.N() {
		if !in(i) {
			continue
		}
		c := 0
		for j := range g.N() {
			if !in(j) && j != i && g.HasEdge(j, i) {
				c++
			}
		}
		most = max(most, c)
	}
	return most
}

// Robustness returns the largest r for which the graph is r-robust, by the definition: it looks at all 3^n pairs of
// disjoint sets.
func Robustness(g graph.Graph) int {
	n, best := g.N(), (g.N()+1)/2
	reach := make([]int, 1<<n)
	for s := range reach {
		reach[s] = Reach(g, func(i int) bool { return s>>i&1 == 1 })
	}
	for a := 1; a < 1<<n; a++ {
		rest := (1<<n - 1) &^ a
		for b := rest; b > 0; b = (b - 1) & rest {
			best = min(best, max(reach[a], reach[b]))
		}
	}
	return best
}

// Every calls f with all labelled graphs on n nodes.
func Every(n int, directed bool, f func(graph.Graph)) {
	var all [][2]int
	for u := range n {
		for v := range n {
			if u < v || directed && u != v {
				all = append(all, [2]int{u, v})
			}
		}
	}
	for mask := range 1 << len(all) {
		var edges [][2]int
		for k, e := range all {
			if mask>>k&1 == 1 {
				edges = append(edges, e)
			}
		}
		f(graph.MustNew(n, directed, edges))
	}
}

// Seeded returns a random generator whose seed is printed if the test fails.
func Seeded(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// Random draws a graph with each edge of probability p.
func Random(rng *rand.Rand, n int, directed bool, p float64) graph.Graph {
	var edges [][2]int
	for u := range n {
		for v := range n {
			if u != v && (directed || u < v) && rng.Float64() < p {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	return graph.MustNew(n, directed, edges)
}

// Any is a rapid generator of graphs with least to most nodes, directed or not.
func Any(least, most int) *rapid.Generator[graph.Graph] {
	return rapid.Custom(func(t *rapid.T) graph.Graph {
		n := rapid.IntRange(least, most).Draw(t, "n")
		directed := rapid.Bool().Draw(t, "directed")
		bits := rapid.SliceOfN(rapid.Bool(), n*n, n*n).Draw(t, "adjacency")
		var edges [][2]int
		for k, on := range bits {
			if u, v := k/n, k%n; on && (u < v || directed && u != v) {
				edges = append(edges, [2]int{u, v})
			}
		}
		return graph.MustNew(n, directed, edges)
	})
}

// Describe prints a graph so that it can be pasted into a test.
func Describe(g graph.Graph) string { return fmt.Sprintf("%v %v", g, g.Edges()) }

// Build builds a graph of a topology with seed 0.
func Build(t testing.TB, name string, n int, params map[string]any) topology.Built {
	t.Helper()
	b, err := topology.Build(name, n, params, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Named builds a graph of a topology with its default parameters and seed 0. It panics on an error.
func Named(name string, n int) graph.Graph {
	b, err := topology.Build(name, n, nil, 0)
	if err != nil {
		panic(err)
	}
	return b.Graph
}

// Agree checks that a result is exact and equal to the true value, and that its witness is valid.
func Agree(t testing.TB, g graph.Graph, res robustness.Result, want int) {
	t.Helper()
	if !res.Exact || res.R != want || res.Lower != want || res.Upper != want {
		t.Fatalf("%s: %+v, want r = %d", Describe(g), res, want)
	}
	if g.N() > 1 {
		if err := graph.VerifyWitness(g, want+1, res.Witness); err != nil {
			t.Fatalf("%s: %v", Describe(g), err)
		}
	}
}

// Bipartite returns K_{r,n-r}.
func Bipartite(r, n int) graph.Graph {
	var edges [][2]int
	for u := range r {
		for v := r; v < n; v++ {
			edges = append(edges, [2]int{u, v})
		}
	}
	return graph.MustNew(n, false, edges)
}
