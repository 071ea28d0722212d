package adversary

import (
	"synod.dev/synod"
	"synod.dev/synod/read"
)

var weakAnswerEntry = Entry{
	Entry: synod.Entry{Name: "weak-answer", Summary: "the SAC reference code's: its model's first answer to the same question, for ever, confidence 1.0"},
	About: `Asks its model once, and repeats that answer, right or wrong, in every round with
confidence 1.0. It judges nothing and changes nothing. Seat it with the weak
model, as the reference code of SAC does.`,
	New: plain(weakAnswer{}),
}

type weakAnswer struct{}

func (weakAnswer) Steady() bool { return true }

// Corrupt lets answers through to the model until one can be read.
func (weakAnswer) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m, mine := stubborn(seat, honest)
	return boast(seat, m, mine)
}

// stubborn keeps its model's first readable answer against everyone: all that is
// asked of it afterwards it answers by itself.
func stubborn(seat synod.Seat, honest synod.Machine) (m *mouth, mine *synod.Answer) {
	mine = new(synod.Answer)
	return &mouth{
		honest: honest,
		says: func(p *synod.Prompt) *synod.Reply {
			if *mine == synod.None && p.Purpose == synod.Answering {
				return nil
			}
			return typed(p, *mine)
		},
		hears: func(p *synod.Prompt, r *synod.Reply) {
			if *mine != synod.None || p.Purpose != synod.Answering { // a score of 0.5 reads as a number too
				return
			}
			if said, ok := read.ConfidentAnswer(seat.Question, r, p.Confide, p.Exact); ok {
				*mine = said.Answer
			}
		},
	}, mine
}
