package adversary

import (
	"math"
	"testing"

	"synod.dev/synod"
)

// Adversaries that distort judgements distort likelihoods too, and leave what is no log-probability as it is.
func TestJudgementsByLikelihood(t *testing.T) {
	p := &synod.Prompt{Purpose: synod.Weighing, Candidate: "4"}
	half := func(_ synod.Answer, judgement float64) float64 { return judgement / 2 }
	for _, c := range []struct{ value, inverted, halved float64 }{
		{math.Log(0.2), math.Log(0.8), math.Log(0.1)},
		{0, leastLikely, math.Log(0.5)},
		{leastLikely, 0, leastLikely},
	} {
		r := &synod.Reply{Status: synod.OK, Typed: true, Value: c.value}
		if got := invert(p, r).Value; math.Abs(got-c.inverted) > 1e-9 {
			t.Errorf("%v is inverted to %v, want %v", c.value, got, c.inverted)
		}
		if got := moved(p, r, half).Value; math.Abs(got-c.halved) > 1e-9 {
			t.Errorf("half of %v is %v, want %v", c.value, got, c.halved)
		}
	}
	for _, r := range []synod.Reply{{Status: synod.Timeout, Typed: true}, {Status: synod.OK},
		{Status: synod.OK, Typed: true, Value: 1}, {Status: synod.OK, Typed: true, Value: math.NaN()}} {
		if got := invert(p, &r); got != &r {
			t.Errorf("%+v became %+v", r, got)
		}
	}
}
