package probe

import (
	"hash/fnv"
	"math/rand/v2"
)

// Part is what a question is for.
type Part int

// The parts. No question is in two.
const (
	Training Part = iota
	Validation
	Testing
)

// PartOf deals a question to a part, six tenths for training and two for each of the
// others on average. It depends on the seed and the question's name alone: however
// many questions are collected later, none changes its part.
func PartOf(question string, seed uint64) Part {
	h := fnv.New64a()
	_, _ = h.Write([]byte(question)) // a hash does not fail
	switch u := rand.New(rand.NewPCG(h.Sum64(), seed)).Float64(); {
	case u < 0.2:
		return Testing
	case u < 0.4:
		return Validation
	}
	return Training
}
