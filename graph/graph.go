package graph

import (
	"fmt"
	"math/bits"
)

// MaxNodes bounds the size of a Graph. Adjacency is a bit matrix, 32 MiB at this size; a hostile file cannot ask for
// more.
const MaxNodes = 1 << 14

// Graph is an immutable simple graph on the nodes 0..n-1. The zero value is the graph without nodes.
type Graph struct {
	n, m     int
	directed bool
	in, out  matrix // the same matrix when undirected
}

// matrix is a square bit matrix, one row of stride words a node.
type matrix struct {
	stride int
	words  []uint64
}

func newMatrix(n int) matrix {
	stride := (n + 63) / 64
	return matrix{stride, make([]uint64, n*stride)}
}

func (m matrix) row(i int) []uint64    { return m.words[i*m.stride : (i+1)*m.stride] }
func (m matrix) has(i, j int) bool     { return m.words[i*m.stride+j>>6]>>(j&63)&1 != 0 }
func (m matrix) set(i, j int)          { m.words[i*m.stride+j>>6] |= 1 << (j & 63) }
func (m matrix) clear(i, j int)        { m.words[i*m.stride+j>>6] &^= 1 << (j & 63) }
func (m matrix) degree(i int) (d int)  { return popcount(m.row(i)) }
func (m matrix) list(i, deg int) []int { return appendBits(make([]int, 0, deg), m.row(i)) }

func popcount(row []uint64) (c int) {
	for _, w := range row {
		c += bits.OnesCount64(w)
	}
	return c
}

// appendBits appends the positions of the set bits in ascending order.
func appendBits(to []int, row []uint64) []int {
	for k, w := range row {
		for ; w != 0; w &= w - 1 {
			to = append(to, k<<6+bits.TrailingZeros64(w))
		}
	}
	return to
}

// New builds a graph on the nodes 0..n-1. For a directed graph the edge [u,v] means that v hears u; for an undirected
// one [u,v] and [v,u] are the same edge. Self-loops, duplicates and unknown nodes are errors that name the edge.
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
		case u < 0 || u >= n || v < 0 || v >= n:
			return Graph{}, fmt.Errorf("graph: edge %d [%d,%d]: unknown node %d: nodes are 0 to %d", k, u, v, outside(u, v, n), n-1)
		case u == v:
			return Graph{}, fmt.Errorf("graph: edge %d [%d,%d]: self-loop: a node always hears itself", k, u, v)
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

func outside(u, v, n int) int {
	if u < 0 || u >= n {
		return u
	}
	return v
}

// mustNew is New for edges that this package made itself, where an error is a broken invariant.
func mustNew(n int, directed bool, edges [][2]int) Graph {
	g, err := New(n, directed, edges)
	if err != nil {
		panic(err)
	}
	return g
}

// N is the number of nodes.
func (g Graph) N() int { return g.n }

// Directed reports whether [u,v] and [v,u] are different edges.
func (g Graph) Directed() bool { return g.directed }

// EdgeCount is the number of edges; an undirected edge counts once.
func (g Graph) EdgeCount() int { return g.m }

// HasEdge reports whether v hears u.
func (g Graph) HasEdge(u, v int) bool { return g.in.has(v, u) }

// In lists the nodes that i hears, ascending.
func (g Graph) In(i int) []int { return g.in.list(i, g.InDegree(i)) }

// Out lists the nodes that hear i, ascending.
func (g Graph) Out(i int) []int { return g.out.list(i, g.OutDegree(i)) }

// InDegree is the number of nodes that i hears.
func (g Graph) InDegree(i int) int { return g.in.degree(i) }

// OutDegree is the number of nodes that hear i.
func (g Graph) OutDegree(i int) int { return g.out.degree(i) }

// MinDegree is the smallest in-degree, an upper bound on robustness (but for the value 1: see Robustness).
func (g Graph) MinDegree() int {
	least := g.n
	for i := range g.n {
		least = min(least, g.InDegree(i))
	}
	return least
}

// MaxDegree is the largest in-degree.
func (g Graph) MaxDegree() int {
	most := 0
	for i := range g.n {
		most = max(most, g.InDegree(i))
	}
	return most
}

// Edges lists the edges in ascending order; undirected ones as [u,v] with u < v.
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

// Links is the number of messages when every node tells its listeners something once: twice the edges of an undirected
// graph.
func (g Graph) Links() int {
	if g.directed {
		return g.m
	}
	return 2 * g.m
}

// Equal reports whether both graphs have the same nodes, direction and edges.
func (g Graph) Equal(h Graph) bool {
	if g.n != h.n || g.m != h.m || g.directed != h.directed {
		return false
	}
	for k, w := range g.in.words {
		if h.in.words[k] != w {
			return false
		}
	}
	return true
}

// String is a short description for logs: "7 nodes, 18 edges".
func (g Graph) String() string {
	kind := "edges"
	if g.directed {
		kind = "directed edges"
	}
	return fmt.Sprintf("%d nodes, %d %s", g.n, g.m, kind)
}
