package campaign

import (
	"slices"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/internal/reference"
)

// graphSubject compares what package graph computes with the definitions, on small graphs.
func graphSubject() *subject {
	return pieceSubject(graphName, .15, []string{"directed", "undirected", "robust", "not connected", "regular",
		"over time"},
		playGraph, claimRobust, claimConnect, claimWritten)
}

// drawing is an execution with graphs.
type drawing struct{ *piece }

func playGraph(all *piece) {
	p := drawing{all}
	g, twin := p.graph()
	p.State("directed", g.Directed())
	p.State("undirected", !g.Directed())
	p.robust(g, twin)
	p.sets(g, twin)
	p.connected(g, twin)
	p.written(g)
	p.overTime(g, twin)
}

// overTime unites the graphs of rounds that follow one another, as a changing graph does, and compares the robustness
// of each union with the definition.
func (p drawing) overTime(g graph.Graph, twin reference.Digraph) {
	n := g.N()
	if g.Directed() || n > 6 {
		return
	}
	p.State("over time", true)
	changing, twins := dynamic.Graph{Drawn: p.one(3)}, []reference.Digraph{}
	for k := range 1 + p.rand.IntN(3) {
		one, other := g, twin
		if k > 0 {
			other = make(reference.Digraph, n)
			var edges [][2]int
			for u := range n {
				for v := range u {
					if p.one(3) {
						other[v], other[u] = other[v]|1<<u, other[u]|1<<v
						edges = append(edges, [2]int{v, u})
					}
				}
			}
			one = graph.MustNew(n, false, edges)
		}
		changing.Rounds, twins = append(changing.Rounds, one), append(twins, other)
	}
	window, played := 1+p.rand.IntN(4), 1+p.rand.IntN(5)
	find := func(g graph.Graph) dynamic.Known {
		r := robustness.Find(g, nil)
		return dynamic.Known{R: r.R, Exact: r.Exact}
	}
	var want []dynamic.Known
	for from := range played {
		union, ends := make(reference.Digraph, n), from+window
		for t := from; t < ends; t++ {
			for v, heard := range twins[t%len(twins)] {
				union[v] |= heard
			}
		}
		if again := !changing.Drawn && played >= len(twins); again && from < len(twins) || !again && ends <= played {
			want = append(want, dynamic.Known{R: union.Robust(), Exact: true})
		}
	}
	got := changing.Windows(window, played, find)
	p.Claim(claimRobust, slices.Equal(got, want), "the unions of %d of %d rounds of %d graphs are %v-robust, by "+
		"definition %v", window, played, len(twins), got, want)
}

// graph draws a graph in two forms. A regular one is alike everywhere, so the search for robustness needs its
// symmetries.
func (p drawing) graph() (graph.Graph, reference.Digraph) {
	n, directed := 1+p.rand.IntN(8), p.one(2)
	var edges [][2]int
	add := func(u, v int) {
		e, back := [2]int{u, v}, [2]int{v, u}
		if u != v && !slices.Contains(edges, e) && (directed || !slices.Contains(edges, back)) {
			edges = append(edges, e)
		}
	}
	if p.one(3) {
		p.State("regular", true)
		for k := 1; k <= p.rand.IntN(n); k++ {
			for u := range n {
				add(u, (u+k)%n)
			}
		}
	} else {
		density := p.rand.Float64()
		for u := range n {
			for v := range n {
				if p.rand.Float64() < density {
					add(u, v)
				}
			}
		}
	}
	g, err := graph.New(n, directed, edges)
	if err != nil {
		panic(err)
	}
	twin := make(reference.Digraph, n)
	for _, e := range edges {
		twin[e[1]] |= 1 << e[0]
		if !directed {
			twin[e[0]] |= 1 << e[1]
		}
	}
	return g, twin
}

// robust compares robustness and its witness.
func (p drawing) robust(g graph.Graph, twin reference.Digraph) {
	want, got := twin.Robust(), robustness.Find(g, nil)
	p.State("robust", want > 1)
	p.Claim(claimRobust, got.Exact && got.R == want && got.Lower == want && got.Upper == want,
		"r is %+v and by definition %d: %v", got, want, g.Edges())
	if g.N() > 1 {
		a, b := maskOf(got.Witness[0]), maskOf(got.Witness[1])
		p.Claim(claimRobust, a != 0 && b != 0 && a&b == 0 && twin.Reach(a) <= want && twin.Reach(b) <= want,
			"%v do not show that r is %d: %v", got.Witness, want, g.Edges())
	}
	r := 1 + p.rand.IntN(g.N())
	yes, known := robustness.IsRobust(g, r, nil)
	p.Claim(claimRobust, known && yes == (want >= r), "r is %d, and it is %d-robust: %v: %v", want, r, yes, g.Edges())
	s, err := robustness.LargestS(g, r, nil)
	least := twin.RobustS(r)
	p.Claim(claimRobust, err == nil && s.Exact && s.S == least, "with r = %d s is %+v and by definition %d: %v %v", r,
		s, least, g.Edges(), err)
	s, err = robustness.LargestS(g, r, func() bool { return true })
	p.Claim(claimRobust, err == nil && s.Lower <= least && least <= s.Upper, "with r = %d s is bounded by %+v, and by "+
		"definition %d: %v %v", r, s, least, g.Edges(), err)
	p.Claim(claimRobust, want > graph.FSAC(want) && want < graph.FSAC(want)+2 &&
		want >= 2*graph.FStrong(want)+1 && want < 2*graph.FStrong(want)+3, "the bounds of r = %d are %d and %d", want,
		graph.FSAC(want), graph.FStrong(want))
}

// sets compares what is said of a set of nodes, and of two.
func (p drawing) sets(g graph.Graph, twin reference.Digraph) {
	one, two := p.set(g.N()), p.set(g.N())
	a, b := maskOf(one), maskOf(two)
	if a == 0 {
		return
	}
	reach, err := graph.Reach(g, one)
	p.Claim(claimRobust, err == nil && reach == twin.Reach(a), "the reach of %v is %d and by definition %d: %v", one,
		reach, twin.Reach(a), g.Edges())
	r := 1 + p.rand.IntN(3)
	shows := b != 0 && a&b == 0 && twin.Reach(a) < r && twin.Reach(b) < r
	err = graph.VerifyWitness(g, r, [2][]int{one, two})
	p.Claim(claimRobust, (err == nil) == shows, "%v and %v show that it is not %d-robust: %v, by definition %v", one,
		two, r, err, shows)
	most := 0
	for v := range g.N() {
		if a>>v&1 == 0 {
			most = max(most, popcount(twin[v]&a))
		}
	}
	local, err := graph.Locality(g, one)
	p.Claim(claimRobust, err == nil && local == most, "the locality of %v is %d and by definition %d: %v", one, local,
		most, g.Edges())
}

// connected compares connectivity.
func (p drawing) connected(g graph.Graph, twin reference.Digraph) {
	want := twin.Connectivity()
	got, err := graph.VertexConnectivity(g)
	p.State("not connected", want == 0)
	p.Claim(claimConnect, err == nil && got == want, "the vertex connectivity is %d and by definition %d: %v", got,
		want, g.Edges())
	all := uint32(1)<<g.N() - 1
	p.Claim(claimConnect, g.Connected() == twin.Strong(all) && g.Rooted() == twin.Rooted(),
		"connected %v, rooted %v; by definition %v and %v: %v", g.Connected(), g.Rooted(), twin.Strong(all),
		twin.Rooted(), g.Edges())
	gone := p.set(g.N())
	rest, kept, err := graph.Without(g, gone)
	p.Claim(claimConnect, (err != nil) == (len(gone) == g.N()), "without %v: %v", gone, err)
	if err != nil {
		return
	}
	for i, u := range kept {
		for k, v := range kept {
			p.Claim(claimConnect, rest.HasEdge(i, k) == (twin[v]>>u&1 == 1) && !slices.Contains(gone, u),
				"without %v the edge from %d to %d: %v", gone, u, v, rest.HasEdge(i, k))
		}
	}
}

// written writes a graph in a format, and reads it again.
func (p drawing) written(g graph.Graph) {
	f := among(p.piece, format.All()...)
	again, err := f.Parse(f.Write(format.File{Graph: g}))
	p.Claim(claimWritten, err == nil && again.Graph.Equal(g), "%s: %v is read as %v: %v", f.Name, g.Edges(),
		again.Graph.Edges(), err)
}

// set draws a set of nodes.
func (p drawing) set(n int) (set []int) {
	for _, v := range p.rand.Perm(n) {
		if p.one(3) {
			set = append(set, v)
		}
	}
	return set
}

func maskOf(set []int) (m uint32) {
	for _, v := range set {
		m |= 1 << v
	}
	return m
}

func popcount(m uint32) (n int) {
	for ; m != 0; m &= m - 1 {
		n++
	}
	return n
}
