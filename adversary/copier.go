package adversary

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/param"
)

var copierEntry = Entry{
	Entry: synod.Entry{Name: "copier",
		Summary: "copies another member's first answer, which earns trust, and defects on a share of the questions"},
	Facts: Facts{Place: AtSeat, Model: Synchronous, Protocols: []string{"cascade", "weighted-majority"},
		Defence: "commitments (commit), and reliability that finds copies", Kind: Statistical,
		Source: "docs/research/cascade.md, attack copy"},
	About: `Waits for the answer of the seat that it copies, and gives the same one as its own first
answer. Where it defects, it gives a wrong answer as the colluder does. Copying the best
member earns it the weight of that member in protocols that learn reliability
(docs/research/cascade.md, attack copy): let it copy in the run from which trust is learned, with
defects: 0, and defect in the next one, with defects: 1. If the other seat's message does
not come in time, it gives its own model's answer.

All copiers with the same share defect on the same questions, which the hash of the
question decides.

copies   a seat's id in the council file, or its index from 0; default: the first neighbour
waits    how long it waits for that seat's message, in milliseconds (one message's time)
defects  share of the questions on which it defects, 0 to 1 (0)
with     ids or indices of the accomplices whose wrong answers it joins (none)`,
	New:    newCopier,
	Params: func() any { return &copierParams{} },
}

type copierParams struct {
	Copies  any     `yaml:"copies" doc:"id or index of the seat that it copies; default: the first neighbour" example:"a1"`
	Waits   int     `yaml:"waits" doc:"how long it waits for that seat's message; 0: the pace of a message" range:"0:600000" unit:"milliseconds"`
	Defects float64 `yaml:"defects" doc:"share of the questions on which it defects" range:"0:1"`
	With    any     `yaml:"with" doc:"ids or indices of the seats whose wrong answers it joins" example:"[a1, 2]"`
}

type copier struct {
	copies  []seatName // at most one
	waits   synod.Tick
	defects float64
	lies    colluder
}

func newCopier(params map[string]any) (Adversary, error) {
	var given copierParams
	if err := param.Decode(params, &given); err != nil {
		return nil, err
	}
	if !(given.Defects >= 0 && given.Defects <= 1) {
		return nil, fmt.Errorf("defects is %v; it must be between 0 and 1", given.Defects)
	}
	a := copier{seatNames(given.Copies), synod.Tick(given.Waits), given.Defects, colluder{seatNames(given.With)}}
	if len(a.copies) > 1 {
		return nil, fmt.Errorf("copies names %d seats; it must name one (example: copies: a1)", len(a.copies))
	}
	return a, inRange("waits", given.Waits, 0, 600_000)
}

// Steady reports that its answer does not change once it is given.
func (copier) Steady() bool { return true }

func (a copier) Found(seat func(string) (synod.NodeID, error)) (Adversary, error) {
	both, err := colluder{a.copies}.Found(seat)
	if err != nil {
		return nil, err
	}
	lies, err := a.lies.Found(seat)
	if err != nil {
		return nil, err
	}
	a.copies, a.lies = both.(colluder).with, lies.(colluder)
	return a, nil
}

func (a copier) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if a.defecting(seat.Question) {
		return a.lies.Corrupt(seat, honest)
	}
	m := &copying{honest: honest, question: seat.Question, from: -1, waits: a.waits}
	switch {
	case len(a.copies) > 0:
		m.from = a.copies[0].node()
	case len(seat.Peers) > 0:
		m.from = seat.Peers[0]
	}
	if m.waits == 0 {
		m.waits = seat.Pace.Within
	}
	return m
}

// defecting reports whether it lies about a question.
func (a copier) defecting(q *synod.Question) bool {
	sum := sha256.Sum256([]byte("copier\x00" + q.ID + "\x00" + q.Text))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < a.defects
}

// copying is a machine that holds its model's first answer back until it has heard whom it copies.
type copying struct {
	honest   synod.Machine
	question *synod.Question
	from     synod.NodeID
	waits    synod.Tick
	open     *synod.ConsultID // the prompt for a first answer that the model is answering
	held     *synod.Answered  // its reply, until the other seat's answer comes
	answered bool
	heard    synod.Answer
	out      []synod.Effect
}

// Step passes the event on, and a held reply when it is time.
func (m *copying) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.out = m.out[:0]
	switch x := e.(type) {
	case synod.Expired:
		if x.ID == ownAlarms {
			return m.release(now)
		}
	case synod.Heard:
		if x.From == m.from && m.heard == synod.None {
			m.heard = heardAnswer(m.question, x)
		}
		m.pass(now, e)
		if m.heard != synod.None {
			return m.release(now)
		}
		return m.out
	case synod.Answered:
		if m.open != nil && x.ID == *m.open && !m.answered {
			m.held, m.answered = &x, true
			if m.heard != synod.None {
				return m.release(now)
			}
			return append(m.out, synod.Alarm{ID: ownAlarms, At: now + m.waits})
		}
	}
	return m.pass(now, e)
}

// pass hands an event to the honest machine and notes its first prompt for an answer.
func (m *copying) pass(now synod.Tick, e synod.Event) []synod.Effect {
	for _, x := range m.honest.Step(now, e) {
		if c, ok := x.(synod.Consult); ok && m.open == nil && c.Prompt.Purpose == synod.Answering {
			id := c.ID
			m.open = &id
		}
		m.out = append(m.out, x)
	}
	return m.out
}

// release hands the held reply on, with the copied answer if there is one.
func (m *copying) release(now synod.Tick) []synod.Effect {
	if m.held == nil {
		return m.out
	}
	reply := *m.held.Reply // with the model's cost
	if m.heard != synod.None {
		reply.Status, reply.Typed, reply.Answer, reply.Text = synod.OK, true, m.heard, ""
	}
	id := m.held.ID
	m.held = nil
	return m.pass(now, synod.Answered{ID: id, Reply: &reply})
}
