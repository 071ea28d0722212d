package design_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/design"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
)

// Design reaches every proven optimum up to n = 10, and each graph is as robust as it should be.
func TestDesignReachesTheOptimum(t *testing.T) {
	for n := 1; n <= 10; n++ {
		for r := 1; r <= (n+1)/2; r++ {
			if graphtest.Race && n > 8 {
				continue
			}
			d, err := design.Design(n, r, 1, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			least, known := design.LeastEdges(n, r)
			if got := d.Graph.EdgeCount(); !known || got != least || d.Best != least || !d.Optimal || d.Plain < got {
				t.Errorf("n = %d, r = %d: %+v, least %d", n, r, d, least)
			}
			if got := graphtest.Robustness(d.Graph); got < r {
				t.Errorf("n = %d, r = %d: %s is %d-robust", n, r, graphtest.Describe(d.Graph), got)
			}
		}
	}
}

// The table agrees with a list of all graphs up to 5 nodes.
func TestLeastEdgesByListing(t *testing.T) {
	for n := 2; n <= 5; n++ {
		least := map[int]int{}
		graphtest.Every(n, false, func(g graph.Graph) {
			for r := graphtest.Robustness(g); r > 0; r-- {
				if was, seen := least[r]; !seen || g.EdgeCount() < was {
					least[r] = g.EdgeCount()
				}
			}
		})
		for r, want := range least {
			if got, known := design.LeastEdges(n, r); !known || got != want {
				t.Errorf("n = %d, r = %d: table %d, listing %d", n, r, got, want)
			}
		}
	}
}

// For more nodes a design never has more edges than the constructions, and K_{r,n-r} is r-robust exactly if n ≥ 3r-1.
func TestDesignBeyondTheTable(t *testing.T) {
	for n := 12; n <= 20; n += 4 {
		for r := 2; r <= 5; r++ {
			d, err := design.Design(n, r, 2, 150, nil)
			if err != nil {
				t.Fatal(err)
			}
			if res := robustness.Find(d.Graph, nil); !res.Exact || res.R < r {
				t.Errorf("n = %d, r = %d: %+v", n, r, res)
			}
			if most := min(r*n-r*(r+1)/2, bipartiteEdges(n, r)); d.Graph.EdgeCount() > most {
				t.Errorf("n = %d, r = %d: %d edges, constructions have %d", n, r, d.Graph.EdgeCount(), most)
			}
		}
	}
	for r := 1; r <= 5; r++ {
		for n := 2 * r; n <= 3*r+1; n++ {
			if res := robustness.Find(graphtest.Bipartite(r, n), nil); (res.R >= r) != (n >= 3*r-1) {
				t.Errorf("K_{%d,%d}: r = %d", r, n-r, res.R)
			}
		}
	}
}

func bipartiteEdges(n, r int) int {
	if n < 3*r-1 {
		return 1 << 30
	}
	return r*n - r*r
}

func TestDesignRefuses(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {robustness.SearchLimit + 1, 2}, {7, 5}, {7, 0}} {
		if d, err := design.Design(c[0], c[1], 0, 0, nil); err == nil {
			t.Errorf("%v: %+v", c, d)
		}
	}
}

// bruteAdditions returns the least number of edges to add, by trying all sets of them.
func bruteAdditions(g graph.Graph, r int) int {
	var absent [][2]int
	for u := range g.N() {
		for v := range g.N() {
			if u != v && (g.Directed() || u < v) && !g.HasEdge(u, v) {
				absent = append(absent, [2]int{u, v})
			}
		}
	}
	for k := 0; ; k++ {
		if choose(absent, k, g.Edges(), func(edges [][2]int) bool {
			yes, _ := robustness.IsRobust(graph.MustNew(g.N(), g.Directed(), edges), r, nil)
			return yes
		}) {
			return k
		}
	}
}

func choose(from [][2]int, k int, sofar [][2]int, ok func([][2]int) bool) bool {
	if k == 0 {
		return ok(sofar)
	}
	for i := range from {
		if choose(from[i+1:], k-1, append(sofar[:len(sofar):len(sofar)], from[i]), ok) {
			return true
		}
	}
	return false
}

func TestImprove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(3, 5).Draw(t, "graph")
		r := rapid.IntRange(1, (g.N()+1)/2).Draw(t, "r")
		better, err := design.Improve(g, r, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := graphtest.Robustness(better.Graph); got < r ||
			better.Graph.EdgeCount() != g.EdgeCount()+len(better.Added) {
			t.Fatalf("%d-robust after %v, wanted %d", got, better.Added, r)
		}
		for _, e := range better.Added {
			if g.HasEdge(e[0], e[1]) || !better.Graph.HasEdge(e[0], e[1]) {
				t.Fatalf("%v was there already or is not there now", e)
			}
		}
		if want := bruteAdditions(g, r); better.Optimal && len(better.Added) != want {
			t.Fatalf("%d additions called optimal, %d do: %s", len(better.Added), want, graphtest.Describe(g))
		}
	})
	ring := graphtest.Named("ring", 9)
	better, err := design.Improve(ring, 2, 1, nil)
	if err != nil || len(better.Added) == 0 || !better.Optimal {
		t.Errorf("%+v %v", better, err)
	}
	if _, err := design.Improve(ring, 6, 1, nil); err == nil || !strings.Contains(err.Error(), "6-robust") {
		t.Error(err)
	}
	if _, err := design.Improve(graphtest.Named("ring", 60), 12, 1, func() bool { return true }); err != nil &&
		err != design.ErrStopped {
		t.Error(err)
	}
}

// If stop returns true at once, Improve must not call its result optimal.
func TestImproveStopped(t *testing.T) {
	ring, err := topology.Build("ring", 9, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := design.Improve(ring.Graph, 3, 1, func() bool { return true })
	if err == nil && got.Optimal {
		t.Errorf("stopped at once: %d edges, optimal %v", len(got.Added), got.Optimal)
	}
}
