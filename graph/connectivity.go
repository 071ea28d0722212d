package graph

import "fmt"

// connectivityLimit bounds VertexConnectivity, which runs a flow for many pairs of nodes.
const connectivityLimit = 512

// VertexConnectivity is the least number of nodes whose removal leaves a graph that is not (strongly) connected, or n-1
// for a complete graph, where no removal does. An r-robust undirected graph is r-connected (LeBlanc 2013).
func VertexConnectivity(g Graph) (int, error) {
	if g.n > connectivityLimit {
		return 0, fmt.Errorf("graph: vertex connectivity of %d nodes: want at most %d", g.n, connectivityLimit)
	}
	best := max(0, g.n-1)
	// Of the first best+1 nodes one is outside a smallest separator: a pair with that node tells (Even 1975).
	for u := 0; u < g.n && u <= best; u++ {
		for v := range g.n {
			if u == v {
				continue
			}
			if !g.HasEdge(u, v) {
				best = min(best, g.disjointPaths(u, v, best))
			}
			if g.directed && !g.HasEdge(v, u) {
				best = min(best, g.disjointPaths(v, u, best))
			}
		}
	}
	return best, nil
}

// disjointPaths counts paths from s to t that share no inner node, up to most. Every node but s and t is split into an
// entrance (2i) and an exit (2i+1) joined by one unit of flow; each round adds a path along what is left.
func (g Graph) disjointPaths(s, t, most int) int {
	f := flow{next: make([]int, g.n), prev: make([]int, g.n), g: g, s: s, t: t}
	for i := range g.n {
		f.next[i], f.prev[i] = -1, -1
	}
	paths := 0
	for paths < most && f.augment() {
		paths++
	}
	return paths
}

// flow is a set of paths from s to t that share no inner node: next and prev are an inner node's neighbours on its path,
// -1 when it is on none.
type flow struct {
	g          Graph
	s, t       int
	next, prev []int
}

// augment searches, breadth first, the states (node, exit?) for a way to one path more, and re-routes along it.
func (f *flow) augment() bool {
	from := make([]int, 2*f.g.n) // state each state was reached from, plus 1
	queue := []int{2*f.s + 1}
	from[2*f.s+1] = 2*f.s + 1 + 1
	reach := func(state, by int) {
		if from[state] == 0 {
			from[state] = by + 1
			queue = append(queue, state)
		}
	}
	for k := 0; k < len(queue); k++ {
		state := queue[k]
		i, exit := state/2, state%2 == 1
		if exit {
			for _, j := range f.g.Out(i) {
				switch {
				case j == f.t:
					f.reroute(from, state)
					return true
				case j != f.s && f.next[i] != j && !(i == f.s && f.prev[j] == f.s):
					reach(2*j, state)
				}
			}
			if i != f.s && f.prev[i] >= 0 {
				reach(2*i, state) // undo the flow through i
			}
			continue
		}
		if f.prev[i] < 0 {
			reach(2*i+1, state)
		} else if f.prev[i] != f.s {
			reach(2*f.prev[i]+1, state) // undo the flow into i
		}
	}
	return false
}

// reroute changes the paths along the way found, from its last exit back to s.
func (f *flow) reroute(from []int, last int) {
	var way []int // states from s to last
	for state := last; ; state = from[state] - 1 {
		way = append([]int{state}, way...)
		if state == 2*f.s+1 {
			break
		}
	}
	type step struct{ i, j int }
	var cut, add []step
	for k := 1; k < len(way); k++ {
		i, j := way[k-1]/2, way[k]/2
		switch exit := way[k-1]%2 == 1; {
		case i == j:
		case exit:
			add = append(add, step{i, j})
		default:
			cut = append(cut, step{j, i})
		}
	}
	add = append(add, step{last / 2, f.t})
	for _, c := range cut {
		f.link(c.i, c.j, true)
	}
	for _, a := range add {
		f.link(a.i, a.j, false)
	}
}

func (f *flow) link(i, j int, cut bool) {
	to, back := j, i
	if cut {
		to, back = -1, -1
	}
	if i != f.s && !(cut && f.next[i] != j) {
		f.next[i] = to
	}
	if j != f.t && !(cut && f.prev[j] != i) {
		f.prev[j] = back
	}
}
