package graph

import "slices"

// orbits groups nodes that automorphisms of the graph carry into one another. The groups may be finer than the true
// orbits, since the search for automorphisms is short, but never coarser: every automorphism used is checked edge by
// edge. Only groups of two nodes or more are listed.
func (g Graph) orbits() [][]int {
	s := symmetries{g: g, group: make([]int, g.n)}
	start := make([]uint64, g.n)
	for i := range s.group {
		s.group[i] = i
		s.in, s.out = append(s.in, g.In(i)), append(s.out, g.Out(i))
	}
	s.refine(start)
	misses := 0
	for u := range g.n {
		for v := u + 1; v < g.n && misses < patience; v++ {
			if start[u] != start[v] || s.group[u] == s.group[v] {
				continue
			}
			s.budget = symmetryBudget
			if !s.carry(mark(start, u), mark(start, v)) {
				misses++
			}
		}
	}
	byGroup := make([][]int, g.n)
	for i, k := range s.group {
		byGroup[k] = append(byGroup[k], i)
	}
	return slices.DeleteFunc(byGroup, func(o []int) bool { return len(o) < 2 })
}

const (
	symmetryBudget = 50 // nodes visited for one pair
	patience       = 12 // pairs without an automorphism before the graph counts as unsymmetric
)

type symmetries struct {
	g       Graph
	in, out [][]int
	group   []int
	budget  int
}

// scramble spreads the bits of a colour (the finalizer of splitmix64). Colours are hashes of what a node sees, so that
// they mean the same in two colourings; a collision only makes the search weaker.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mark gives one node a colour of its own.
func mark(colours []uint64, v int) []uint64 {
	marked := slices.Clone(colours)
	marked[v] = scramble(marked[v] ^ 0x6d61726b)
	return marked
}

// refine recolours every node by its own and its neighbours' colours until that tells no more nodes apart. It always
// makes the same number of rounds for colourings that an automorphism carries into one another.
func (s *symmetries) refine(colours []uint64) {
	next := make([]uint64, len(colours))
	for kinds := countKinds(colours); ; {
		for i, c := range colours {
			var heard, hears uint64
			for _, j := range s.in[i] {
				heard += scramble(colours[j])
			}
			for _, j := range s.out[i] {
				hears += scramble(^colours[j])
			}
			next[i] = scramble(scramble(c)+heard) ^ scramble(hears)
		}
		copy(colours, next)
		now := countKinds(colours)
		if now <= kinds {
			return
		}
		kinds = now
	}
}

func countKinds(colours []uint64) int {
	sorted := slices.Sorted(slices.Values(colours))
	return len(slices.Compact(sorted))
}

// carry looks for an automorphism that carries colouring a into b and, when there is one, merges the groups along it.
func (s *symmetries) carry(a, b []uint64) bool {
	if s.budget--; s.budget < 0 {
		return false
	}
	s.refine(a)
	s.refine(b)
	sorted := slices.Sorted(slices.Values(a))
	if !slices.Equal(sorted, slices.Sorted(slices.Values(b))) {
		return false
	}
	for k := 1; k < len(sorted); k++ {
		if sorted[k] != sorted[k-1] {
			continue
		}
		u := slices.Index(a, sorted[k])
		for v, c := range b {
			if c == sorted[k] && s.carry(mark(a, u), mark(b, v)) {
				return true
			}
		}
		return false
	}
	image := make([]int, len(a))
	for i, c := range a {
		image[i] = slices.Index(b, c)
	}
	return s.merge(image)
}

// merge checks that the map is an automorphism and joins the groups of each node and its image.
func (s *symmetries) merge(image []int) bool {
	for i := range image {
		for _, j := range s.in[i] {
			if !s.g.HasEdge(image[j], image[i]) {
				return false
			}
		}
	}
	for i, j := range image {
		from, to := s.group[j], s.group[i]
		for k, group := range s.group {
			if group == from {
				s.group[k] = to
			}
		}
	}
	return true
}
