// Package design makes graphs that are r-robust with few edges: new ones from nothing (Design), and existing ones by
// adding edges (Improve). The exact search of package graph/robustness confirms every result.
//
// Its rank is 3: it starts from a graph of package graph/topology.
package design

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
)

// ErrStopped is returned if stop ends the work before there is a result.
var ErrStopped = errors.New("graph: stopped before an answer was found")

// Designed is an r-robust graph with few edges.
type Designed struct {
	Graph   graph.Graph
	R       int    // the robustness asked for, which the exact search has confirmed
	Method  string // how the graph was made
	Plain   int    // edges of the best construction that needs no search, from which the search started
	Best    int    // fewest edges known to suffice, those of this graph included
	Optimal bool   // no graph with fewer edges exists
}

// leastEdges[n][r-1] is the least number of edges of an r-robust graph, found by listing all graphs
// (robustness.md 5.1).
var leastEdges = map[int][]int{
	1: {0}, 2: {1}, 3: {2, 3}, 4: {3, 5}, 5: {4, 6, 9}, 6: {5, 8, 11}, 7: {6, 10, 14, 18}, 8: {7, 11, 15, 21},
	9: {8, 13, 18, 23, 30}, 10: {9, 15, 21, 27, 33}, 11: {10, 16},
}

// fewestFound holds, by n and r, the fewest edges that searches have found where the least is not proven (robustness.md
// 5.1, 5.2).
var fewestFound = map[[2]int]int{
	{11, 3}: 23, {11, 4}: 28, {11, 5}: 36, {12, 2}: 18, {12, 3}: 25, {12, 4}: 32, {12, 5}: 39,
	{16, 3}: 36, {16, 4}: 45, {16, 5}: 55, {20, 2}: 32, {20, 3}: 46, {20, 4}: 60, {20, 5}: 72,
}

// LeastEdges returns the proven least number of edges of an r-robust graph with n nodes. It is
// known up to n = 10 from a table, for r = 1 (n-1, a tree), and for n = 2r-1 and n = 2r (those of
// γ-MERG; Lee & Panagou 2026).
func LeastEdges(n, r int) (edges int, known bool) {
	if row := leastEdges[n]; r >= 1 && r <= len(row) {
		return row[r-1], true
	}
	switch gamma := (n + 1) / 2; {
	case r == 1 && n > 0:
		return n - 1, true
	case r == gamma && n%2 == 1:
		return 3 * gamma * (gamma - 1) / 2, true
	case r == gamma && n > 0:
		return gamma*(gamma-1)/2 + gamma*gamma - (gamma-1)/2, true
	}
	return 0, false
}

// Design makes an r-robust graph on n nodes with few edges, for n from 1 to robustness.SearchLimit
// and r from 1 to ⌈n/2⌉; otherwise it returns an error. It starts from the best known construction,
// then removes edges and adds fewer back. It ends when the number of edges is proven to be least,
// after the given number of tries (0: 20,000), or when stop (nil: never) returns true.
func Design(n, r int, seed uint64, tries int, stop func() bool) (Designed, error) {
	if n < 1 || n > robustness.SearchLimit {
		return Designed{}, fmt.Errorf("graph: design of %d nodes: want 1 to %d, where robustness can be confirmed", n,
			robustness.SearchLimit)
	}
	if r < 1 || r > (n+1)/2 {
		return Designed{}, fmt.Errorf("graph: no graph of %d nodes is %d-robust: want 1 to ⌈n/2⌉ = %d", n, r, (n+1)/2)
	}
	if tries == 0 {
		tries = 20_000
	}
	if stop == nil {
		stop = func() bool { return false }
	}
	edges, method := construct(n, r)
	d := Designed{R: r, Method: method, Plain: len(edges)}
	least, known := LeastEdges(n, r)
	s := sparser{n: n, r: r, least: least, stop: stop, rng: rand.New(rand.NewPCG(seed, 0x737061727365))}
	if known && least == len(edges) {
		tries = 0
	}
	if found := s.search(edges, tries); len(found) < len(edges) {
		edges, d.Method = found, method+", then search"
	}
	d.Graph = graph.MustNew(n, false, edges)
	d.Best, d.Optimal = len(edges), known && least == len(edges)
	for _, record := range []int{least, fewestFound[[2]int{n, r}]} {
		if record > 0 {
			d.Best = min(d.Best, record)
		}
	}
	return d, nil
}

// construct returns the construction with fewest edges (robustness.md 5.2): a star for r = 1; K_{r,n-r} for n ≥ 3r-1,
// which is r-robust for these n only; γ-MERG, for n > 2r with r edges for each further node (LeBlanc 2013, Theorem 5).
func construct(n, r int) (edges [][2]int, method string) {
	if bipartite := r * (n - r); n >= 3*r-1 && (r == 1 || bipartite < mergEdges(n, r)) {
		for u := range r {
			for v := r; v < n; v++ {
				edges = append(edges, [2]int{u, v})
			}
		}
		return edges, fmt.Sprintf("complete bipartite K_{%d,%d}", r, n-r)
	}
	core := min(n, 2*r-1)
	if n == 2*r {
		core = n
	}
	merg, err := topology.Build("merg", core, nil, 0)
	if err != nil {
		panic(err) // 1 ≤ core ≤ n
	}
	edges = merg.Edges()
	for v := core; v < n; v++ {
		for u := range r {
			edges = append(edges, [2]int{u, v})
		}
	}
	if core == n {
		return edges, "γ-MERG"
	}
	return edges, fmt.Sprintf("γ-MERG of %d nodes and %d edges for each further one", core, r)
}

func mergEdges(n, r int) int { return r*n - r*(r+1)/2 }
