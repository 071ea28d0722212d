package graph

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// MaxNodes is the largest number of nodes of a Graph. The adjacency matrix of such a graph takes 32 MiB, which limits
// what a hostile file can make a program allocate.
const MaxNodes = 1 << 14

// Graph is an immutable simple graph on the nodes 0 to n-1. The zero value is the graph without nodes.
type Graph struct {
	n, m     int
	directed bool
	in, out  matrix // the same matrix if the graph is undirected
}

// matrix is a square bit matrix with one row of stride words for each node.
type matrix struct {
	stride int
	words  []uint64
}

func newMatrix(n int) matrix {
	stride := (n + 63) / 64
	return matrix{stride, make([]uint64, n*stride)}
}

func (m matrix) row(i int) []uint64    { return m.words[i*m.stride : (i+1)*m.stride : (i+1)*m.stride] }
func (m matrix) has(i, j int) bool     { return m.words[i*m.stride+j>>6]>>(j&63)&1 != 0 }
func (m matrix) set(i, j int)          { m.words[i*m.stride+j>>6] |= 1 << (j & 63) }
func (m matrix) unset(i, j int)        { m.words[i*m.stride+j>>6] &^= 1 << (j & 63) }
func (m matrix) degree(i int) (d int)  { return popcount(m.row(i)) }
func (m matrix) list(i, deg int) []int { return AppendBits(make([]int, 0, deg), m.row(i)) }

func popcount(row []uint64) (c int) {
	for _, w := range row {
		c += bits.OnesCount64(w)
	}
	return c
}

// AppendBits appends to a list the positions of the bits that are set in a row of words, in ascending order. Bit b of
// word k has the position 64k+b.
func AppendBits(to []int, row []uint64) []int {
	for k, w := range row {
		for ; w != 0; w &= w - 1 {
			to = append(to, k<<6+bits.TrailingZeros64(w))
		}
	}
	return to
}

// New builds a graph on n nodes, 1 to MaxNodes. If it is directed, the edge [u,v] means that v
// receives what u sends; otherwise [u,v] and [v,u] are the same edge. It returns an error that
// names the edge for a self-loop, a duplicate edge or an unknown node.
func New(n int, directed bool, edges [][2]int) (Graph, error) {
	if n < 1 || n > MaxNodes {
		return Graph{}, fmt.Errorf("graph: %d nodes: want 1 to %d", n, MaxNodes)
	}
	g := Graph{n: n, directed: directed, in: newMatrix(n)}
	g.out = g.in
	if directed {
		g.out = newMatrix(n)
	}
	for k, e := range edges {
		u, v := e[0], e[1]
		switch {
		case u < 0 || u >= n:
			return Graph{}, fmt.Errorf("graph: edge %d [%d,%d]: unknown node %d: nodes are 0 to %d", k, u, v, u, n-1)
		case v < 0 || v >= n:
			return Graph{}, fmt.Errorf("graph: edge %d [%d,%d]: unknown node %d: nodes are 0 to %d", k, u, v, v, n-1)
		case u == v:
			return Graph{}, fmt.Errorf("graph: edge %d [%d,%d]: self-loop: a node needs no edge to itself", k, u, v)
		case g.in.has(v, u):
			return Graph{}, fmt.Errorf("graph: edge %d [%d,%d]: duplicate edge", k, u, v)
		}
		g.in.set(v, u)
		g.out.set(u, v)
		if !directed {
			g.in.set(u, v)
		}
		g.m++
	}
	return g, nil
}

// MustNew is New for edges that are known to be valid. It panics on an error.
func MustNew(n int, directed bool, edges [][2]int) Graph {
	g, err := New(n, directed, edges)
	if err != nil {
		panic(err)
	}
	return g
}

// N returns the number of nodes.
func (g Graph) N() int { return g.n }

// Directed reports whether [u,v] and [v,u] are different edges.
func (g Graph) Directed() bool { return g.directed }

// EdgeCount returns the number of edges; an undirected edge counts once.
func (g Graph) EdgeCount() int { return g.m }

// HasEdge reports whether u is an in-neighbour of v.
func (g Graph) HasEdge(u, v int) bool { return g.in.has(v, u) }

// In returns the in-neighbours of i, ascending.
func (g Graph) In(i int) []int { return g.in.list(i, g.InDegree(i)) }

// Out returns the nodes that have i as an in-neighbour, ascending.
func (g Graph) Out(i int) []int { return g.out.list(i, g.OutDegree(i)) }

// InDegree returns the number of in-neighbours of i.
func (g Graph) InDegree(i int) int { return g.in.degree(i) }

// OutDegree returns the number of nodes that have i as an in-neighbour.
func (g Graph) OutDegree(i int) int { return g.out.degree(i) }

// InBits returns the in-neighbours of i as a row of bits, to be read with AppendBits. The caller must not change it.
func (g Graph) InBits(i int) []uint64 { return g.in.row(i) }

// OutBits returns the nodes that have i as an in-neighbour as a row of bits. The caller must not change it.
func (g Graph) OutBits(i int) []uint64 { return g.out.row(i) }

// MinDegree returns the smallest in-degree; the number of nodes, 0, for the zero Graph.
func (g Graph) MinDegree() int {
	least := g.n
	for i := range g.n {
		least = min(least, g.InDegree(i))
	}
	return least
}

// MaxDegree returns the largest in-degree.
func (g Graph) MaxDegree() int {
	most := 0
	for i := range g.n {
		most = max(most, g.InDegree(i))
	}
	return most
}

// Edges returns the edges in ascending order; undirected ones as [u,v] with u < v.
func (g Graph) Edges() [][2]int {
	edges := make([][2]int, 0, g.m)
	for u := range g.n {
		for _, v := range g.Out(u) {
			if g.directed || u < v {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	return edges
}

// Links returns the number of messages that are sent when every node sends one to each of its neighbours: twice the
// number of edges of an undirected graph.
func (g Graph) Links() int {
	if g.directed {
		return g.m
	}
	return 2 * g.m
}

// Equal reports whether both graphs have the same nodes, direction and edges.
func (g Graph) Equal(h Graph) bool {
	return g.n == h.n && g.directed == h.directed && slices.Equal(g.in.words, h.in.words)
}

// String describes the graph for logs, such as "7 nodes, 18 edges".
func (g Graph) String() string {
	kind := "edges"
	if g.directed {
		kind = "directed edges"
	}
	return fmt.Sprintf("%d nodes, %d %s", g.n, g.m, kind)
}

// Without removes nodes from a graph. The remaining nodes are renumbered in order; kept[i] is the number that node i of
// the rest had before. It returns an error for an unknown or repeated node, or if no node remains.
func Without(g Graph, nodes []int) (rest Graph, kept []int, err error) {
	gone, err := g.members(nodes)
	if err != nil {
		return Graph{}, nil, err
	}
	index := make([]int, g.n)
	for i := range g.n {
		if index[i] = -1; !gone[i] {
			index[i] = len(kept)
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return Graph{}, nil, errors.New("graph: no node is left")
	}
	var edges [][2]int
	for _, e := range g.Edges() {
		if u, v := index[e[0]], index[e[1]]; u >= 0 && v >= 0 {
			edges = append(edges, [2]int{u, v})
		}
	}
	return MustNew(len(kept), g.directed, edges), kept, nil
}
