package graph_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
)

// The largest graph is allowed, and nodes are numbered from 0: errors say so.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		n    int
		edge [2]int
		want string
	}{
		{graph.MaxNodes, [2]int{0, graph.MaxNodes - 1}, ""}, {graph.MaxNodes + 1, [2]int{0, 1}, "want 1 to"},
		{0, [2]int{0, 1}, "0 nodes"}, {4, [2]int{4, 1}, "unknown node 4: nodes are 0 to 3"}, {4, [2]int{3, 0}, ""},
		{4, [2]int{1, 4}, "unknown node 4: nodes are 0 to 3"}, {4, [2]int{-1, 1}, "unknown node -1"},
	} {
		_, err := graph.New(c.n, true, [][2]int{c.edge})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d nodes, edge %v: %v", c.n, c.edge, err)
		}
	}
	var zero graph.Graph
	if zero.Connected() || zero.Rooted() {
		t.Error("a graph without nodes is connected")
	}
}

// What a robustness allows: F+1 for Properties 4.2 and 4.3, 2F+1 for the strong one.
func TestBoundsOfRobustness(t *testing.T) {
	for r := range 9 {
		sac, strong := graph.FSAC(r), graph.FStrong(r)
		if r < sac+1 || r >= sac+2 || r > 0 && (r < 2*strong+1 || r >= 2*strong+3) || r == 0 && strong != -1 {
			t.Errorf("r = %d: %d, %d", r, sac, strong)
		}
	}
}

// A witness is a proof only if both sets are disjoint, nonempty and not r-reachable; errors name the mistake.
func TestWitnesses(t *testing.T) {
	chain := graph.MustNew(4, false, [][2]int{{0, 1}, {1, 2}, {2, 3}})
	for _, c := range []struct {
		r    int
		pair [2][]int
		want string
	}{
		{2, [2][]int{{0, 1}, {2, 3}}, ""}, {2, [2][]int{{0}, {3}}, ""},
		{1, [2][]int{{0, 1}, {2, 3}}, "witness set 1 is 1-reachable"},
		{2, [2][]int{{0}, {2}}, "witness set 2 is 2-reachable"},
		{2, [2][]int{{0, 1}, {1, 2, 3}}, "both witness sets have node 1"}, {2, [2][]int{{0}, {}}, "witness set 2: "},
		{2, [2][]int{{4}, {0}}, "witness set 1: graph: the set has an unknown node 4: nodes are 0 to 3"},
		{2, [2][]int{{0, 0}, {3}}, "node 0 twice"},
	} {
		err := graph.VerifyWitness(chain, c.r, c.pair)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("r = %d, %v: %v", c.r, c.pair, err)
		}
	}
}

// Edges are listed once and ascending; messages count in both directions.
func TestEdgesAscend(t *testing.T) {
	edges := [][2]int{{3, 0}, {2, 1}, {1, 0}}
	for directed, want := range map[bool]string{false: "[[0 1] [0 3] [1 2]] 6", true: "[[1 0] [2 1] [3 0]] 3"} {
		g := graph.MustNew(4, directed, edges)
		if got := fmt.Sprint(g.Edges(), " ", g.Links()); got != want {
			t.Errorf("directed %v: %s, want %s", directed, got, want)
		}
	}
	rest, kept, err := graph.Without(graph.MustNew(4, false, edges), []int{2})
	if err != nil || fmt.Sprint(rest.Edges(), kept) != "[[0 1] [0 2]] [0 1 3]" {
		t.Errorf("%v %v %v", rest.Edges(), kept, err)
	}
	rest, _, err = graph.Without(graph.MustNew(4, true, [][2]int{{3, 0}, {0, 2}, {1, 3}}), []int{2})
	if err != nil || fmt.Sprint(rest.Edges()) != "[[1 2] [2 0]]" {
		t.Errorf("directed: %v %v", rest.Edges(), err)
	}
}

// Between two nodes that are not joined there are as many paths without a common inner node as a plain maximum flow
// through nodes of capacity 1 has. Sparse graphs need paths that are laid again.
func TestDisjointPaths(t *testing.T) {
	rng := graphtest.Seeded(t, 11)
	for k := range 120 {
		g := graphtest.Random(rng, 7+k%9, k%2 == 0, .15+.35*rng.Float64())
		if k < 2 { // rows of more than one word
			g = graphtest.Random(rng, 70, k%2 == 0, .06)
		}
		if k%3 == 0 { // a band, in which paths are long
			var edges [][2]int
			for _, e := range graphtest.Random(rng, 18, k%2 == 0, .6).Edges() {
				if d := e[0] - e[1]; max(d, -d) <= 4 {
					edges = append(edges, e)
				}
			}
			g = graph.MustNew(18, k%2 == 0, edges)
		}
		for s := range g.N() {
			for e := range g.N() {
				if s == e || g.HasEdge(s, e) {
					continue
				}
				all := flowOf(g, s, e)
				for _, most := range []int{1, 2, g.N()} {
					if got, want := graph.DisjointPaths(g, s, e, most), min(all, most); got != want {
						t.Fatalf("%d of at most %d paths from %d to %d, want %d: %s", got, most, s, e, want,
							graphtest.Describe(g))
					}
				}
			}
		}
	}
}

// flowOf is the method of Ford and Fulkerson, in which node i is joined from 2i to 2i+1.
func flowOf(g graph.Graph, from, to int) (flow int) {
	left := make([][]int, 2*g.N())
	for i := range left {
		left[i] = make([]int, 2*g.N())
	}
	for i := range g.N() {
		left[2*i][2*i+1] = 1
		for _, j := range g.Out(i) {
			left[2*i+1][2*j] = 1
		}
	}
	var push func(at int, seen []bool) bool
	push = func(at int, seen []bool) bool {
		if seen[at] = true; at == 2*to {
			return true
		}
		for next, room := range left[at] {
			if room > 0 && !seen[next] && push(next, seen) {
				left[at][next]--
				left[next][at]++
				return true
			}
		}
		return false
	}
	for push(2*from+1, make([]bool, len(left))) {
		flow++
	}
	return flow
}

// The largest graphs whose connectivity is computed.
func TestLimitsOfConnectivity(t *testing.T) {
	if got, err := graph.VertexConnectivity(graphtest.Named("complete", 512)); err != nil || got != 511 {
		t.Errorf("the largest: %d, %v", got, err)
	}
	_, err := graph.VertexConnectivity(graphtest.Named("chain", 513))
	if err == nil || !strings.Contains(err.Error(), "at most 512") {
		t.Error(err)
	}
	for _, n := range []int{1, 1025} {
		if _, err := graph.AlgebraicConnectivity(graphtest.Named("chain", n)); err == nil ||
			!strings.Contains(err.Error(), "want 2 to 1024") {
			t.Errorf("%d nodes: %v", n, err)
		}
	}
	if got, err := graph.AlgebraicConnectivity(graphtest.Named("complete", 2)); err != nil || math.Abs(got-2) > 1e-9 {
		t.Errorf("two nodes: %v, %v", got, err)
	}
}
