package robustness

import (
	"slices"

	"synod.dev/synod/graph"
)

// orbits returns groups of nodes that automorphisms of the graph map to one another, without groups of a single node. A
// group may be smaller than the true orbit, because the search for automorphisms is short, but never larger: every
// automorphism is checked edge by edge.
func orbits(g graph.Graph) [][]int {
	n := g.N()
	s := symmetries{g: g, group: make([]int, n)}
	start := make([]uint64, n)
	for i := range s.group {
		s.group[i] = i
		s.in, s.out = append(s.in, g.In(i)), append(s.out, g.Out(i))
	}
	s.refine(start)
	misses := 0
	for u := range n {
		for v := u + 1; v < n && misses < maxMisses; v++ {
			if start[u] != start[v] || s.group[u] == s.group[v] {
				continue
			}
			s.budget = symmetryBudget
			if !s.carry(mark(start, u), mark(start, v)) {
				misses++
			}
		}
	}
	byGroup := make([][]int, n)
	for i, k := range s.group {
		byGroup[k] = append(byGroup[k], i)
	}
	return slices.DeleteFunc(byGroup, func(o []int) bool { return len(o) < 2 })
}

const (
	symmetryBudget = 50 // search nodes for one pair of nodes
	maxMisses      = 12 // pairs without an automorphism after which the search ends
)

type symmetries struct {
	g       graph.Graph
	in, out [][]int
	group   []int // by node: the number of its group
	budget  int   // search nodes left
}

// scramble mixes the bits of a colour (the finalizer of splitmix64). Colours are hashes of a node's
// surroundings, so that they can be compared between two colourings. A collision only makes the
// search find fewer symmetries.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mark returns a copy of the colours in which one node has a unique colour.
func mark(colours []uint64, v int) []uint64 {
	marked := slices.Clone(colours)
	marked[v] = scramble(marked[v] ^ 0x6d61726b)
	return marked
}

// refine recolours every node by its own and its neighbours' colours until the number of colours no
// longer grows. For two colourings that an automorphism maps to each other it makes the same number
// of rounds.
func (s *symmetries) refine(colours []uint64) {
	next := make([]uint64, len(colours))
	for kinds := countKinds(colours); ; {
		for i, c := range colours {
			var inputs, outputs uint64
			for _, j := range s.in[i] {
				inputs += scramble(colours[j])
			}
			for _, j := range s.out[i] {
				outputs += scramble(^colours[j])
			}
			next[i] = scramble(scramble(c)+inputs) ^ scramble(outputs)
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

// carry looks for an automorphism that maps the colouring a to b. If there is one, it merges the
// groups of each node and its image.
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

// merge checks that the mapping is an automorphism and merges the groups of each node and its image.
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
