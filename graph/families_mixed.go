package graph

import "fmt"

// regular starts from a circulant of the degree and mixes it by swapping the ends of random pairs of edges, which keeps
// all degrees; 20 swaps an edge leave nothing of the start that a test could see. It mixes on until connected.
func regular(s *site) (edgeList, error) {
	d := s.int("degree")
	if d < 0 || d >= s.n {
		return nil, fmt.Errorf("degree: %d: want 0 to %d", d, s.n-1)
	}
	if s.n*d%2 == 1 {
		return nil, fmt.Errorf("degree: n·degree = %d·%d is odd: no such graph", s.n, d)
	}
	edges := circular(s.n, d/2)
	if d%2 == 1 {
		for u := range s.n / 2 {
			edges = append(edges, [2]int{u, u + s.n/2})
		}
	}
	if d == s.n-1 || len(edges) < 2 {
		return edges, nil
	}
	for range 100 {
		s.swap(edges, 20*len(edges))
		if d < 2 || mustNew(s.n, false, edges).Connected() {
			return edges, nil
		}
	}
	return nil, fmt.Errorf("degree: no connected draw in 100")
}

// swap replaces random edges ab, cd by ad, cb where that keeps the graph simple.
func (s *site) swap(edges edgeList, times int) {
	adjacent := newMatrix(s.n)
	link := func(u, v int) { adjacent.set(u, v); adjacent.set(v, u) }
	cut := func(u, v int) { adjacent.clear(u, v); adjacent.clear(v, u) }
	for _, e := range edges {
		link(e[0], e[1])
	}
	for range times {
		e, f := &edges[s.rng.IntN(len(edges))], &edges[s.rng.IntN(len(edges))]
		if s.rng.IntN(2) == 1 {
			f[0], f[1] = f[1], f[0]
		}
		a, b, c, d := e[0], e[1], f[0], f[1]
		if e == f || a == d || c == b || adjacent.has(a, d) || adjacent.has(c, b) {
			continue
		}
		cut(a, b)
		cut(c, d)
		link(a, d)
		link(c, b)
		e[1], f[1] = d, b
	}
}

// smallWorld moves the far end of each edge of a circulant, with probability p, to a node not yet joined.
func smallWorld(s *site) (edgeList, error) {
	k := s.int("k")
	if k < 1 || k > (s.n-1)/2 {
		return nil, fmt.Errorf("k: %d nearest nodes: want 1 to %d", k, (s.n-1)/2)
	}
	p, err := s.chance("p")
	if err != nil {
		return nil, err
	}
	edges := circular(s.n, k)
	adjacent := newMatrix(s.n)
	for _, e := range edges {
		adjacent.set(e[0], e[1])
		adjacent.set(e[1], e[0])
	}
	for i, e := range edges {
		if s.rng.Float64() >= p || adjacent.degree(e[0]) == s.n-1 {
			continue
		}
		v := s.rng.IntN(s.n)
		for v == e[0] || adjacent.has(e[0], v) {
			v = s.rng.IntN(s.n)
		}
		adjacent.clear(e[0], e[1])
		adjacent.clear(e[1], e[0])
		adjacent.set(e[0], v)
		adjacent.set(v, e[0])
		edges[i][1] = v
	}
	return s.join(edges, false), nil
}
