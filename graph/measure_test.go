package graph_test

import (
	"math"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

// Complete graphs, stars, rings and chains have known values.
func TestAlgebraicConnectivity(t *testing.T) {
	for n := 3; n <= 40; n += 7 {
		for name, want := range map[string]float64{
			"complete": float64(n),
			"star":     1,
			"ring":     2 - 2*math.Cos(2*math.Pi/float64(n)),
			"chain":    2 - 2*math.Cos(math.Pi/float64(n)),
		} {
			got, err := graph.AlgebraicConnectivity(graphtest.Named(name, n))
			if err != nil || math.Abs(got-want) > 1e-9*float64(n) {
				t.Errorf("%s %d: %v, %v, want %v", name, n, got, err, want)
			}
		}
	}
	if _, err := graph.AlgebraicConnectivity(graph.MustNew(2, true, nil)); err == nil {
		t.Error("directed graph accepted")
	}
}

// bruteConnectivity finds the vertex connectivity by removing every set of nodes.
func bruteConnectivity(g graph.Graph) int {
	n, best := g.N(), g.N()-1
	for gone := range 1 << n {
		var keep []int
		for i := range n {
			if gone>>i&1 == 0 {
				keep = append(keep, i)
			}
		}
		if size := n - len(keep); size < best && len(keep) > 1 {
			index := map[int]int{}
			for k, i := range keep {
				index[i] = k
			}
			var edges [][2]int
			for _, e := range g.Edges() {
				u, okU := index[e[0]]
				v, okV := index[e[1]]
				if okU && okV {
					edges = append(edges, [2]int{u, v})
				}
			}
			if !graph.MustNew(len(keep), g.Directed(), edges).Connected() {
				best = size
			}
		}
	}
	return best
}

func TestVertexConnectivity(t *testing.T) {
	for n := 1; n <= 4; n++ {
		graphtest.Every(n, false, func(g graph.Graph) { checkConnectivity(t, g) })
	}
	rng := graphtest.Seeded(t, 6)
	for k := range 300 {
		checkConnectivity(t, graphtest.Random(rng, 5+rng.IntN(4), k%2 == 0, .3+.6*rng.Float64()))
	}
}

func checkConnectivity(t *testing.T, g graph.Graph) {
	t.Helper()
	got, err := graph.VertexConnectivity(g)
	if want := bruteConnectivity(g); err != nil || got != want {
		t.Fatalf("%d, %v, want %d: %s", got, err, want, graphtest.Describe(g))
	}
	if r := robustness.Find(g, nil).R; !g.Directed() && g.N() > 1 && got < r && r <= g.N()-1 {
		t.Fatalf("%d-robust but %d-connected: %s", r, got, graphtest.Describe(g))
	}
}

// Betweenness agrees with counting the shortest paths of each pair.
func TestBetweenness(t *testing.T) {
	rng := graphtest.Seeded(t, 8)
	for k := range 60 {
		g := graphtest.Random(rng, 7, k%2 == 0, .4)
		for i, got := range graph.Betweenness(g) {
			want := 0.0
			for s := range 7 {
				for v := range 7 {
					if s == v || i == s || i == v {
						continue
					}
					if all, through := shortest(g, s, v, i); all > 0 {
						want += through / all
					}
				}
			}
			if !(math.Abs(got-want) <= 1e-9) { // NaN too
				t.Fatalf("node %d: %v, want %v: %s", i, got, want, graphtest.Describe(g))
			}
		}
	}
}

// shortest counts the shortest paths from s to v, and those through a node, by trying lengths in ascending order.
func shortest(g graph.Graph, s, v, by int) (all, through float64) {
	var walk func(at, left int, seen bool)
	for length := 1; length < g.N() && all == 0; length++ {
		walk = func(at, left int, seen bool) {
			seen = seen || at == by
			if left == 0 {
				if at == v {
					all++
					if seen {
						through++
					}
				}
				return
			}
			for _, j := range g.Out(at) {
				walk(j, left-1, seen)
			}
		}
		walk(s, length, false)
	}
	return all, through
}
