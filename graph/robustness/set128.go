package robustness

import "math/bits"

// set128 is a set of nodes 0 to 127; see set64.
type set128 struct{ lo, hi uint64 }

const size128 = 128

func single128(i int) set128 {
	if i < 64 {
		return set128{1 << i, 0}
	}
	return set128{0, 1 << (i - 64)}
}

func all128(n int) set128 {
	if n <= 64 {
		return set128{^uint64(0) >> (64 - n), 0}
	}
	return set128{^uint64(0), ^uint64(0) >> (128 - n)}
}

func fromRow128(row []uint64) set128 {
	if len(row) == 1 {
		return set128{row[0], 0}
	}
	return set128{row[0], row[1]}
}

func (a set128) row() []uint64          { return []uint64{a.lo, a.hi} }
func (a set128) and(b set128) set128    { return set128{a.lo & b.lo, a.hi & b.hi} }
func (a set128) or(b set128) set128     { return set128{a.lo | b.lo, a.hi | b.hi} }
func (a set128) andNot(b set128) set128 { return set128{a.lo &^ b.lo, a.hi &^ b.hi} }
func (a set128) empty() bool            { return a.lo|a.hi == 0 }
func (a set128) has(i int) bool         { return !a.and(single128(i)).empty() }
func (a set128) count() int             { return bits.OnesCount64(a.lo) + bits.OnesCount64(a.hi) }
func (a set128) with(i int) set128      { return a.or(single128(i)) }
func (a set128) without(i int) set128   { return a.andNot(single128(i)) }

func (a set128) first() int {
	if a.lo != 0 {
		return bits.TrailingZeros64(a.lo)
	}
	return 64 + bits.TrailingZeros64(a.hi)
}

func (a set128) rest() set128 {
	if a.lo != 0 {
		return set128{a.lo & (a.lo - 1), a.hi}
	}
	return set128{0, a.hi & (a.hi - 1)}
}
