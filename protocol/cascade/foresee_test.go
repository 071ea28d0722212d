package cascade

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/reliability"
)

// overtakes returns the probability by the model of the forecast, from all answers that the members not asked can give,
// that another answer than lead gets more than F supporters and as much weight as lead has now.
func overtakes(f *forecast, lead candidate, truth int) float64 {
	open := f.order[len(f.asked):]
	extra := make([]candidate, len(f.all)+1) // the last: an answer that nobody has given
	for i, c := range f.all {
		extra[i] = candidate{weight: c.weight, voices: c.voices, answer: c.answer}
	}
	var rest func(k int) float64
	rest = func(k int) float64 {
		if k == len(open) {
			for _, c := range extra {
				if c.answer != lead.answer && c.voices > f.f && c.weight >= lead.weight {
					return 1
				}
			}
			return 0
		}
		odds := reliability.Collision * math.Exp(float64(f.weights[open[k]])/reliability.Unit)
		sum, left := 0.0, 1.0
		for i := range extra {
			p := odds / (1 + odds)
			switch {
			case i == truth:
			case i == len(f.all):
				continue
			default:
				p = (1 - p) * reliability.Collision
			}
			extra[i].voices, extra[i].weight = extra[i].voices+1, extra[i].weight+f.weights[open[k]]
			sum += p * rest(k+1)
			extra[i].voices, extra[i].weight = extra[i].voices-1, extra[i].weight-f.weights[open[k]]
			left -= p
		}
		return sum + max(0, left)*rest(k+1)
	}
	return rest(0)
}

// The forecast bounds the probability that the missing votes change which answer leads, as the model gives it by adding
// up all ways in which they can be given; with one possible rival it is that probability.
func TestForecastBoundsTheModel(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 3))
	stops, tight := 0, 0
	for q := range 3000 {
		n := 3 + chance.IntN(4)
		p, w := New(), make([]float64, n)
		for i := range w {
			w[i] = 0.05 + 3*chance.Float64()
		}
		p.Weights = map[string][]float64{"text": w}
		c := p.convene(&synod.Question{ID: fmt.Sprint(q), Form: synod.Text}, n, chance.IntN((n+1)/2))
		s := &tally{council: c, answers: make([]synod.Answer, n)}
		s.asked = c.order[:c.f+1+chance.IntN(n-c.f-1)]
		for _, id := range s.asked {
			s.answers[id] = synod.Answer([]string{"", "a", "a", "a", "b", "c"}[chance.IntN(6)])
		}
		all := s.table()
		some := s.candidates(all)
		if len(some) == 0 {
			continue
		}
		f := s.foresee(all)
		exact, sum := 0.0, 0.0
		for truth, probability := range f.right {
			exact += probability * overtakes(f, some[0], truth)
			sum += probability
		}
		bound := f.overtaken(some[0])
		if math.Abs(sum-1) > 1e-9 || bound < exact-1e-9 || bound > 1+1e-9 {
			t.Fatalf("question %d: F=%d %v %v: %v, and the model gives %v", q, c.f, c.weights, s.answers, bound, exact)
		}
		if s.foreseen(all) != (bound <= p.Doubt) {
			t.Fatalf("question %d: it stops although %v, or does not", q, bound)
		}
		if s.foreseen(all) {
			stops++
		}
		if math.Abs(bound-exact) < 1e-9 {
			tight++
		}
	}
	if stops < 500 || tight < 500 {
		t.Errorf("%d stops, %d exact: the cases show little", stops, tight)
	}
}

// The posterior by which asking stops and the forecast of missing votes give the same probability to the leading
// answer, because both give the answers that nobody gave the same share.
func TestOneShareOfUnseen(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 5))
	for q := range 500 {
		n := 3 + chance.IntN(5)
		c := New().convene(&synod.Question{ID: fmt.Sprint(q), Form: synod.Text}, n, 1)
		s := &tally{council: c, answers: make([]synod.Answer, n)}
		s.asked = c.order[:1+chance.IntN(n)]
		for _, id := range s.asked {
			s.answers[id] = synod.Answer([]string{"a", "a", "b", "c"}[chance.IntN(4)])
		}
		all := s.table()
		if one, other := s.posterior(all, 0), s.foresee(all).right[0]; math.Abs(one-other) > 1e-12 {
			t.Fatalf("question %d, %v: the posterior is %v, and that of the forecast %v", q, s.answers, one, other)
		}
	}
}

// A smaller doubt asks more members, none asks as long as a vote can matter, and it must be a probability.
func TestDoubt(t *testing.T) {
	chance, calls := rand.New(rand.NewPCG(4, 4)), map[float64]int{}
	for q := range 300 {
		votes := make([]synod.Answer, 7)
		for i := range votes {
			votes[i] = synod.Answer("aaabcd"[chance.IntN(6):][:1])
		}
		for _, doubt := range []float64{0, 0.05, 0.5} {
			p := New()
			p.Doubt, p.Weights = doubt, map[string][]float64{"text": {2.5, 2, 1.5, 1, 0.6, 0.4, 0.2}}
			calls[doubt] += p.Recorded(&synod.Question{ID: fmt.Sprint(q), Form: synod.Text}, votes, 1).Asked
		}
	}
	if calls[0] <= calls[0.05] || calls[0.05] <= calls[0.5] {
		t.Errorf("first answers by doubt: %v", calls)
	}
}
