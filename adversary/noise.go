package adversary

import (
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

var honestNoiseEntry = Entry{
	Entry: synod.Entry{Name: "honest-noise", Summary: "a weak member without malice: often wrong, honest otherwise"},
	Facts: Facts{Number: 1, Place: AtSeat, Model: Restricted, Where: synod.Anywhere,
		Defence: "more honest members than " +
			"weak ones",
		Kind: Statistical, Source: "the faulty members of the SAC paper"},
	About: `The control among the adversaries. It follows the protocol and judges honestly; only
some of its first answers are replaced by another one.

error  the share of its answers that are replaced (0.6)`,
	New: func(params map[string]any) (Adversary, error) {
		a := honestNoise{Error: 0.6}
		err := decode(params, &a)
		return a, err
	},
	Params: func() any { return &honestNoise{Error: 0.6} },
}

type honestNoise struct {
	Error float64 `yaml:"error" doc:"share of its first answers that are replaced" range:"0:1"`
}

func (honestNoise) Steady() bool { return true }

func (a honestNoise) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	errs := rand.New(rand.NewPCG(seat.Seed, 0x401e)).Float64() < a.Error
	return &PromptAnswerer{Honest: honest, Replace: func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		if !errs || p.Purpose != synod.Answering {
			return r
		}
		given, ok := read.ConfidentAnswer(seat.Question, r, p.ConfidenceMode, p.Exact)
		if !ok {
			return r
		}
		wrong := *r // with the model's cost
		wrong.Typed, wrong.Answer, wrong.Confidence, wrong.Text = true, other(seat.Question, given.Answer),
			given.Confidence, ""
		return &wrong
	}}
}
