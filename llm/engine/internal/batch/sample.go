package batch

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod/llm/engine/internal/llama"
)

// Sampling says how the next token is chosen. Temperature 0 is greedy. TopP 0
// or 1 keeps all.
type Sampling struct {
	Temperature float64
	TopP        float64
	Seed        uint64
}

// reach is how far below the best a token may lie (in units of temperature)
// and still be considered: e^-16 is a ten-millionth.
const reach = 16

// worthAsking is how many candidates a grammar is asked about one by one (a
// few microseconds each) before the whole vocabulary is masked.
const worthAsking = 2048

type candidate struct {
	token llama.Token
	logit float64 // divided by the temperature
	key   float64 // logit plus noise: the greatest wins the race
}

// sampler chooses tokens for one job.
type sampler struct {
	Sampling
	step int
	buf  []candidate
}

// next chooses the token after the given scores. The grammar is asked about
// the winner of the race only, then about the next, and the whole vocabulary is
// masked (tens of milliseconds) just when no candidate pleases it. Since the
// race is decided by independent noise, the first allowed one is distributed
// exactly as if the others had never run. -1: nothing is allowed.
func (s *sampler) next(logits []float32, g Grammar) llama.Token {
	defer func() { s.step++ }()
	c := s.race(logits)
	if len(c) == 0 {
		return -1
	}
	best := 0
	for i := range c {
		if ahead(c[i], c[best]) < 0 {
			best = i
		}
	}
	if g == nil || g.Allows(c[best].token) {
		return c[best].token
	}
	slices.SortFunc(c, ahead)
	for _, x := range c[1:min(len(c), worthAsking)] {
		if g.Allows(x.token) {
			return x.token
		}
	}
	masked := slices.Clone(logits)
	g.Mask(masked)
	c = s.race(masked)
	if len(c) == 0 {
		return -1
	}
	return slices.MinFunc(c, ahead).token
}

// ahead orders by key; the token number settles ties.
func ahead(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.token, b.token))
}

// race gives each token within reach its noise (Gumbel's: the winner is then
// distributed as the softmax).
func (s *sampler) race(logits []float32) []candidate {
	s.buf = s.buf[:0]
	t := s.Temperature
	greedy := t <= 0
	if greedy {
		t = 1
	}
	top := math.Inf(-1)
	for _, l := range logits {
		top = max(top, float64(l))
	}
	if math.IsInf(top, -1) || math.IsNaN(top) {
		return nil
	}
	floor := float32(top - reach*t)
	for i, l := range logits {
		if l < floor {
			continue
		}
		c := candidate{token: llama.Token(i), logit: float64(l) / t}
		c.key = c.logit
		if !greedy {
			c.key += s.noise(c.token)
		}
		s.buf = append(s.buf, c)
	}
	if !greedy && s.TopP > 0 && s.TopP < 1 {
		s.buf = nucleus(s.buf, s.TopP)
	}
	return s.buf
}

// nucleus keeps the likeliest candidates that together reach p.
func nucleus(c []candidate, p float64) []candidate {
	slices.SortFunc(c, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.token, b.token))
	})
	total := 0.0
	for _, x := range c {
		total += math.Exp(x.logit - c[0].logit)
	}
	sum := 0.0
	for i, x := range c {
		if sum += math.Exp(x.logit - c[0].logit); sum >= p*total {
			return c[:i+1]
		}
	}
	return c
}

// noise is a Gumbel variate made from (seed, step, token).
func (s *sampler) noise(t llama.Token) float64 {
	h := mix(mix(s.Seed^0x9e3779b97f4a7c15) + mix(uint64(s.step)<<32|uint64(uint32(t))))
	u := (float64(h>>11) + 0.5) / (1 << 53)
	return -math.Log(-math.Log(u))
}

// mix is the finaliser of SplitMix64: a fixed scrambling of 64 bits.
func mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xbf58476d1ce4e5b9
	z ^= z >> 27
	z *= 0x94d049bb133111eb
	return z ^ z>>31
}

// logNormaliser is the log of the sum of exponentials: subtract it from a
// score to get a log-probability.
func logNormaliser(logits []float32) float64 {
	top := float32(math.Inf(-1))
	for _, l := range logits {
		top = max(top, l)
	}
	sum := 0.0
	for _, l := range logits {
		if d := float64(l - top); d > -40 { // e^-40 of a term changes nothing
			sum += math.Exp(d)
		}
	}
	return float64(top) + math.Log(sum)
}
