package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
)

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		n        int
		directed bool
		edges    [][2]int
		says     string
	}{
		{0, false, nil, "0 nodes"},
		{-3, false, nil, "-3 nodes"},
		{graph.MaxNodes + 1, false, nil, "nodes"},
		{3, false, [][2]int{{0, 1}, {2, 2}}, "edge 1 [2,2]: self-loop"},
		{3, false, [][2]int{{0, 1}, {1, 0}}, "edge 1 [1,0]: duplicate"},
		{3, true, [][2]int{{0, 1}, {0, 1}}, "edge 1 [0,1]: duplicate"},
		{3, false, [][2]int{{0, 3}}, "unknown node 3"},
		{3, false, [][2]int{{-1, 0}}, "unknown node -1"},
	} {
		if _, err := graph.New(c.n, c.directed, c.edges); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("graph.New(%d, %v, %v): %v, want %q", c.n, c.directed, c.edges, err, c.says)
		}
	}
	if _, err := graph.New(3, true, [][2]int{{0, 1}, {1, 0}}); err != nil {
		t.Error("both directions of a directed graph are two edges:", err)
	}
}

func TestAccessors(t *testing.T) {
	g := graph.MustNew(70, true, [][2]int{{69, 1}, {1, 69}, {0, 69}, {3, 1}})
	if got := g.In(69); !slices.Equal(got, []int{0, 1}) {
		t.Error("in", got)
	}
	if got := g.In(1); !slices.Equal(got, []int{3, 69}) {
		t.Error("in", got)
	}
	if got := g.Out(1); !slices.Equal(got, []int{69}) {
		t.Error("out", got)
	}
	if !g.HasEdge(0, 69) || g.HasEdge(69, 0) {
		t.Error("[u,v] means that u is an in-neighbour of v")
	}
	if got := g.Edges(); !slices.Equal(got, [][2]int{{0, 69}, {1, 69}, {3, 1}, {69, 1}}) {
		t.Error("edges", got)
	}
	if g.MinDegree() != 0 || g.MaxDegree() != 2 || g.OutDegree(1) != 1 || g.Links() != 4 {
		t.Error("degrees", g.MinDegree(), g.MaxDegree(), g.OutDegree(1), g.Links())
	}
}

// A graph built from Edges is the same graph, and In and Out agree with HasEdge.
func TestEdgesRebuildTheGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(1, 12).Draw(t, "graph")
		if h := graph.MustNew(g.N(), g.Directed(), g.Edges()); !g.Equal(h) || h.EdgeCount() != len(g.Edges()) {
			t.Fatalf("%s became %s", graphtest.Describe(g), graphtest.Describe(h))
		}
		for u := range g.N() {
			for v := range g.N() {
				if g.HasEdge(u, v) != slices.Contains(g.In(v), u) || g.HasEdge(u, v) != slices.Contains(g.Out(u), v) {
					t.Fatalf("%d and %d disagree", u, v)
				}
			}
		}
	})
}

func TestConnectedness(t *testing.T) {
	two := graph.MustNew(4, false, [][2]int{{0, 2}, {1, 3}})
	oneWay := graph.MustNew(3, true, [][2]int{{0, 1}, {1, 2}})
	merge := graph.MustNew(3, true, [][2]int{{0, 1}, {2, 1}})
	cycle := graph.MustNew(3, true, [][2]int{{0, 1}, {1, 2}, {2, 0}})
	for _, c := range []struct {
		g                 graph.Graph
		connected, rooted bool
		parts             int
	}{{two, false, false, 2}, {oneWay, false, true, 1}, {merge, false, false, 1}, {cycle, true, true, 1}} {
		if c.g.Connected() != c.connected || c.g.Rooted() != c.rooted || len(c.g.Components()) != c.parts {
			t.Errorf("%s: connected %v, rooted %v, parts %v", graphtest.Describe(c.g), c.g.Connected(), c.g.Rooted(),
				c.g.Components())
		}
	}
}

func TestSetsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(2, 9).Draw(t, "graph")
		in := rapid.SliceOfN(rapid.Bool(), g.N(), g.N()).Draw(t, "set")
		var set []int
		local := 0
		for i, member := range in {
			if member {
				set = append(set, i)
				continue
			}
			c := 0
			for j := range g.N() {
				if in[j] && j != i && g.HasEdge(j, i) {
					c++
				}
			}
			local = max(local, c)
		}
		if got, err := graph.Locality(g, set); err != nil || got != local {
			t.Fatalf("%s %v: Locality %d, %v, want %d", graphtest.Describe(g), set, got, err, local)
		}
		if len(set) == 0 {
			return
		}
		want := graphtest.Reach(g, func(i int) bool { return in[i] })
		if got, err := graph.Reach(g, set); err != nil || got != want {
			t.Fatalf("%s %v: Reach %d, %v, want %d", graphtest.Describe(g), set, got, err, want)
		}
	})
}

func TestWithout(t *testing.T) {
	rest, kept, err := graph.Without(graphtest.Named("merg", 7), []int{1, 5})
	if err != nil || fmt.Sprint(kept) != "[0 2 3 4 6]" || !rest.Equal(graphtest.Named("complete", 5)) {
		t.Error(graphtest.Describe(rest), kept, err)
	}
	for _, bad := range [][]int{{7}, {1, 1}, {0, 1, 2, 3, 4, 5, 6}} {
		if _, _, err := graph.Without(graphtest.Named("merg", 7), bad); err == nil {
			t.Errorf("%v accepted", bad)
		}
	}
}
