package batch

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"synod.dev/synod/llm/engine/internal/llama"
)

func prompt(r *rand.Rand) []llama.Token {
	head := []llama.Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	p := slices.Clone(head[:r.IntN(len(head)+1)])
	for range 1 + r.IntN(12) {
		p = append(p, llama.Token(1+r.IntN(toyVocab-1)))
	}
	return p
}

func randomJob(r *rand.Rand, id uint64, closed *int) Job {
	j := Job{ID: id, Prompt: prompt(r)}
	if r.IntN(2) == 0 {
		j.Capture = Capture{Layers: [][]int{{0}, {3, 1}, {0, 1, 2}}[r.IntN(3)], Query: r.IntN(2) == 0, Last: r.IntN(2) == 0, Mean: r.IntN(2) == 0}
	}
	if r.IntN(3) == 0 {
		for range 1 + r.IntN(5) {
			c := make([]llama.Token, 1+r.IntN(6))
			for i := range c {
				c[i] = llama.Token(1 + r.IntN(toyVocab-1))
			}
			j.Continuations = append(j.Continuations, c)
		}
		return j
	}
	j.MaxTokens = 1 + r.IntN(20)
	j.Sampling = Sampling{Temperature: float64(r.IntN(3)) / 2, TopP: []float64{0, 0.8}[r.IntN(2)], Seed: r.Uint64()}
	j.Logprobs = r.IntN(2) == 0
	if r.IntN(3) == 0 {
		j.Stop = []string{strconv.Itoa(r.IntN(10)) + " ", fmt.Sprint(r.IntN(toyVocab), " ", r.IntN(4))}
	}
	if r.IntN(3) == 0 {
		j.Grammar = &evens{closed: closed}
	}
	return j
}

// Whatever meets whom, in whatever waves, with others cancelled beside them:
// every job ends as if it had run alone on a fresh model, no cell is lost or
// double-booked, and every grammar is closed.
func TestCompanyChangesNothing(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := uint64(1 + r.IntN(14))
		closed, grammars := 0, 0
		var waves [][]Job
		alone := map[uint64]Outcome{}
		for id := range n {
			ignored := 0
			pick := r.Uint64()
			job := func(c *int) Job { return randomJob(rand.New(rand.NewPCG(pick, 7)), id, c) }
			alone[id] = run(t, newToy(small.Cells), small, []Job{job(&ignored)})[id]
			j := job(&closed)
			if j.Grammar != nil {
				grammars++
			}
			if len(waves) == 0 || r.IntN(2) == 0 {
				waves = append(waves, nil)
			}
			waves[len(waves)-1] = append(waves[len(waves)-1], j)
		}
		m := newToy(small.Cells)
		out := map[uint64]Outcome{}
		run := New(m, small, func(o Outcome) { out[o.ID] = o })
		cancelled := map[uint64]bool{}
		submitted := uint64(0)
		for _, w := range waves {
			run.Submit(w...)
			submitted += uint64(len(w))
			for range r.IntN(6) {
				run.Step()
			}
			if id := r.Uint64N(submitted); r.IntN(3) == 0 {
				run.Cancel(id)
				_, done := out[id]
				cancelled[id] = !done
			}
		}
		finish(t, run)
		if m.bad != nil || run.pool.inUse != m.inUse() {
			t.Fatalf("seed %d: %v; books %d, cells %d", seed, m.bad, run.pool.inUse, m.inUse())
		}
		for id, want := range alone {
			got, ok := out[id]
			if !ok && cancelled[id] {
				continue
			}
			want.Shared, got.Shared = 0, 0
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d job %d:\n got %+v\nwant %+v", seed, id, got, want)
			}
		}
		if closed != grammars {
			t.Fatalf("seed %d: %d grammars, %d closed", seed, grammars, closed)
		}
	}
}
