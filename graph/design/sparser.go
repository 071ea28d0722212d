package design

import (
	"math/rand/v2"
	"slices"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
)

// sparser searches for r-robust graphs with fewer edges.
type sparser struct {
	n, r, least int
	stop        func() bool
	rng         *rand.Rand
}

// maxIdle is the number of tries without a sparser graph after which the search adds random edges
// and goes on from there.
const maxIdle = 1000

// search walks among r-robust graphs: it removes one to three edges, adds edges until the graph is r-robust again, and
// keeps the result if it has no more edges than before.
func (s *sparser) search(edges [][2]int, tries int) (best [][2]int) {
	best = edges
	current, idle := edges, 0
	for ; tries > 0 && len(best) > s.least && !s.stop(); tries-- {
		next := s.mend(s.drop(current, 1+s.rng.IntN(3)), len(current))
		if next == nil {
			idle++
		} else {
			current = next
		}
		if len(current) < len(best) {
			best, idle = current, 0
		}
		if idle > maxIdle {
			current, idle = s.addRandom(best, 2), 0
		}
	}
	return best
}

// drop removes k random edges.
func (s *sparser) drop(edges [][2]int, k int) [][2]int {
	rest := slices.Clone(edges)
	for range min(k, len(rest)) {
		i := s.rng.IntN(len(rest))
		rest[i] = rest[len(rest)-1]
		rest = rest[:len(rest)-1]
	}
	return rest
}

func (s *sparser) addRandom(edges [][2]int, k int) [][2]int {
	g, more := graph.MustNew(s.n, false, edges), slices.Clone(edges)
	for range 10 * k {
		u, v := s.rng.IntN(s.n), s.rng.IntN(s.n)
		if u != v && !g.HasEdge(u, v) && len(more) < len(edges)+k {
			more = append(more, [2]int{u, v})
			g = graph.MustNew(s.n, false, more)
		}
	}
	return more
}

// mend adds edges until the graph is r-robust: first at nodes of degree below r, then out of the
// sets that prove that it is not. It returns nil if that takes more than most edges in all.
func (s *sparser) mend(edges [][2]int, most int) [][2]int {
	for len(edges) <= most {
		g := graph.MustNew(s.n, false, edges)
		if i := s.lowDegree(g); i >= 0 {
			edges = append(edges, s.link(g, i, nil))
			continue
		}
		res := robustness.Decide(g, s.r, s.stop)
		if res.Lower >= s.r {
			return edges
		}
		if res.Upper >= s.r || len(edges) == most { // undecided, or no more edge allowed
			return nil
		}
		edges = append(edges, s.breaking(g, res.Witness))
	}
	return nil
}

// lowDegree returns a random node of degree below r, or -1.
func (s *sparser) lowDegree(g graph.Graph) int {
	from := s.rng.IntN(s.n)
	for k := range s.n {
		if i := (from + k) % s.n; s.r > 1 && g.InDegree(i) < s.r {
			return i
		}
	}
	return -1
}

// link returns a new edge from i to a node outside the set without, a random one among those of about the least degree.
func (s *sparser) link(g graph.Graph, i int, without []int) [2]int {
	pick, best := -1, 0
	for _, j := range s.rng.Perm(s.n) {
		if j == i || g.HasEdge(i, j) || slices.Contains(without, j) {
			continue
		}
		if d := g.InDegree(j) + s.rng.IntN(3); pick < 0 || d < best {
			pick, best = j, d
		}
	}
	return [2]int{i, pick}
}

// breaking returns an edge out of one of the two sets, from a member that has most neighbours
// outside: with r of them the pair is no longer a proof. At least one of the sets has r nodes
// outside, because n ≥ 2r-1.
func (s *sparser) breaking(g graph.Graph, pair [2][]int) [2]int {
	best, ties, at, side := -1, 0, 0, 0
	for k, set := range pair {
		outside, err := graph.Outside(g, set)
		if err != nil {
			panic(err) // the search returns valid sets
		}
		for j, i := range set {
			switch c := outside[j]; {
			case c == s.n-len(set): // joined to every node outside already
			case c > best:
				best, ties, at, side = c, 1, i, k
			case c == best:
				if ties++; s.rng.IntN(ties) == 0 {
					at, side = i, k
				}
			}
		}
	}
	return s.link(g, at, pair[side])
}
