package graph

import "math/bits"

// pair is a set of up to 128 nodes: see word.
type pair struct{ lo, hi uint64 }

const pairSize = 128

func pairOf(i int) pair {
	if i < 64 {
		return pair{1 << i, 0}
	}
	return pair{0, 1 << (i - 64)}
}

func pairAll(n int) pair {
	if n <= 64 {
		return pair{^uint64(0) >> (64 - n), 0}
	}
	return pair{^uint64(0), ^uint64(0) >> (128 - n)}
}

func pairRow(row []uint64) pair {
	if len(row) == 1 {
		return pair{row[0], 0}
	}
	return pair{row[0], row[1]}
}

func (a pair) row() []uint64      { return []uint64{a.lo, a.hi} }
func (a pair) and(b pair) pair    { return pair{a.lo & b.lo, a.hi & b.hi} }
func (a pair) or(b pair) pair     { return pair{a.lo | b.lo, a.hi | b.hi} }
func (a pair) andNot(b pair) pair { return pair{a.lo &^ b.lo, a.hi &^ b.hi} }
func (a pair) empty() bool        { return a.lo|a.hi == 0 }
func (a pair) has(i int) bool     { return !a.and(pairOf(i)).empty() }
func (a pair) count() int         { return bits.OnesCount64(a.lo) + bits.OnesCount64(a.hi) }
func (a pair) with(i int) pair    { return a.or(pairOf(i)) }
func (a pair) without(i int) pair { return a.andNot(pairOf(i)) }

func (a pair) first() int {
	if a.lo != 0 {
		return bits.TrailingZeros64(a.lo)
	}
	return 64 + bits.TrailingZeros64(a.hi)
}

func (a pair) rest() pair {
	if a.lo != 0 {
		return pair{a.lo & (a.lo - 1), a.hi}
	}
	return pair{0, a.hi & (a.hi - 1)}
}
