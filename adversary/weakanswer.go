package adversary

import (
	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

var weakAnswerEntry = Entry{
	Entry: synod.Entry{Name: "weak-answer",
		Summary: "the SAC reference code's: its model's first answer in every round, confidence 1.0"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: confiding,
		Defence: "receivers' own scores (sac)", Kind: Statistical, Source: "SAC's reference code"},
	About: `Calls its model once and repeats that answer, right or wrong, in every round with
confidence 1.0. It judges nothing and changes nothing. Give it a weak model, as the
reference code of SAC does.`,
	New: NoParams(weakAnswer{}),
}

type weakAnswer struct{}

func (weakAnswer) Steady() bool { return true }

func (weakAnswer) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m, mine := firstAnswer(&seat, honest)
	return certainly(m, &seat, mine)
}

// firstAnswer returns a machine that keeps its model's first readable answer, and answers
// every later prompt as a Believer of it. mine is None until then.
func firstAnswer(seat *synod.Seat, honest synod.Machine) (m *PromptAnswerer, mine *synod.Answer) {
	mine = new(synod.Answer)
	return &PromptAnswerer{
		Honest: honest,
		Answer: func(p *synod.Prompt) *synod.Reply {
			if *mine == synod.None && p.Purpose == synod.Answering {
				return nil
			}
			return Believer(p, *mine)
		},
		Replace: func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
			if *mine == synod.None && p.Purpose == synod.Answering { // a score of 0.5 could be read as a number too
				if given, ok := read.ConfidentAnswer(seat.Question, r, p.ConfidenceMode, p.Exact); ok {
					*mine = given.Answer
				}
			}
			return r
		},
	}, mine
}
