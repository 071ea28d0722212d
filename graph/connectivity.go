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
	split := g.split()
	// A separator with fewer than best nodes leaves out one of the first best nodes. That node and some other node are
	// separated by it (Even 1975).
	for u := 0; u < best; u++ {
		for v := range g.n {
			if u == v {
				continue
			}
			if !g.HasEdge(u, v) {
				best = min(best, split.disjointPaths(u, v, best))
			}
			if g.directed && !g.HasEdge(v, u) {
				best = min(best, split.disjointPaths(v, u, best))
			}
		}
	}
	return best, nil
}

// network is a graph for flows, in which every node i is split into an entrance, row i, and an exit, row n+i. Each bit
// is an edge of capacity 1, so that paths from an exit to an entrance that share no edge share no inner node.
type network struct {
	n    int
	room matrix // the edges that have room for one more path
}

// split joins the entrance of each node to its exit, and the exits of nodes to the entrances of their neighbours.
func (g Graph) split() network {
	room := newMatrix(2 * g.n)
	for i := range g.n {
		room.set(i, g.n+i)
		copy(room.row(g.n+i), g.out.row(i))
	}
	return network{g.n, room}
}

// disjointPaths counts paths from s to t that share no inner node, up to most. There must be no edge from s to t.
func (w network) disjointPaths(s, t, most int) int {
	room := matrix{w.room.stride, slices.Clone(w.room.words)}
	paths := 0
	for paths < most && room.augment(w.n+s, t) {
		paths++
	}
	return paths
}

// augment lays one more path from s to t along edges with room, by the method of Ford and Fulkerson: an edge of the
// path loses its room and gives room in the other direction, where a later path undoes it. It reports whether there was
// a path.
func (m matrix) augment(s, t int) bool {
	from := slices.Repeat([]int{-1}, len(m.words)/m.stride) // -1: not reached
	seen, fresh := make([]uint64, m.stride), make([]uint64, m.stride)
	queue := []int{s}
	for k := 0; k < len(queue) && from[t] == -1; k++ {
		i, end := queue[k], len(queue)
		for w, row := range m.row(i) {
			fresh[w] = row &^ seen[w]
			seen[w] |= row
		}
		queue = AppendBits(queue, fresh)
		for _, j := range queue[end:] {
			from[j] = i
		}
	}
	if from[t] == -1 {
		return false
	}
	for j := t; j != s; j = from[j] {
		m.unset(from[j], j)
		m.set(j, from[j])
	}
	return true
}
