package probe

import (
	"hash/fnv"
	"math/rand/v2"
)

// Part is a part of the data.
type Part int

// The parts. Every question is in exactly one.
const (
	Training Part = iota
	Validation
	Testing
)

// PartOf returns the part of a question: on average six tenths are for training and two
// tenths for each of the others. It depends only on the seed and the id of the question,
// so no question changes its part when more are collected.
func PartOf(question string, seed uint64) Part {
	h := fnv.New64a()
	_, _ = h.Write([]byte(question)) // never fails
	switch u := rand.New(rand.NewPCG(h.Sum64(), seed)).Float64(); {
	case u < 0.2:
		return Testing
	case u < 0.4:
		return Validation
	}
	return Training
}
