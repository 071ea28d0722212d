package simtest

import (
	"math/rand/v2"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol/check"
)

// Chance draws random executions; the seed is printed on failure.
type Chance struct {
	*rand.Rand
	Seed uint64
}

// NewChance returns the Chance of a seed. Different streams of one seed are independent.
func NewChance(seed, stream uint64) Chance { return Chance{rand.New(rand.NewPCG(seed, stream)), seed} }

// EachChance calls do runs times, with the seeds from 0; a tenth as often with -short.
func EachChance(t *testing.T, runs int, do func(c Chance) error) {
	t.Helper()
	if testing.Short() {
		runs /= 10
	}
	for seed := range uint64(runs) {
		if err := do(NewChance(seed, 42)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// Setting is a graph, its robustness R and a bound F that R allows.
type Setting struct {
	G    graph.Graph
	R, F int
}

// Local reports whether b, a bit set of nodes, is F-local.
func (s Setting) Local(b int) bool {
	for i := range s.G.N() {
		if b>>i&1 == 0 && s.Bad(i, b) > s.F {
			return false
		}
	}
	return true
}

// Bad returns the number of neighbours of i in b.
func (s Setting) Bad(i, b int) (n int) {
	for _, j := range s.G.In(i) {
		n += b >> j & 1
	}
	return n
}

// Draw returns a random graph of 6 to 9 nodes with a bound F, so that R is in [F+1, 2F], or at least
// 2F+1 if strong, and a random F-local set.
func (c Chance) Draw(strong bool) (s Setting, b int, ok bool) {
	n := 6 + c.IntN(4)
	s.G, _ = graph.New(n, false, check.Chance{Rand: c.Rand}.Edges(n, .4+.6*c.Float64()))
	s.R = robustness.Find(s.G, nil).R
	if strong {
		s.F = (s.R - 1) / 2
	} else {
		s.F = s.R - 1
	}
	if s.F < 1 {
		return s, 0, false
	}
	for _, i := range c.Perm(n) {
		if b |= 1 << i; !s.Local(b) {
			b &^= 1 << i
		}
		if c.IntN(4) == 0 {
			break
		}
	}
	return s, b, true
}
