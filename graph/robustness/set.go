package robustness

import "math/bits"

// nodeSet is a set of nodes: lo has the nodes 0 to 63, and hi those from 64 on. A graph of up to 64
// nodes has no hi, so that its sets are single words.
type nodeSet[H high] struct {
	hi H
	lo uint64
}

// high is no word or one word.
type high interface{ small | large }

type (
	small = [0]uint64
	large = [1]uint64
)

// The largest numbers of nodes.
const (
	smallSize = 64
	largeSize = 128
)

func single[H high](i int) (a nodeSet[H]) {
	if k := 0; i >= smallSize && k < len(a.hi) {
		a.hi[k] = 1 << (i - smallSize)
		return a
	}
	a.lo = 1 << i
	return a
}

// all returns the set of the first n nodes, n ≥ 1.
func all[H high](n int) (a nodeSet[H]) {
	a.lo = ^uint64(0) >> max(0, smallSize-n)
	if k := 0; n > smallSize && k < len(a.hi) {
		a.hi[k] = ^uint64(0) >> (largeSize - n)
	}
	return a
}

func fromRow[H high](row []uint64) (a nodeSet[H]) {
	a.lo = row[0]
	if k := 0; k < len(a.hi) && len(row) > 1 {
		a.hi[k] = row[1]
	}
	return a
}

func (a nodeSet[H]) row() []uint64 {
	row := []uint64{a.lo}
	if k := 0; k < len(a.hi) {
		row = append(row, a.hi[k])
	}
	return row
}

func (a nodeSet[H]) and(b nodeSet[H]) nodeSet[H] {
	a.lo &= b.lo
	if k := 0; k < len(a.hi) {
		a.hi[k] &= b.hi[k]
	}
	return a
}

func (a nodeSet[H]) or(b nodeSet[H]) nodeSet[H] {
	a.lo |= b.lo
	if k := 0; k < len(a.hi) {
		a.hi[k] |= b.hi[k]
	}
	return a
}

func (a nodeSet[H]) andNot(b nodeSet[H]) nodeSet[H] {
	a.lo &^= b.lo
	if k := 0; k < len(a.hi) {
		a.hi[k] &^= b.hi[k]
	}
	return a
}

func (a nodeSet[H]) empty() bool {
	if k := 0; k < len(a.hi) {
		return a.lo|a.hi[k] == 0
	}
	return a.lo == 0
}

func (a nodeSet[H]) count() int {
	if k := 0; k < len(a.hi) {
		return bits.OnesCount64(a.lo) + bits.OnesCount64(a.hi[k])
	}
	return bits.OnesCount64(a.lo)
}

func (a nodeSet[H]) has(i int) bool {
	if k := 0; i >= smallSize && k < len(a.hi) {
		return a.hi[k]>>(i-smallSize)&1 != 0
	}
	return a.lo>>i&1 != 0
}

func (a nodeSet[H]) with(i int) nodeSet[H]    { return a.or(single[H](i)) }
func (a nodeSet[H]) without(i int) nodeSet[H] { return a.andNot(single[H](i)) }

// first returns the lowest node.
func (a nodeSet[H]) first() int {
	if k := 0; k < len(a.hi) && a.lo == 0 {
		return smallSize + bits.TrailingZeros64(a.hi[k])
	}
	return bits.TrailingZeros64(a.lo)
}

// rest returns the set without its lowest node.
func (a nodeSet[H]) rest() nodeSet[H] {
	if k := 0; k < len(a.hi) && a.lo == 0 {
		a.hi[k] &= a.hi[k] - 1
		return a
	}
	a.lo &= a.lo - 1
	return a
}
