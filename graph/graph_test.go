package graph

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		{MaxNodes + 1, false, nil, "nodes"},
		{3, false, [][2]int{{0, 1}, {2, 2}}, "edge 1 [2,2]: self-loop"},
		{3, false, [][2]int{{0, 1}, {1, 0}}, "edge 1 [1,0]: duplicate"},
		{3, true, [][2]int{{0, 1}, {0, 1}}, "edge 1 [0,1]: duplicate"},
		{3, false, [][2]int{{0, 3}}, "unknown node 3"},
		{3, false, [][2]int{{-1, 0}}, "unknown node -1"},
	} {
		if _, err := New(c.n, c.directed, c.edges); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("New(%d, %v, %v): %v, want %q", c.n, c.directed, c.edges, err, c.says)
		}
	}
	if _, err := New(3, true, [][2]int{{0, 1}, {1, 0}}); err != nil {
		t.Error("both directions of a directed graph are two edges:", err)
	}
}

func TestAccessors(t *testing.T) {
	g := mustNew(70, true, [][2]int{{69, 1}, {1, 69}, {0, 69}, {3, 1}})
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
		t.Error("[u,v] means that v hears u")
	}
	if got := g.Edges(); !slices.Equal(got, [][2]int{{0, 69}, {1, 69}, {3, 1}, {69, 1}}) {
		t.Error("edges", got)
	}
	if g.MinDegree() != 0 || g.MaxDegree() != 2 || g.OutDegree(1) != 1 || g.Links() != 4 {
		t.Error("degrees", g.MinDegree(), g.MaxDegree(), g.OutDegree(1), g.Links())
	}
}

// Edges rebuild the graph, and in- and out-neighbours are the same edges seen from either end.
func TestEdgesRebuildTheGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(1, 12).Draw(t, "graph")
		if h := mustNew(g.N(), g.Directed(), g.Edges()); !g.Equal(h) || h.EdgeCount() != len(g.Edges()) {
			t.Fatalf("%s became %s", describe(g), describe(h))
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
	two := mustNew(4, false, [][2]int{{0, 2}, {1, 3}})
	oneWay := mustNew(3, true, [][2]int{{0, 1}, {1, 2}})
	merge := mustNew(3, true, [][2]int{{0, 1}, {2, 1}})
	cycle := mustNew(3, true, [][2]int{{0, 1}, {1, 2}, {2, 0}})
	for _, c := range []struct {
		g                 Graph
		connected, rooted bool
		parts             int
	}{{two, false, false, 2}, {oneWay, false, true, 1}, {merge, false, false, 1}, {cycle, true, true, 1}} {
		if c.g.Connected() != c.connected || c.g.Rooted() != c.rooted || len(c.g.Components()) != c.parts {
			t.Errorf("%s: connected %v, rooted %v, parts %v", describe(c.g), c.g.Connected(), c.g.Rooted(), c.g.Components())
		}
	}
}

func TestSetsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(2, 9).Draw(t, "graph")
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
		for f := range g.N() {
			if got, err := FLocal(g, set, f); err != nil || got != (local <= f) {
				t.Fatalf("%s %v: FLocal(%d) = %v, %v", describe(g), set, f, got, err)
			}
			if got, err := FTotal(g, set, f); err != nil || got != (len(set) <= f) {
				t.Fatalf("FTotal(%v, %d) = %v, %v", set, f, got, err)
			}
			if len(set) == 0 {
				continue
			}
			want := bruteReach(g, func(i int) bool { return in[i] }) >= f
			if got, err := Reachable(g, set, f); err != nil || got != want {
				t.Fatalf("%s %v: Reachable(%d) = %v, %v", describe(g), set, f, got, err)
			}
		}
	})
}
