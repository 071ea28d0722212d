package robustness

import (
	"fmt"
	"math/bits"
	"slices"

	"synod.dev/synod/graph"
)

// RSLimit is the largest number of nodes for which LargestS is exact. At 24 nodes it takes 16 MiB and about a second.
const RSLimit = 24

// RSResult is what is known about the largest s for which a graph is (r,s)-robust; s is 0 if it is not even r-robust.
type RSResult struct {
	S            int  // the same as Lower; the exact value if Exact
	Lower, Upper int  // proven bounds
	Exact        bool // Lower == Upper
	// Witness is two sets with Upper members in all that have r in-neighbours outside their set, while each set has a
	// member that has not. It is nil if there are no such sets, that is, for s = n.
	Witness [2][]int
}

// LargestS finds the largest s for which the graph is (r,s)-robust (LeBlanc et al. 2013): for every
// two disjoint nonempty sets, either all members of one of them have r in-neighbours outside it, or
// at least s members of both together do. (r,1)-robust is the same as r-robust, and s is at most n.
// The result is a pair of bounds if the graph has more than RSLimit nodes or stop (nil: never)
// returns true. It returns an error for r below 1.
func LargestS(g graph.Graph, r int, stop func() bool) (RSResult, error) {
	if r < 1 {
		return RSResult{}, fmt.Errorf("graph: (r,s)-robustness: r is %d: want at least 1", r)
	}
	if stop == nil {
		stop = never
	}
	if g.N() == 1 {
		return RSResult{S: 1, Lower: 1, Upper: 1, Exact: true}, nil
	}
	if g.N() <= RSLimit {
		if t := newReachTable(masks(g), r, stop); t != nil {
			return t.largestS(), nil
		}
	}
	return boundS(g, r, stop), nil
}

// masks returns the in-neighbours of each node as single words. The graph must have at most 64 nodes.
func masks(g graph.Graph) []uint64 {
	in := make([]uint64, g.N())
	for i := range in {
		in[i] = g.InBits(i)[0]
	}
	return in
}

// reachTable holds, for every set S as a bit mask, the smallest number of members with r
// in-neighbours outside, over the nonempty subsets of S in which some member has fewer; unbounded
// if there is no such subset.
type reachTable struct {
	in    []uint64
	r     int
	fewer []uint8
}

const unbounded = ^uint8(0)

// newReachTable returns nil if stop has ended it.
func newReachTable(in []uint64, r int, stop func() bool) *reachTable {
	t := &reachTable{in: in, r: r, fewer: make([]uint8, 1<<len(in))}
	t.fewer[0] = unbounded
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

// cost counts the members of s with at least r in-neighbours outside it; unbounded if all have them.
func (t *reachTable) cost(s uint64) (c uint8) {
	for w := s; w != 0; w &= w - 1 {
		if bits.OnesCount64(t.in[bits.TrailingZeros64(w)]&^s) >= t.r {
			c++
		}
	}
	if int(c) == bits.OnesCount64(s) {
		return unbounded
	}
	return c
}

func (t *reachTable) largestS() RSResult {
	n, all := len(t.in), uint64(len(t.fewer)-1)
	best, at := n, uint64(0)
	for s := uint64(1); s < all; s += 2 { // sets with node 0; the complements of the others
		if a, b := t.fewer[s], t.fewer[all&^s]; a != unbounded && b != unbounded && int(a)+int(b) < best {
			best, at = int(a)+int(b), s
		}
	}
	res := RSResult{S: best, Lower: best, Upper: best, Exact: true}
	if at != 0 {
		for k, s := range [2]uint64{at, all &^ at} {
			res.Witness[k] = graph.AppendBits(nil, []uint64{t.shrink(s)})
		}
	}
	return res
}

// shrink returns a subset of s whose own cost is the table's value for s.
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

// boundS returns bounds for graphs that are too large for the table. (r+s-1)-robust graphs are
// (r,s)-robust, and graphs of least degree ⌊n/2⌋+r-1 are (r,n)-robust (LeBlanc's thesis, properties
// 5.21 and 5.23). Every pair of sets gives an upper bound on s.
func boundS(g graph.Graph, r int, stop func() bool) RSResult {
	n, robust := g.N(), Find(g, stop)
	res := RSResult{Lower: max(0, robust.Lower-r+1), Upper: n}
	if g.MinDegree() >= n/2+r-1 {
		res.Lower = n
	}
	pairs := [][2][]int{robust.Witness}
	for i := range n {
		var rest []int
		for j := range n {
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

// CountReaching counts the members of two disjoint sets that have at least r in-neighbours outside
// their own set. If each set also has a member with fewer, bounds is true: the sets prove that the
// graph is not (r, reaching+1)-robust. It returns an error for an unknown node or one that occurs
// twice.
func CountReaching(g graph.Graph, r int, pair [2][]int) (reaching int, bounds bool, err error) {
	bounds = true
	for k, set := range pair {
		outside, err := graph.Outside(g, set)
		if err != nil {
			return 0, false, err
		}
		count := 0
		for j, i := range set {
			if k == 1 && slices.Contains(pair[0], i) {
				return 0, false, fmt.Errorf("graph: both sets have node %d", i)
			}
			if outside[j] >= r {
				count++
			}
		}
		reaching += count
		bounds = bounds && count < len(set)
	}
	return reaching, bounds, nil
}
