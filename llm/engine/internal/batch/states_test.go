package batch

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod/llm/engine/internal/llama"
)

// expectedStates computes the states of prompt and answer from their definition.
func expectedStates(prompt, answer []llama.Token, layers []int) (query, last, mean [][]float32) {
	var seq []*cell
	for _, t := range prompt {
		seq = append(seq, &cell{token: t})
	}
	for _, l := range layers {
		query = append(query, toyState(seq, l))
	}
	for _, l := range layers {
		at, sum := slices.Clone(seq), make([]float64, 3)
		var final []float32
		for _, t := range answer {
			at = append(at, &cell{token: t})
			final = toyState(at, l)
			for i, x := range final {
				sum[i] += float64(x)
			}
		}
		last = append(last, final)
		m := make([]float32, 3)
		for i := range sum {
			m[i] = float32(sum[i] / float64(len(answer)))
		}
		mean = append(mean, m)
	}
	return query, last, mean
}

func sameStates(got, want [][]float32) bool {
	return slices.EqualFunc(got, want, func(a, b []float32) bool {
		return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) < 1e-6 })
	})
}

// answerOf returns the tokens that begin in a text of the toy model.
func answerOf(text string) (tokens []llama.Token) {
	for _, w := range strings.Fields(text) {
		n, _ := strconv.Atoi(w)
		tokens = append(tokens, llama.Token(n))
	}
	return tokens
}

// The states that are pooled during generation, with several sequences in one batch, equal
// the states of a separate pass over prompt and answer. [CP-2, Eq. 2]
func TestStatesAgainstSeparatePass(t *testing.T) {
	generated, scored, empty, cut := 0, 0, 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		var wave []Job
		for id := range uint64(2 + r.IntN(6)) {
			closed := 0
			j := randomJob(r, id, &closed)
			j.Capture = Capture{Layers: [][]int{{2}, {0, 5}}[r.IntN(2)], Query: true, Last: true, Mean: true}
			if r.IntN(2) == 0 { // a stop string of whole tokens, so that the text determines the tokens of the answer
				j.Stop = []string{" " + strconv.Itoa(10+r.IntN(30)) + " "}
			} else {
				j.Stop = nil
			}
			wave = append(wave, j)
		}
		out := run(t, newToy(small.Cells), small, wave)
		for _, j := range wave {
			o := out[j.ID]
			if o.Err != nil {
				t.Fatalf("seed %d job %d: %v", seed, j.ID, o.Err)
			}
			answers := j.Continuations
			if len(answers) == 0 {
				answers = [][]llama.Token{answerOf(o.Text)}
				generated++
				if len(answers[0]) < o.Tokens {
					cut++
				}
			} else {
				scored++
			}
			for i, a := range answers {
				got := o.States[i]
				query, last, mean := expectedStates(j.Prompt, a, j.Capture.Layers)
				if got.Tokens != len(a) || !sameStates(got.Query, query) {
					t.Fatalf("seed %d job %d: %d tokens for %q, query %v, want %v", seed, j.ID, got.Tokens, o.Text,
						got.Query, query)
				}
				if len(a) == 0 {
					empty++
					if got.Last != nil || got.Mean != nil {
						t.Fatalf("seed %d: states of an answer without tokens", seed)
					}
					continue
				}
				if !sameStates(got.Last, last) || !sameStates(got.Mean, mean) {
					t.Fatalf("seed %d job %d, %q:\n got %v %v\nwant %v %v", seed, j.ID, o.Text, got.Last, got.Mean,
						last, mean)
				}
			}
		}
	}
	if generated < 100 || scored < 100 || empty == 0 || cut == 0 {
		t.Errorf("%d generated, %d scored, %d empty, %d cut: a case is not covered", generated, scored, empty, cut)
	}
}

// Without states from the model, only the jobs that capture states fail.
func TestModelWithoutStates(t *testing.T) {
	m := newToy(small.Cells)
	m.noStates = true
	c := Capture{Layers: []int{1}, Mean: true}
	out := run(t, m, small, []Job{
		{ID: 1, Prompt: []llama.Token{3, 1}, MaxTokens: 3}, {ID: 2, Prompt: []llama.Token{4, 1}, MaxTokens: 3,
			Capture: c},
		{ID: 3, Prompt: []llama.Token{5, 9}, Continuations: [][]llama.Token{{1, 2}, {2}, {3}}, Capture: c},
	})
	if out[1].Err != nil || out[2].Err == nil || out[3].Err == nil {
		t.Errorf("%v, %v, %v", out[1].Err, out[2].Err, out[3].Err)
	}
}
