package adversary

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/llm/read"
)

var colluderEntry = Entry{
	Entry: synod.Entry{Name: "colluder",
		Summary: "always gives the wrong answer that others are most likely to give, the same as its accomplices"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: counting, Defence: "cascade with F at least the " +
		"number of colluders",
		Kind: Statistical, Source: "docs/research/cascade.md, attack lie"},
	About: `Asks its model for a convincing wrong answer, as the persuader does, and gives it in every
round with confidence 1.0. If it has heard the answer of an accomplice before, it gives
that one, so that colluders in later stages of cascade support the first. It judges
nothing. Votes have more to lose by it than by replay, because honest members who err
often err in the same way (docs/research/cascade.md, attack lie).

A simulated model gives the question's commonest mistake, so simulated colluders always
give the same answer. Recorded replies stay as they were recorded; for them, bench run
cascade-traces computes the honest members' favourite wrong answer.

with  ids or indices of its accomplices (none)`,
	New: func(params map[string]any) (Adversary, error) {
		var given colluderParams
		err := param.Decode(params, &given)
		return colluder{seatNames(given.With)}, err
	},
	Params: func() any { return &colluderParams{} },
}

type colluderParams struct {
	With any `yaml:"with" doc:"ids or indices of the seats whose answers it joins" example:"[a1, 2]"`
}

type colluder struct{ with []seatName }

// Steady reports that its answer does not change once it is given.
func (colluder) Steady() bool { return true }

func (a colluder) Found(seat func(string) (synod.NodeID, error)) (_ Adversary, err error) {
	a.with = slices.Clone(a.with)
	for i, n := range a.with {
		if a.with[i], err = n.find(seat); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a colluder) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	inner, mine := firstAnswer(&seat, honest)
	m := &collusion{with: a.with, question: seat.Question, mine: mine}
	m.Machine = persuading(&certain{honest: inner, question: seat.Question, mine: mine})
	read := inner.Replace
	inner.Replace = func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		if m.heard == synod.None || *mine != synod.None || p.Purpose != synod.Answering {
			return read(p, r)
		}
		*mine = m.heard
		joined := *r // with the model's cost
		joined.Status, joined.Typed, joined.Answer, joined.Text = synod.OK, true, m.heard, ""
		if p.ConfidenceMode != synod.NoConfidence {
			one := 1.0
			joined.Confidence = &one
		}
		return &joined
	}
	return m
}

// collusion is a machine that listens to accomplices before it answers.
type collusion struct {
	synod.Machine
	with     []seatName
	question *synod.Question
	mine     *synod.Answer
	heard    synod.Answer // the first answer of an accomplice; None: none came
}

// Step passes the event on.
func (m *collusion) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if h, ok := e.(synod.Heard); ok && m.heard == synod.None && *m.mine == synod.None {
		if slices.ContainsFunc(m.with, func(n seatName) bool { return n.node() == h.From }) {
			m.heard = heardAnswer(m.question, h)
		}
	}
	return m.Machine.Step(now, e)
}

// heardAnswer returns the answer in a message; None if it has none.
func heardAnswer(q *synod.Question, h synod.Heard) synod.Answer {
	var r synod.Response
	if h.Slot.Name != synod.Respond || r.UnmarshalBinary(h.Body) != nil {
		return synod.None
	}
	a, _ := read.Canonical(q, string(r.Answer))
	return a
}
