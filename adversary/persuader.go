package adversary

import "synod.dev/synod"

var persuaderEntry = Entry{
	Entry: synod.Entry{Name: "persuader",
		Summary: "fools judges: a wrong answer with a fluent, consistent derivation, the same in every round"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: reasoning, Defence: "support rule; rationale: 0",
		Kind:   Deterministic,
		Source: "arXiv 2406.14711; SAC §4.1: its properties are about scores"},
	About: `Asks its model for a convincing solution with a wrong result: fluent, in steps that follow
from one another, without a hint that it is wrong. It sends that answer and reasoning in
every round, and claims confidence 1.0 where the protocol asks for one. It judges nothing.
This is the attack that the SAC paper's guarantees leave open: they are about the scores
of judges, and hold when a judge is deceived, but say nothing about the answer then.

A model that reads text is told so at the end of its system prompt. A simulated model
gives the question's commonest mistake with an invented derivation, which simulated judges
believe with probability gullible. An embedded model that answers by likelihood gives the
second likeliest option. Recorded replies stay as they were recorded.

Members see its derivation where the protocol exchanges reasoning: sac and debate with
rationale above 0, DecentLLMs, the leaders' protocols, or in free-text answers. Elsewhere
it is one member with a wrong answer.`,
	New: NoParams(persuader{}),
}

type persuader struct{}

func (persuader) Steady() bool { return true }

func (persuader) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m, mine := firstAnswer(&seat, honest)
	c := &certain{honest: m, question: seat.Question, mine: mine}
	return persuading(c)
}

// persuading returns the machine with a model that is told to persuade others of a wrong answer.
func persuading(m synod.Machine) synod.Machine {
	return &MessageRewriter{Honest: m, Effect: func(x synod.Effect) synod.Effect {
		c, ok := x.(synod.Consult)
		if !ok {
			return x
		}
		p := *c.Prompt
		p.Goal = synod.Persuade
		return synod.Consult{ID: c.ID, Prompt: &p}
	}}
}
