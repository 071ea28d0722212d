package graph

import "math/bits"

//go:generate sh widen.sh

// word is a set of up to 64 nodes. pair (pair.go) is the same for 128; the search is written once, on word, and
// copied for pair by go generate: type parameters would cost two words a factor of twenty, measured, since arrays of
// two do not live in registers and methods of type parameters are not inlined.
type word uint64

const wordSize = 64

func wordOf(i int) word           { return 1 << i }
func wordAll(n int) word          { return ^word(0) >> (64 - n) } // n ≥ 1
func wordRow(row []uint64) word   { return word(row[0]) }
func (a word) row() []uint64      { return []uint64{uint64(a)} }
func (a word) and(b word) word    { return a & b }
func (a word) or(b word) word     { return a | b }
func (a word) andNot(b word) word { return a &^ b }
func (a word) empty() bool        { return a == 0 }
func (a word) has(i int) bool     { return a>>i&1 != 0 }
func (a word) count() int         { return bits.OnesCount64(uint64(a)) }
func (a word) first() int         { return bits.TrailingZeros64(uint64(a)) }
func (a word) rest() word         { return a & (a - 1) }
func (a word) with(i int) word    { return a | 1<<i }
func (a word) without(i int) word { return a &^ (1 << i) }
