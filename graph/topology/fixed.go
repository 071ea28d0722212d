package topology

import (
	"errors"
	"fmt"
	"math"

	"synod.dev/synod/graph"
)

// connected is embedded in topologies whose graphs are always connected, that is, 1-robust.
type connected struct{}

func (connected) AtLeast(int) int { return 1 }

type complete struct{}

func (complete) AtLeast(n int) int { return (n + 1) / 2 }

func (complete) Build(n int, _ uint64) (graph.Graph, error) {
	return graph.New(n, false, clique(nil, 0, n))
}

// clique adds an edge for each pair of the nodes from to to-1.
func clique(edges [][2]int, from, to int) [][2]int {
	for u := from; u < to; u++ {
		for v := u + 1; v < to; v++ {
			edges = append(edges, [2]int{u, v})
		}
	}
	return edges
}

type merg struct{}

func (merg) AtLeast(n int) int { return (n + 1) / 2 }

// Build follows SAC's Appendix A. For odd n = 2γ-1 it is a clique X of γ+1 nodes, and the other γ-2 nodes are
// each joined to γ of them (the paper has γ-1 other nodes, a mistake: they would not add up to n). These γ
// are all but node 1, which at n = 7 gives the graph in the paper: K5 on 0–4, with 5 and 6 each joined to
// {0,2,3,4}. For even n = 2γ, γ nodes are joined to every other, less ⌈(γ-2)/2⌉ disjoint pairs among them.
func (merg) Build(n int, _ uint64) (graph.Graph, error) {
	gamma := (n + 1) / 2
	if n < 4 {
		return graph.New(n, false, clique(nil, 0, n))
	}
	var edges [][2]int
	if n%2 == 1 {
		edges = clique(nil, 0, gamma+1)
		for v := gamma + 1; v < n; v++ {
			for u := range gamma + 1 {
				if u != 1 {
					edges = append(edges, [2]int{u, v})
				}
			}
		}
		return graph.New(n, false, edges)
	}
	missing := (gamma - 1) / 2 // ⌈(γ-2)/2⌉
	for u := range gamma {
		for v := u + 1; v < n; v++ {
			if u%2 == 0 && v == u+1 && u/2 < missing {
				continue
			}
			edges = append(edges, [2]int{u, v})
		}
	}
	return graph.New(n, false, edges)
}

type ring struct{ connected }

func (ring) Build(n int, _ uint64) (graph.Graph, error) {
	if n < 3 {
		return graph.Graph{}, errors.New("a ring needs at least 3 nodes")
	}
	return graph.New(n, false, circular(n, 1))
}

// circular joins each node to the k after it on a ring.
func circular(n, k int) (edges [][2]int) {
	for u := range n {
		for d := 1; d <= k; d++ {
			edges = append(edges, [2]int{u, (u + d) % n})
		}
	}
	return edges
}

type circulant struct {
	connected
	K        int  `yaml:"k" doc:"nearest nodes on either side"`
	Directed bool `yaml:"directed" doc:"only the k nodes before are in-neighbours"`
}

func (c *circulant) Build(n int, _ uint64) (graph.Graph, error) {
	most := (n - 1) / 2
	if c.Directed {
		most = n - 1
	}
	if c.K < 1 || c.K > most {
		return graph.Graph{}, fmt.Errorf("k is %d; on %d nodes it must be between 1 and %d", c.K, n, most)
	}
	return graph.New(n, c.Directed, circular(n, c.K))
}

type star struct{ connected }

func (star) Build(n int, _ uint64) (graph.Graph, error) {
	return below(n, func(int) int { return 0 })
}

type chain struct{ connected }

func (chain) Build(n int, _ uint64) (graph.Graph, error) {
	return below(n, func(v int) int { return v - 1 })
}

type tree struct {
	connected
	Arity int `yaml:"arity" doc:"children of each node"`
}

func (t *tree) Build(n int, _ uint64) (graph.Graph, error) {
	if t.Arity < 1 {
		return graph.Graph{}, fmt.Errorf("arity is %d; it must be at least 1 (example: arity: 2)", t.Arity)
	}
	return below(n, func(v int) int { return (v - 1) / t.Arity })
}

// below joins each node but 0 to its parent.
func below(n int, parent func(v int) int) (graph.Graph, error) {
	var edges [][2]int
	for v := 1; v < n; v++ {
		edges = append(edges, [2]int{parent(v), v})
	}
	return graph.New(n, false, edges)
}

type grid struct {
	connected
	Columns int `yaml:"columns" doc:"nodes in a row; 0: ⌈√n⌉"`
}

func (g *grid) Layers(n int) (rows []int) {
	for from := 0; from < n; from += g.Columns {
		rows = append(rows, min(g.Columns, n-from))
	}
	return rows
}

func (g *grid) Build(n int, _ uint64) (graph.Graph, error) {
	if g.Columns == 0 {
		g.Columns = int(math.Ceil(math.Sqrt(float64(n))))
	}
	if g.Columns < 1 {
		return graph.Graph{}, fmt.Errorf("columns is %d; it must be at least 1, or 0 for ⌈√n⌉", g.Columns)
	}
	var edges [][2]int
	for v := range n {
		if v%g.Columns != 0 {
			edges = append(edges, [2]int{v - 1, v})
		}
		if v >= g.Columns {
			edges = append(edges, [2]int{v - g.Columns, v})
		}
	}
	return graph.New(n, false, edges)
}

type edges struct {
	Edges    [][2]int `yaml:"edges" doc:"pairs [u,v] of nodes 0 to n-1"`
	Directed bool     `yaml:"directed" doc:"[u,v] means only that v receives what u sends"`
}

func (e *edges) Build(n int, _ uint64) (graph.Graph, error) {
	return graph.New(n, e.Directed, e.Edges)
}

// asPairs converts a decoded list of pairs of nodes.
func asPairs(value any) ([][2]int, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case [][2]int:
		return v, nil
	case []any:
		pairs := make([][2]int, len(v))
		for k, item := range v {
			ends, ok := item.([]any)
			if !ok || len(ends) != 2 || !isNode(ends[0], &pairs[k][0]) || !isNode(ends[1], &pairs[k][1]) {
				return nil, fmt.Errorf("entry %d: %v is not a pair of nodes", k, item)
			}
		}
		return pairs, nil
	}
	return nil, fmt.Errorf("%v is not a list of pairs of nodes", value)
}

// isNode reports whether a decoded number is a whole number, and stores it.
func isNode(value any, to *int) bool {
	switch v := value.(type) {
	case int:
		*to = v
		return true
	case int64:
		*to = int(v)
		return true
	case uint64:
		*to = int(v)
		return v < math.MaxInt32
	case float64:
		*to = int(v)
		return v == math.Trunc(v) && math.Abs(v) < math.MaxInt32
	}
	return false
}
