package batch

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod/llm/engine/internal/llama"
)

// Sampling has the parameters for sampling a token. Temperature 0 takes the most likely token.
// TopP 0 or 1 keeps all tokens.
type Sampling struct {
	Temperature float64
	TopP        float64
	Seed        uint64
}

// maxGap is the largest difference between the highest logit and that of a candidate, in
// units of temperature: e^-16 is about 1e-7.
const maxGap = 16

// maxChecks is the number of candidates that are checked against the grammar one by one (a
// few microseconds each) before the whole vocabulary is masked.
const maxChecks = 2048

type candidate struct {
	token llama.Token
	logit float64 // divided by the temperature
	key   float64 // logit plus noise: the candidate with the largest key is taken
}

// sampler samples the tokens of one job.
type sampler struct {
	Sampling
	step int
	buf  []candidate
}

// next samples the token after the given logits; -1 means that none is allowed. It checks
// the candidates against the grammar in the order of their keys, and masks the whole
// vocabulary (tens of milliseconds) only if none of them is allowed. Because the noise of
// the candidates is independent, the first allowed one has the same distribution as if the
// other tokens had been removed before.
func (s *sampler) next(logits []float32, g Grammar) llama.Token {
	defer func() { s.step++ }()
	c := s.candidates(logits)
	if len(c) == 0 {
		return -1
	}
	best := 0
	for i := range c {
		if byKey(c[i], c[best]) < 0 {
			best = i
		}
	}
	if g == nil || g.Allows(c[best].token) {
		return c[best].token
	}
	slices.SortFunc(c, byKey)
	for _, x := range c[1:min(len(c), maxChecks)] {
		if g.Allows(x.token) {
			return x.token
		}
	}
	masked := slices.Clone(logits)
	g.Mask(masked)
	c = s.candidates(masked)
	if len(c) == 0 {
		return -1
	}
	return slices.MinFunc(c, byKey).token
}

// byKey sorts by descending key, then by token.
func byKey(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.token, b.token))
}

// candidates returns the tokens within maxGap of the best with their keys. With Gumbel noise
// the token with the largest key is distributed as the softmax.
func (s *sampler) candidates(logits []float32) []candidate {
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
	floor := float32(top - maxGap*t)
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

// nucleus keeps the most likely candidates with a total probability of at least p.
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

// noise returns a Gumbel variate that depends on (seed, step, token).
func (s *sampler) noise(t llama.Token) float64 {
	h := mix(mix(s.Seed^0x9e3779b97f4a7c15) + mix(uint64(s.step)<<32|uint64(uint32(t))))
	u := (float64(h>>11) + 0.5) / (1 << 53)
	return -math.Log(-math.Log(u))
}

// mix is the finaliser of SplitMix64, a hash of 64 bits.
func mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xbf58476d1ce4e5b9
	z ^= z >> 27
	z *= 0x94d049bb133111eb
	return z ^ z>>31
}

// logNormaliser returns the logarithm of the sum of exponentials. A logit minus this value is
// a log-probability.
func logNormaliser(logits []float32) float64 {
	top := float32(math.Inf(-1))
	for _, l := range logits {
		top = max(top, l)
	}
	sum := 0.0
	for _, l := range logits {
		if d := float64(l - top); d > -40 { // smaller terms do not change the sum
			sum += math.Exp(d)
		}
	}
	return float64(top) + math.Log(sum)
}
