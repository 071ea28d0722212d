package adversary

import (
	"synod.dev/synod"
)

var strategistEntry = Entry{
	Entry: synod.Entry{Name: "insider-strategist",
		Summary: "strengthens, in every round, the wrong answer that is nearest to winning"},
	Facts: Facts{Number: 32, Place: AtSeat, Model: Synchronous, Where: arguing,
		Defence: "support rule; few rounds", Kind: Deterministic, Source: "arXiv 2605.08268"},
	About: `Takes the first answer of its own model for the right one. In every round it waits for
the messages of its neighbours, and then sends the most frequent of the other answers, so
that the votes of all such members go to the wrong answer that has most honest supporters.
Where there is none, it invents one. It judges as an honest member does.`,
	New: NoParams(strategist{}),
}

type strategist struct{}

func (strategist) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if seat.Signer != nil {
		return honest
	}
	right := synod.None
	return &rusher{seat: seat, honest: honest, change: func(r synod.Response, heard []synod.Response) synod.Response {
		if right == synod.None {
			right = r.Answer
		}
		r.Answer = other(seat.Question, right)
		for _, a := range byFrequency(heard) {
			if a != right {
				r.Answer = a
				break
			}
		}
		return r
	}}
}
