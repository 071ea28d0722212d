package robustness

import "math/bits"

//go:generate sh widen.sh

// set64 is a set of nodes 0 to 63. set128 is the same for 128 nodes. The package comment explains why there
// are two types.
type set64 uint64

const size64 = 64

func single64(i int) set64           { return 1 << i }
func all64(n int) set64              { return ^set64(0) >> (64 - n) } // n ≥ 1
func fromRow64(row []uint64) set64   { return set64(row[0]) }
func (a set64) row() []uint64        { return []uint64{uint64(a)} }
func (a set64) and(b set64) set64    { return a & b }
func (a set64) or(b set64) set64     { return a | b }
func (a set64) andNot(b set64) set64 { return a &^ b }
func (a set64) empty() bool          { return a == 0 }
func (a set64) has(i int) bool       { return a>>i&1 != 0 }
func (a set64) count() int           { return bits.OnesCount64(uint64(a)) }
func (a set64) first() int           { return bits.TrailingZeros64(uint64(a)) }
func (a set64) rest() set64          { return a & (a - 1) }
func (a set64) with(i int) set64     { return a | 1<<i }
func (a set64) without(i int) set64  { return a &^ (1 << i) }
