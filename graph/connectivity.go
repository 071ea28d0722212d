package graph

import (
	"fmt"
	"slices"
)

// Components returns the connected components, ignoring the direction of edges, each ascending, in the order of their
// smallest nodes.
func (g Graph) Components() [][]int {
	either := matrix{g.in.stride, slices.Clone(g.in.words)}
	for k, w := range g.out.words {
		either.words[k] |= w
	}
	seen := make([]bool, g.n)
	var all [][]int
	for s := range g.n {
		if !seen[s] {
			all = append(all, g.visit(s, either, seen))
		}
	}
	return all
}

// Connected reports whether an undirected graph is connected, or a directed one strongly connected: messages of every
// node can reach every other node. It is false for the zero Graph.
func (g Graph) Connected() bool {
	reach := func(along matrix) bool { return len(g.visit(0, along, make([]bool, g.n))) == g.n }
	return g.n > 0 && reach(g.out) && (!g.directed || reach(g.in))
}

// Rooted reports whether messages of at least one node can reach every other node: the graph has a
// rooted out-branching, which is the same as being 1-robust (LeBlanc 2013). For undirected graphs
// it means connected.
func (g Graph) Rooted() bool {
	_, found := g.ClosedSets()
	return g.n > 0 && !found
}

// ClosedSets looks for two disjoint nonempty sets that have no in-neighbours outside themselves.
// Such sets exist exactly if the graph is not rooted.
func (g Graph) ClosedSets() (pair [2][]int, found bool) {
	if g.n == 0 {
		return pair, false
	}
	// Visit every node, starting again at each node not visited yet. If any node reaches all
	// others, the last start does.
	seen, last := make([]bool, g.n), 0
	for s := range g.n {
		if !seen[s] {
			g.visit(s, g.out, seen)
			last = s
		}
	}
	reached := make([]bool, g.n)
	if len(g.visit(last, g.out, reached)) == g.n {
		return pair, false
	}
	// last reaches no node that the missed node can be reached from, so their sets of direct and indirect in-neighbours
	// are disjoint.
	missed := slices.Index(reached, false)
	pair[0] = g.visit(last, g.in, make([]bool, g.n))
	pair[1] = g.visit(missed, g.in, make([]bool, g.n))
	return pair, true
}

// visit marks the nodes reached from s along the rows of the matrix as seen, and returns those that were not seen
// before, ascending.
func (g Graph) visit(s int, along matrix, seen []bool) []int {
	seen[s] = true
	queue := []int{s}
	for k := 0; k < len(queue); k++ {
		for _, j := range AppendBits(nil, along.row(queue[k])) {
			if !seen[j] {
				seen[j] = true
				queue = append(queue, j)
			}
		}
	}
	slices.Sort(queue)
	return queue
}

// maxConnectivity limits VertexConnectivity, which solves a flow problem for many pairs of nodes.
const maxConnectivity = 512

// VertexConnectivity returns the smallest number of nodes whose removal leaves a graph that is not
// (strongly) connected, or n-1 for a complete graph. An r-robust undirected graph is r-connected
// (LeBlanc 2013). It returns an error for more than 512 nodes.
func VertexConnectivity(g Graph) (int, error) {
	if g.n > maxConnectivity {
		return 0, fmt.Errorf("graph: vertex connectivity of %d nodes: want at most %d", g.n, maxConnectivity)
	}
	best := max(0, g.n-1)
	// A smallest separator has at most best nodes, so one of the first best+1 nodes is outside it. That node and some
	// other node are separated by it (Even 1975).
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

// disjointPaths counts paths from s to t that share no inner node, up to most.
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

// flow is a set of paths from s to t that share no inner node. next and prev are the neighbours of an inner node on its
// path, or -1 if it is on none. Every node i but s and t is split into an entrance, state 2i, and an exit, state 2i+1,
// which are joined by an edge of capacity 1.
type flow struct {
	g          Graph
	s, t       int
	next, prev []int
}

// augment searches the states breadth first for an augmenting path, and changes the paths along it. It reports whether
// there is now one path more.
func (f *flow) augment() bool {
	from := make([]int, 2*f.g.n) // the state from which each state was reached, plus 1; 0: not reached
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

// reroute changes the paths along the augmenting path that ends at the state last.
func (f *flow) reroute(from []int, last int) {
	states := []int{last}
	for state := last; state != 2*f.s+1; {
		state = from[state] - 1
		states = append(states, state)
	}
	slices.Reverse(states)
	var cut, add [][2]int
	for k := 1; k < len(states); k++ {
		i, j := states[k-1]/2, states[k]/2
		switch exit := states[k-1]%2 == 1; {
		case i == j:
		case exit:
			add = append(add, [2]int{i, j})
		default:
			cut = append(cut, [2]int{j, i})
		}
	}
	for _, e := range cut {
		f.cut(e[0], e[1])
	}
	for _, e := range append(add, [2]int{last / 2, f.t}) {
		f.join(e[0], e[1])
	}
}

func (f *flow) join(i, j int) {
	if i != f.s {
		f.next[i] = j
	}
	if j != f.t {
		f.prev[j] = i
	}
}

func (f *flow) cut(i, j int) {
	if i != f.s && f.next[i] == j {
		f.next[i] = -1
	}
	if j != f.t && f.prev[j] == i {
		f.prev[j] = -1
	}
}
