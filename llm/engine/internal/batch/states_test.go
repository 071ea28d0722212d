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

// twin reads prompt and answer in one go, token by token, and pools by definition.
func twin(prompt, answer []llama.Token, layers []int) (query, last, mean [][]float32) {
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

// answerOf is the tokens of a toy's text: those that begin in it.
func answerOf(text string) (tokens []llama.Token) {
	for _, w := range strings.Fields(text) {
		n, _ := strconv.Atoi(w)
		tokens = append(tokens, llama.Token(n))
	}
	return tokens
}

// What is pooled while generating, several sequences in one batch, is what reading
// prompt and answer afterwards would give. [CP-2, Eq. 2]
func TestStatesAgainstReadingAfterwards(t *testing.T) {
	generated, weighed, empty, cut := 0, 0, 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		var wave []Job
		for id := range uint64(2 + r.IntN(6)) {
			closed := 0
			j := randomJob(r, id, &closed)
			j.Capture = Capture{Layers: [][]int{{2}, {0, 5}}[r.IntN(2)], Query: true, Last: true, Mean: true}
			if r.IntN(2) == 0 { // a stop string of whole pieces: the text then says which tokens count
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
				weighed++
			}
			for i, a := range answers {
				got := o.States[i]
				query, last, mean := twin(j.Prompt, a, j.Capture.Layers)
				if got.Tokens != len(a) || !sameStates(got.Query, query) {
					t.Fatalf("seed %d job %d: %d tokens for %q, query %v, want %v", seed, j.ID, got.Tokens, o.Text, got.Query, query)
				}
				if len(a) == 0 {
					empty++
					if got.Last != nil || got.Mean != nil {
						t.Fatalf("seed %d: states of an answer without tokens", seed)
					}
					continue
				}
				if !sameStates(got.Last, last) || !sameStates(got.Mean, mean) {
					t.Fatalf("seed %d job %d, %q:\n got %v %v\nwant %v %v", seed, j.ID, o.Text, got.Last, got.Mean, last, mean)
				}
			}
		}
	}
	if generated < 100 || weighed < 100 || empty == 0 || cut == 0 {
		t.Errorf("%d generated, %d weighed, %d empty, %d cut: something is not tried", generated, weighed, empty, cut)
	}
}

// A model that shows no states fails those who want them and nobody else.
func TestBlindModel(t *testing.T) {
	m := newToy(small.Cells)
	m.blind = true
	c := Capture{Layers: []int{1}, Mean: true}
	out := run(t, m, small, []Job{
		{ID: 1, Prompt: []llama.Token{3, 1}, MaxTokens: 3}, {ID: 2, Prompt: []llama.Token{4, 1}, MaxTokens: 3, Capture: c},
		{ID: 3, Prompt: []llama.Token{5, 9}, Continuations: [][]llama.Token{{1, 2}, {2}, {3}}, Capture: c},
	})
	if out[1].Err != nil || out[2].Err == nil || out[3].Err == nil {
		t.Errorf("%v, %v, %v", out[1].Err, out[2].Err, out[3].Err)
	}
}
