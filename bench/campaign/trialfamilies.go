package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/protocol/check"
)

// families checks graphs that are made of parameters, written with names, or searched.
func families(t *ClaimTried) {
	inLayers(t)
	attached(t)
	scheduled(t)
	withNames(t)
	if t.Rand.IntN(4) == 0 {
		worstPlaced(t)
	}
}

// inLayers checks a graph of layers: a layer is a clique, and neighbouring layers are joined, others only if all are.
func inLayers(t *ClaimTried) {
	var sizes, layer []int
	for k := range 1 + t.Rand.IntN(4) {
		sizes = append(sizes, 1+t.Rand.IntN(4))
		layer = append(layer, slices.Repeat([]int{k}, sizes[k])...)
	}
	all := t.Rand.IntN(2) == 0
	b, err := topology.Build("layered", len(layer), map[string]any{"layers": sizes, "p": .3 * float64(t.Rand.IntN(3)),
		"all": all}, t.Rand.Uint64())
	if t.Check(err == nil, "there is no graph with the layers %v: %v", sizes, err); err != nil {
		return
	}
	joined := map[[2]int]bool{}
	for _, e := range b.Edges() {
		joined[[2]int{layer[e[0]], layer[e[1]]}] = true
		apart := max(layer[e[0]], layer[e[1]]) - min(layer[e[0]], layer[e[1]])
		t.Check(apart < 2 || all, "the layers %v are not neighbours, and have the edge %v", sizes, e)
	}
	for v := range layer {
		k := layer[v]
		t.Check(k == 0 || joined[[2]int{k - 1, k}] || joined[[2]int{k, k - 1}], "layers %d and %d of %v are not joined",
			k-1, k, sizes)
		for u := range v {
			t.Check(layer[u] != k || b.HasEdge(u, v), "nodes %d and %d are in one layer of %v without an edge", u, v,
				sizes)
		}
	}
}

// attached checks a graph that grows from a clique. Each further node has r edges to earlier nodes: with "clique" to
// nodes of the clique only, otherwise also to others.
func attached(t *ClaimTried) {
	how, r, n := []string{"clique", "any", "degree"}[t.Rand.IntN(3)], 2+t.Rand.IntN(3), 60
	core, outside := 2*r-1, 0
	b, err := topology.Build("preferential", n, map[string]any{"r": r, "attach": how}, t.Rand.Uint64())
	if t.Check(err == nil, "there is no graph that grows with r = %d: %v", r, err); err != nil {
		return
	}
	for v := range n {
		earlier := 0
		for u := range v {
			if !b.HasEdge(u, v) {
				continue
			}
			if earlier++; u >= core {
				outside++
			}
		}
		want := r
		if v < core {
			want = v
		}
		t.Check(earlier == want, "node %d has edges to %d earlier ones with r = %d", v, earlier, r)
	}
	t.Check((outside > 0) == (how != "clique"), "with attach %s %d edges lead to nodes outside of the clique", how,
		outside)
}

// scheduled checks that the graph of a schedule has the edges of the rounds that are played, and no other.
func scheduled(t *ClaimTried) {
	n, rounds, hold := 5, 1+t.Rand.IntN(5), 1+t.Rand.IntN(2)
	var schedule []any
	var edges [][2]int
	for range 1 + t.Rand.IntN(4) {
		u := t.Rand.IntN(n - 1)
		v := u + 1 + t.Rand.IntN(n-1-u)
		edges = append(edges, [2]int{u, v})
		schedule = append(schedule, map[string]any{"edges": []any{[]any{u, v}}})
	}
	g, err := dynamic.FromSpec(map[string]any{"schedule": schedule, "hold": hold}, n, rounds)
	if t.Check(err == nil, "there is no graph with the schedule %v: %v", schedule, err); err != nil {
		return
	}
	var want [][2]int
	for round := range rounds {
		e := edges[round/hold%len(edges)]
		now := g.At(round).Edges()
		t.Check(len(now) == 1 && now[0] == e, "round %d of %v has the edges %v", round, edges, now)
		want = append(want, e)
	}
	slices.SortFunc(want, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	want = slices.Compact(want)
	t.Check(slices.Equal(g.Edges(), want), "%d rounds of %v, %d for each, have the edges %v, want %v", rounds, edges,
		hold, g.Edges(), want)
}

// withNames writes a graph whose nodes have names, and reads it again.
func withNames(t *ClaimTried) {
	n := 2 + t.Rand.IntN(4)
	f := format.File{Graph: graph.MustNew(n, t.Rand.IntN(2) == 0, [][2]int{{0, n - 1}})}
	for i := range n {
		end := check.Among(&t.Tried, "", "", "", " x", ",", "#", `"`, "<", "7", ";")
		f.Names = append(f.Names, fmt.Sprint("n", i)+end)
	}
	how := format.All()[t.Rand.IntN(len(format.All()))]
	text := how.Write(f)
	again, err := how.Parse(text)
	same := err == nil && again.Graph.Equal(f.Graph) && (slices.Equal(again.Names, f.Names) || again.Names == nil)
	t.Check(same, "%s: nodes %q are written as %s, and read as %q: %v", how.Name, f.Names, text, again.Names, err)
}

// worstPlaced checks the place of adversaries that do most harm, among too many sets to try all: no exchange of one
// node does more.
func worstPlaced(t *ClaimTried) {
	n, count := 25+t.Rand.IntN(3), 5
	g, _ := directedGraph(t, n)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	set, err := topology.PlaceAmong(topology.Built{Graph: g}, "worst", count, all, t.Rand.Uint64())
	if t.Check(err == nil && len(set) == count, "of %d nodes %v are placed: %v", n, set, err); err != nil {
		return
	}
	best, _ := topology.Measure(g, set)
	for k := range set {
		for v := range n {
			if slices.Contains(set, v) {
				continue
			}
			other := slices.Clone(set)
			other[k] = v
			slices.Sort(other)
			h, _ := topology.Measure(g, other)
			t.Check(h.Local < best.Local || h.Local == best.Local && h.Edges <= best.Edges, "%v do the harm %+v, and "+
				"%v more: %+v: %v", set, best, other, h, g.Edges())
		}
	}
}
