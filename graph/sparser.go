package graph

import (
	"math/rand/v2"
	"slices"
)

// sparser walks among r-robust graphs of equal or fewer edges.
type sparser struct {
	n, r, least int
	stop        func() bool
	rng         *rand.Rand
}

// stalled is how many tries without a sparser graph go by before the walk is kicked.
const stalled = 1000

// search is a plateau walk: take one to three edges out, mend, keep what has no more edges than before.
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
		if idle > stalled {
			current, idle = s.addRandom(best, 2), 0
		}
	}
	return best
}

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
	g, more := mustNew(s.n, false, edges), slices.Clone(edges)
	for range 10 * k {
		u, v := s.rng.IntN(s.n), s.rng.IntN(s.n)
		if u != v && !g.HasEdge(u, v) && len(more) < len(edges)+k {
			more = append(more, [2]int{u, v})
			g = mustNew(s.n, false, more)
		}
	}
	return more
}

// mend adds edges until the graph is r-robust: first where degrees are short, then across the pairs that show it is not.
// It gives up (nil) beyond most edges.
func (s *sparser) mend(edges [][2]int, most int) [][2]int {
	for len(edges) <= most {
		g := mustNew(s.n, false, edges)
		if i := s.shortOfDegree(g); i >= 0 {
			edges = append(edges, s.link(g, i, func(j int) bool { return true }))
			continue
		}
		res := Decide(g, s.r, s.stop)
		if res.Lower >= s.r {
			return edges
		}
		if res.Upper >= s.r || len(edges) == most { // told to stop, or no edge left to spend
			return nil
		}
		edges = append(edges, s.breaking(g, res.Witness))
	}
	return nil
}

// shortOfDegree is a random node of degree below r, or -1.
func (s *sparser) shortOfDegree(g Graph) int {
	from := s.rng.IntN(s.n)
	for k := range s.n {
		if i := (from + k) % s.n; s.r > 1 && g.InDegree(i) < s.r {
			return i
		}
	}
	return -1
}

// link joins i to a random node among the allowed strangers of least degree, give or take one.
func (s *sparser) link(g Graph, i int, allowed func(int) bool) [2]int {
	pick, best := -1, 0
	for _, j := range s.rng.Perm(s.n) {
		if j == i || g.HasEdge(i, j) || !allowed(j) {
			continue
		}
		if d := g.InDegree(j) + s.rng.IntN(3); pick < 0 || d < best {
			pick, best = j, d
		}
	}
	return [2]int{i, pick}
}

// breaking is an edge out of a set of the pair from one of its members that hear most outside: with r outside
// neighbours that member breaks the pair. One of the two sets leaves r nodes outside, as n ≥ 2r-1.
func (s *sparser) breaking(g Graph, pair [2][]int) [2]int {
	var members [2][]bool
	best, ties, at, side := -1, 0, 0, 0
	for k, set := range pair {
		members[k], _ = g.members(set)
		for _, i := range set {
			heard := g.heard(i, members[k], false)
			switch {
			case heard == s.n-len(set): // hears everyone outside already
			case heard > best:
				best, ties, at, side = heard, 1, i, k
			case heard == best:
				if ties++; s.rng.IntN(ties) == 0 {
					at, side = i, k
				}
			}
		}
	}
	return s.link(g, at, func(j int) bool { return !members[side][j] })
}
