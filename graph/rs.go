package graph

import (
	"fmt"
	"math/bits"
)

// RSLimit is the largest graph whose (r,s)-robustness is found exactly: 2^n bytes and n·2^n steps, a second at 24.
const RSLimit = 24

// RSResult is what is known about the largest s for which a graph is (r,s)-robust; 0 when it is not even r-robust.
type RSResult struct {
	S            int // Lower; the exact value when Exact
	Lower, Upper int
	Exact        bool
	Witness      [2][]int // sets with Upper members in all that reach r nodes outside, in each set not all; nil when none
}

// LargestS finds the largest s for which the graph is (r,s)-robust (LeBlanc et al. 2013): for every two disjoint nonempty
// sets, either all members of one of them hear r nodes outside it, or s members of both together do. (r,1)-robust is
// r-robust, and s is at most n. Beyond RSLimit nodes, or when stop says so, the answer is a pair of bounds.
func LargestS(g Graph, r int, stop func() bool) (RSResult, error) {
	if r < 1 {
		return RSResult{}, fmt.Errorf("graph: (r,s)-robustness: r = %d: want at least 1", r)
	}
	if stop == nil {
		stop = func() bool { return false }
	}
	if g.n == 1 {
		return RSResult{S: 1, Lower: 1, Upper: 1, Exact: true}, nil
	}
	if g.n <= RSLimit {
		if t := newReachTable(g.masks(), r, stop); t != nil {
			return t.largestS(), nil
		}
	}
	return boundS(g, r, stop), nil
}

// reachTable holds, for every set S, the least number of r-reaching members over the nonempty subsets of S in which some
// member does not reach; free where every subset has all its members reaching.
type reachTable struct {
	in    []uint64
	r     int
	fewer []uint8
}

const free = ^uint8(0)

func newReachTable(in []uint64, r int, stop func() bool) *reachTable {
	t := &reachTable{in: in, r: r, fewer: make([]uint8, 1<<len(in))}
	t.fewer[0] = free
	for s := uint64(1); s < 1<<len(in); s++ {
		if s&0xffff == 0 && stop() {
			return nil
		}
		least := t.cost(s)
		for w := s; w != 0; w &= w - 1 {
			least = min(least, t.fewer[s&^(w&-w)])
		}
		t.fewer[s] = least
	}
	return t
}

// cost counts the members that hear at least r nodes outside; free when all do.
func (t *reachTable) cost(s uint64) (c uint8) {
	for w := s; w != 0; w &= w - 1 {
		if bits.OnesCount64(t.in[bits.TrailingZeros64(w)]&^s) >= t.r {
			c++
		}
	}
	if int(c) == bits.OnesCount64(s) {
		return free
	}
	return c
}

func (t *reachTable) largestS() RSResult {
	n, all := len(t.in), uint64(len(t.fewer)-1)
	best, at := n, uint64(0)
	for s := uint64(1); s < all; s += 2 {
		if a, b := t.fewer[s], t.fewer[all&^s]; a != free && b != free && int(a)+int(b) < best {
			best, at = int(a)+int(b), s
		}
	}
	res := RSResult{S: best, Lower: best, Upper: best, Exact: true}
	if at != 0 {
		res.Witness = [2][]int{appendBits(nil, []uint64{t.shrink(at)}), appendBits(nil, []uint64{t.shrink(all &^ at)})}
	}
	return res
}

func (t *reachTable) shrink(s uint64) uint64 {
	for t.cost(s) != t.fewer[s] {
		for w := s; w != 0; w &= w - 1 {
			if smaller := s &^ (w & -w); t.fewer[smaller] == t.fewer[s] {
				s = smaller
				break
			}
		}
	}
	return s
}

// boundS is for graphs too large for the table: (r+s-1)-robust graphs are (r,s)-robust, so are those of least degree
// ⌊n/2⌋+r-1 with s = n (LeBlanc's thesis, properties 5.21 and 5.23), and every pair of sets bounds s from above.
func boundS(g Graph, r int, stop func() bool) RSResult {
	robust := Robustness(g, stop)
	res := RSResult{Lower: max(0, robust.Lower-r+1), Upper: g.n}
	if g.MinDegree() >= g.n/2+r-1 {
		res.Lower = g.n
	}
	pairs := [][2][]int{robust.Witness}
	for i := range g.n {
		var rest []int
		for j := range g.n {
			if j != i {
				rest = append(rest, j)
			}
		}
		pairs = append(pairs, [2][]int{{i}, rest})
	}
	for _, pair := range pairs {
		if s, bounds, err := CountReaching(g, r, pair); err == nil && bounds && s < res.Upper {
			res.Upper, res.Witness = s, pair
		}
	}
	res.Exact = res.Lower == res.Upper
	res.S = res.Lower
	return res
}

// CountReaching counts the members of two disjoint nonempty sets that hear at least r nodes outside their own set. When
// in each set some member does not (bounds), the graph is not (r, reaching+1)-robust.
func CountReaching(g Graph, r int, pair [2][]int) (reaching int, bounds bool, err error) {
	bounds = true
	taken := make([]bool, g.n)
	for _, set := range pair {
		in, err := g.members(set)
		if err != nil {
			return 0, false, err
		}
		count := 0
		for _, i := range set {
			if taken[i] {
				return 0, false, fmt.Errorf("graph: sets share node %d", i)
			}
			taken[i] = true
			if g.heard(i, in, false) >= r {
				count++
			}
		}
		reaching += count
		bounds = bounds && count < len(set)
	}
	return reaching, bounds, nil
}
