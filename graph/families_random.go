package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// wantedR reads the parameter r of the families that promise it; left open it is SAC's 4 or what the size allows.
func (s *site) wantedR() (int, error) {
	r, most := s.int("r"), (s.n+1)/2
	if r == 0 {
		r = min(4, most)
		s.derive("r", r)
	}
	if r < 1 || r > most {
		return 0, fmt.Errorf("r: no graph of this size is %d-robust: want 1 to ⌈n/2⌉ = %d", r, most)
	}
	s.built.AtLeast = r
	return r, nil
}

// preferential needs n ≥ 2r-1, which r ≤ ⌈n/2⌉ says.
func preferential(s *site) (edgeList, error) {
	r, err := s.wantedR()
	if err != nil {
		return nil, err
	}
	attach := s.built.Params["attach"].(string)
	if known := []string{"any", "clique", "degree"}; !slices.Contains(known, attach) {
		return nil, fmt.Errorf("attach: unknown rule %q%s", attach, didYouMean(attach, known))
	}
	core := 2*r - 1
	edges := clique(nil, 0, core)
	var ends []int // each node once for every edge it has: drawing from here is drawing by degree
	for _, e := range edges {
		ends = append(ends, e[0], e[1])
	}
	for v := core; v < s.n; v++ {
		var chosen []int
		for len(chosen) < r {
			u := s.rng.IntN(v)
			switch {
			case attach == "clique":
				u = s.rng.IntN(core)
			case attach == "degree" && len(ends) > 0:
				u = ends[s.rng.IntN(len(ends))]
			}
			if !slices.Contains(chosen, u) {
				chosen = append(chosen, u)
			}
		}
		for _, u := range chosen {
			edges = append(edges, [2]int{u, v})
			ends = append(ends, u, v)
		}
	}
	return edges, nil
}

// gnp draws each pair with probability p; for a directed graph each ordered pair.
func (s *site) gnp(p float64, directed bool) (edges edgeList) {
	for u := range s.n {
		for v := range s.n {
			if u != v && (directed || u < v) && s.rng.Float64() < p {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	return edges
}

// erdosRenyi redraws until the graph is r-robust, as SAC does, and counts the draws.
func erdosRenyi(s *site) (edgeList, error) {
	r, err := s.wantedR()
	if err != nil {
		return nil, err
	}
	if s.float("p") == -1 {
		s.derive("p", sacDensity(s.n, r))
	}
	p, err := s.chance("p")
	if err != nil {
		return nil, err
	}
	tries := s.int("tries")
	for s.built.Draws < tries {
		s.built.Draws++
		edges := s.gnp(p, false)
		if yes, known := IsRobust(mustNew(s.n, false, edges), r, nil); !known {
			return nil, fmt.Errorf("r: %d-robustness cannot be decided at this size", r)
		} else if yes {
			return edges, nil
		}
	}
	return nil, fmt.Errorf("none of %d draws with p = %.3f was %d-robust: raise tries or p", tries, p, r)
}

// sacDensity is the threshold of Zhang et al. 2015, Theorem 3, cut to a probability; below three nodes, where ln ln n
// is negative or undefined, it is 1.
func sacDensity(n, r int) float64 {
	if n < 3 {
		return 1
	}
	ln := math.Log(float64(n))
	return min(1, (ln+float64(r-1)*math.Log(ln))/float64(n))
}

func randomGraph(s *site) (edgeList, error) {
	p, err := s.chance("p")
	if err != nil {
		return nil, err
	}
	directed := s.bool("directed")
	edges := s.gnp(p, directed)
	if s.bool("joined") {
		edges = s.join(edges, directed)
	}
	return edges, nil
}

// join adds one random edge (both ways when directed) from each component but the first to what is joined already.
// A directed result is weakly, not always strongly, connected.
func (s *site) join(edges edgeList, directed bool) edgeList {
	if !directed {
		s.built.AtLeast = 1
	}
	parts := mustNew(s.n, directed, edges).Components()
	joined := parts[0]
	for _, part := range parts[1:] {
		u, v := joined[s.rng.IntN(len(joined))], part[s.rng.IntN(len(part))]
		edges = append(edges, [2]int{u, v})
		if directed {
			edges = append(edges, [2]int{v, u})
		}
		joined = append(joined, part...)
	}
	return edges
}

// layered is CP-6: {0,1,2}, {3,4}, {5,6} at n = 7. Which pairs of layers get the 30 % random edges is not said; ours are
// the neighbouring ones unless all is set. A pair of neighbouring layers that drew nothing gets one random edge.
func layered(s *site) (edges edgeList, err error) {
	sizes, err := s.layers()
	if err != nil {
		return nil, err
	}
	p, err := s.chance("p")
	if err != nil {
		return nil, err
	}
	s.built.AtLeast = 1
	var starts []int
	from := 0
	for k, size := range sizes {
		edges = clique(edges, from, from+size)
		for j := range k {
			if neighbours := j == k-1; neighbours || s.bool("all") {
				edges = s.bridge(edges, [2]int{starts[j], starts[j] + sizes[j]}, [2]int{from, from + size}, p, neighbours)
			}
		}
		starts = append(starts, from)
		from += size
	}
	return edges, nil
}

func (s *site) layers() ([]int, error) {
	sizes, sum := s.built.Params["layers"].([]int), 0
	if len(sizes) == 0 {
		for k := range min(3, s.n) {
			sizes = append(sizes, (s.n+2-k)/3)
		}
		s.derive("layers", sizes)
	}
	for _, size := range sizes {
		if size < 1 || size > s.n {
			return nil, errors.New("layers: every layer needs at least one node")
		}
		sum += size
	}
	if sum != s.n {
		return nil, fmt.Errorf("layers: %v add up to %d nodes", sizes, sum)
	}
	return sizes, nil
}

// bridge draws the edges between two ranges of nodes; sure adds one where none was drawn.
func (s *site) bridge(edges edgeList, a, b [2]int, p float64, sure bool) edgeList {
	before := len(edges)
	for u := a[0]; u < a[1]; u++ {
		for v := b[0]; v < b[1]; v++ {
			if s.rng.Float64() < p {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	if sure && len(edges) == before {
		edges = append(edges, [2]int{a[0] + s.rng.IntN(a[1]-a[0]), b[0] + s.rng.IntN(b[1]-b[0])})
	}
	return edges
}
