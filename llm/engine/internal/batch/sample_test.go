package batch

import (
	"math"
	"testing"

	"synod.dev/synod/llm/engine/internal/llama"
)

// frequencies samples n first tokens, each with its own seed.
func frequencies(logits []float32, s Sampling, g Grammar, n int) []float64 {
	out := make([]float64, len(logits))
	for i := range n {
		s.Seed = uint64(i)
		x := sampler{Sampling: s}
		out[x.next(logits, g)] += 1 / float64(n)
	}
	return out
}

func softmax(logits []float32, t float64, allowed func(int) bool) []float64 {
	out, sum := make([]float64, len(logits)), 0.0
	for i, l := range logits {
		if allowed(i) {
			out[i] = math.Exp(float64(l) / t)
			sum += out[i]
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func near(t *testing.T, name string, got, want []float64, n int) {
	t.Helper()
	for i := range got {
		if tol := 5*math.Sqrt(want[i]*(1-want[i])/float64(n)) + 1e-6; math.Abs(got[i]-want[i]) > tol {
			t.Errorf("%s: token %d has frequency %.4f, want %.4f ± %.4f", name, i, got[i], want[i], tol)
		}
	}
}

// Tokens are sampled from the softmax. With a grammar, they are sampled from the softmax of
// the allowed tokens.
func TestSamplingDistribution(t *testing.T) {
	logits := []float32{1, 0.5, -1, 2, 0, -3, 1.5, 0.2}
	all := func(int) bool { return true }
	const n = 20000
	for _, temp := range []float64{0.5, 1, 2} {
		near(t, "no grammar", frequencies(logits, Sampling{Temperature: temp}, nil, n), softmax(logits, temp, all), n)
	}
	closed := 0
	g := &evens{n: 9, closed: &closed}
	even := func(i int) bool { return i%2 == 0 }
	near(t, "grammar", frequencies(logits, Sampling{Temperature: 1}, g, n), softmax(logits, 1, even), n)

	// the nucleus of 0.7 has tokens 3, 6 and 0
	top := func(i int) bool { return i == 3 || i == 6 || i == 0 }
	near(t, "nucleus", frequencies(logits, Sampling{Temperature: 1, TopP: 0.7}, nil, n), softmax(logits, 1, top), n)
}

func TestGreedy(t *testing.T) {
	closed := 0
	s := sampler{}
	if got := s.next([]float32{0, 3, 2, 3}, nil); got != 1 {
		t.Errorf("%d, want the first of the two best", got)
	}
	if got := s.next([]float32{0, 3, 2, 3}, &evens{closed: &closed}); got != 2 {
		t.Errorf("%d, want the best allowed token", got)
	}
	// the allowed tokens are far below the best and are found by masking
	if got := s.next([]float32{-50, 3, -40, 3}, &evens{closed: &closed}); got != 2 {
		t.Errorf("%d, want 2", got)
	}
	if got := s.next([]float32{5, 3}, &evens{closed: &closed}); got != -1 {
		t.Errorf("%d, want -1", got)
	}
	nan := float32(math.NaN())
	if got := s.next([]float32{nan, nan}, nil); got != -1 {
		t.Errorf("%d for NaN, want -1", got)
	}
}

func TestLogNormaliser(t *testing.T) {
	logits := []float32{1, 2, 3, -1000, 88}
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l))
	}
	if got := logNormaliser(logits); math.Abs(got-math.Log(sum)) > 1e-9 {
		t.Errorf("%v, want %v", got, math.Log(sum))
	}
}

func TestCommon(t *testing.T) {
	a := []llama.Token{1, 2, 3}
	if common(a, []llama.Token{1, 2, 4}) != 2 || common(a, a) != 3 || common(a, nil) != 0 {
		t.Error("wrong length of a common prefix")
	}
}
