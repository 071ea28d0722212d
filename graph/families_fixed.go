package graph

import (
	"fmt"
	"math"
	"slices"
)

type edgeList = [][2]int

// clique joins all pairs of the nodes from..to-1.
func clique(edges edgeList, from, to int) edgeList {
	for u := from; u < to; u++ {
		for v := u + 1; v < to; v++ {
			edges = append(edges, [2]int{u, v})
		}
	}
	return edges
}

func complete(s *site) (edgeList, error) {
	s.built.AtLeast = (s.n + 1) / 2
	return clique(nil, 0, s.n), nil
}

// merg follows SAC's Appendix A. Odd n = 2γ-1: a clique X of γ+1 nodes and the other γ-2 (the text's γ-1 is a slip: they
// would not add up to n) each joined to γ of them: all but node 1, which at n = 7 gives the paper's own graph, K5 on 0–4
// with 5 and 6 each joined to {0,2,3,4}. Even n = 2γ: γ nodes joined to everyone, less ⌈(γ-2)/2⌉ disjoint pairs among them.
func merg(s *site) (edgeList, error) {
	gamma := (s.n + 1) / 2
	s.built.AtLeast = gamma
	if s.n < 4 {
		return clique(nil, 0, s.n), nil
	}
	var edges edgeList
	if s.n%2 == 1 {
		edges = clique(nil, 0, gamma+1)
		for v := gamma + 1; v < s.n; v++ {
			for u := range gamma + 1 {
				if u != 1 {
					edges = append(edges, [2]int{u, v})
				}
			}
		}
		return edges, nil
	}
	missing := (gamma - 1) / 2 // ⌈(γ-2)/2⌉
	for u := range gamma {
		for v := u + 1; v < s.n; v++ {
			if u%2 == 0 && v == u+1 && u/2 < missing {
				continue
			}
			edges = append(edges, [2]int{u, v})
		}
	}
	return edges, nil
}

func ring(s *site) (edgeList, error) {
	if s.n < 3 {
		return nil, fmt.Errorf("a ring needs at least 3 nodes")
	}
	s.built.AtLeast = 1
	return circular(s.n, 1), nil
}

// circular joins each node to the k after it, in node order.
func circular(n, k int) (edges edgeList) {
	for u := range n {
		for d := 1; d <= k; d++ {
			edges = append(edges, [2]int{u, (u + d) % n})
		}
	}
	return edges
}

func circulant(s *site) (edgeList, error) {
	k, most := s.int("k"), (s.n-1)/2
	if s.bool("directed") {
		most = s.n - 1
	}
	if k < 1 || k > most {
		return nil, fmt.Errorf("k: %d nearest nodes: want 1 to %d", k, most)
	}
	s.built.AtLeast = 1
	return circular(s.n, k), nil
}

func star(s *site) (edges edgeList, err error) {
	s.built.AtLeast = 1
	for v := 1; v < s.n; v++ {
		edges = append(edges, [2]int{0, v})
	}
	return edges, nil
}

func chain(s *site) (edges edgeList, err error) {
	s.built.AtLeast = 1
	for v := 1; v < s.n; v++ {
		edges = append(edges, [2]int{v - 1, v})
	}
	return edges, nil
}

func tree(s *site) (edges edgeList, err error) {
	arity := s.int("arity")
	if arity < 1 {
		return nil, fmt.Errorf("arity: %d children: want at least 1", arity)
	}
	s.built.AtLeast = 1
	for v := 1; v < s.n; v++ {
		edges = append(edges, [2]int{(v - 1) / arity, v})
	}
	return edges, nil
}

func grid(s *site) (edges edgeList, err error) {
	columns := s.int("columns")
	if columns == 0 {
		columns = int(math.Ceil(math.Sqrt(float64(s.n))))
		s.derive("columns", columns)
	}
	if columns < 1 {
		return nil, fmt.Errorf("columns: %d: want at least 1", columns)
	}
	s.built.AtLeast = 1
	for v := range s.n {
		if v%columns != 0 {
			edges = append(edges, [2]int{v - 1, v})
		}
		if v >= columns {
			edges = append(edges, [2]int{v - columns, v})
		}
	}
	return edges, nil
}

func explicit(s *site) (edgeList, error) {
	return slices.Clone(s.built.Params["edges"].(edgeList)), nil
}
