package probe

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkCell fits and validates one point of the sweep at the size that
// docs/probes.md reports: 500 answers, states of 576 numbers, 256 components.
func BenchmarkCell(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	d := planted(500, 1, 1)
	states := make([][]float32, 500)
	for i := range states {
		states[i] = make([]float32, 576)
		for j := range states[i] {
			states[i][j] = float32(r.NormFloat64())
		}
	}
	d.States = func(int, string) ([][]float32, error) { return states, nil }
	cfg := Defaults()
	t := &trainer{data: d, cfg: cfg, part: func(s Sample) Part { return PartOf(s.Question, 1) }}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.cells(0, "mean"); err != nil {
			b.Fatal(err)
		}
	}
}
