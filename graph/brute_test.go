package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The dumb twin: robustness by the definition, all 3^n pairs of disjoint sets, asking the graph nothing but HasEdge.

// bruteReach is the largest number of nodes outside the set that a member hears.
func bruteReach(g Graph, in func(int) bool) int {
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

func bruteR(g Graph) int {
	n, best := g.N(), (g.N()+1)/2
	reach := make([]int, 1<<n)
	for s := range reach {
		reach[s] = bruteReach(g, func(i int) bool { return s>>i&1 == 1 })
	}
	for a := 1; a < 1<<n; a++ {
		rest := (1<<n - 1) &^ a
		for b := rest; b > 0; b = (b - 1) & rest {
			best = min(best, max(reach[a], reach[b]))
		}
	}
	return best
}

// everyGraph calls f with all labelled graphs on n nodes.
func everyGraph(n int, directed bool, f func(Graph)) {
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
		f(mustNew(n, directed, edges))
	}
}

// seeded is a generator whose seed is printed when the test fails.
func seeded(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func randomWith(rng *rand.Rand, n int, directed bool, p float64) Graph {
	s := &site{n: n, built: &Built{}, rng: rng}
	return mustNew(n, directed, s.gnp(p, directed))
}

// anyGraph draws graphs for rapid.
func anyGraph(least, most int) *rapid.Generator[Graph] {
	return rapid.Custom(func(t *rapid.T) Graph {
		n := rapid.IntRange(least, most).Draw(t, "n")
		directed := rapid.Bool().Draw(t, "directed")
		bits := rapid.SliceOfN(rapid.Bool(), n*n, n*n).Draw(t, "adjacency")
		var edges [][2]int
		for k, on := range bits {
			if u, v := k/n, k%n; on && (u < v || directed && u != v) {
				edges = append(edges, [2]int{u, v})
			}
		}
		return mustNew(n, directed, edges)
	})
}

// describe prints a graph so that it can be pasted into a test.
func describe(g Graph) string { return fmt.Sprintf("%v %v", g, g.Edges()) }

// mustAgree checks a result against the true value and its own certificate.
func mustAgree(t testing.TB, g Graph, res Result, want int) {
	t.Helper()
	if !res.Exact || res.R != want || res.Lower != want || res.Upper != want {
		t.Fatalf("%s: %+v, want r = %d", describe(g), res, want)
	}
	if g.N() > 1 {
		if err := VerifyWitness(g, want+1, res.Witness); err != nil {
			t.Fatalf("%s: %v", describe(g), err)
		}
	}
}
