package graph

import "math/bits"

// subsetTable holds, for every set S as a bit mask, the smallest Reach of a nonempty subset of S:
//
//	f(S) = max over i in S of |N_i \ S|      (Reach of S itself)
//	g(S) = min(f(S), min over i in S of g(S \ i))
//
// so that max r = min over S of max(g(S), g(V \ S)): a pair of disjoint sets may be blown up to a bipartition.
type subsetTable struct {
	in   []uint64 // in-neighbours of each node
	best []uint8
}

// newSubsetTable takes 2^n bytes and n·2^n steps, 4 MiB and a tenth of a second at n=22; nil when stop asked to give up.
func newSubsetTable(in []uint64, stop func() bool) *subsetTable {
	t := &subsetTable{in: in, best: make([]uint8, 1<<len(in))}
	t.best[0] = ^uint8(0)
	for s := uint64(1); s < 1<<len(in); s++ {
		if s&0xffff == 0 && stop() {
			return nil
		}
		least := t.reach(s)
		for w := s; w != 0; w &= w - 1 {
			least = min(least, t.best[s&^(w&-w)])
		}
		t.best[s] = least
	}
	return t
}

func (t *subsetTable) reach(s uint64) (most uint8) {
	for w := s; w != 0; w &= w - 1 {
		most = max(most, uint8(bits.OnesCount64(t.in[bits.TrailingZeros64(w)]&^s)))
	}
	return most
}

// shrink walks from s down to a subset whose own Reach is the table's value for s.
func (t *subsetTable) shrink(s uint64) uint64 {
	for t.reach(s) != t.best[s] {
		for w := s; w != 0; w &= w - 1 {
			if smaller := s &^ (w & -w); t.best[smaller] == t.best[s] {
				s = smaller
				break
			}
		}
	}
	return s
}

// maxR is the largest r and a pair of sets that are not (r+1)-reachable. It needs at least two nodes.
func (t *subsetTable) maxR() (r int, pair [2]uint64) {
	all := uint64(len(t.best) - 1)
	best, at := ^uint8(0), uint64(0)
	for s := uint64(1); s < all; s += 2 { // node 0 in S: the other half is the same pairs again
		if worst := max(t.best[s], t.best[all&^s]); worst < best {
			best, at = worst, s
		}
	}
	return int(best), [2]uint64{t.shrink(at), t.shrink(all &^ at)}
}

// masks are the in-neighbours of each node as single words. It needs n ≤ 64.
func (g Graph) masks() []uint64 {
	in := make([]uint64, g.n)
	for i := range in {
		in[i] = g.in.row(i)[0]
	}
	return in
}
