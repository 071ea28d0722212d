package adversary

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// waiting is a machine that holds its model's first answer back until it has heard the first answers of some others, or
// until a time is over, and chooses then what to answer.
type waiting struct {
	honest   synod.Machine
	question *synod.Question
	of       []synod.NodeID // whom it waits for
	waits    synod.Tick
	// choose returns its answer, in view of its model's (None: it gave none) and of those that it heard, in the order
	// of the list; None for those that it did not hear. None is its model's. With silent it gives no answer at all.
	choose func(mine synod.Answer, heard []synod.Answer) (a synod.Answer, silent bool)

	open     *synod.ConsultID // the prompt for a first answer that the model is answering
	prompt   *synod.Prompt
	held     *synod.Answered // its reply, until enough was heard
	answered bool
	silent   bool
	heard    []synod.Answer // by place in of
	out      []synod.Effect
}

// Step passes the event on, and a held reply when it is time.
func (m *waiting) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.out = m.out[:0]
	if m.silent {
		if _, ok := e.(synod.Halt); ok {
			m.honest.Step(now, e)
		}
		return nil
	}
	switch x := e.(type) {
	case synod.Expired:
		if x.ID == ownAlarms {
			return m.release(now)
		}
	case synod.Heard:
		m.hear(x)
		m.pass(now, e)
		if m.heardAll() {
			return m.release(now)
		}
		return m.out
	case synod.Answered:
		if m.open != nil && x.ID == *m.open && !m.answered {
			m.held, m.answered = &x, true
			if m.heardAll() {
				return m.release(now)
			}
			return append(m.out, synod.Alarm{ID: ownAlarms, At: now + m.waits})
		}
	}
	return m.pass(now, e)
}

// hear keeps the first answer of each of those whom it waits for.
func (m *waiting) hear(x synod.Heard) {
	if m.heard == nil {
		m.heard = make([]synod.Answer, len(m.of))
	}
	if i := slices.Index(m.of, x.From); i >= 0 && m.heard[i] == synod.None {
		m.heard[i] = heardAnswer(m.question, x)
	}
}

func (m *waiting) heardAll() bool {
	return len(m.heard) > 0 && !slices.Contains(m.heard, synod.None)
}

// pass hands an event to the honest machine and notes its first prompt for an answer.
func (m *waiting) pass(now synod.Tick, e synod.Event) []synod.Effect {
	for _, x := range m.honest.Step(now, e) {
		if c, ok := x.(synod.Consult); ok && m.open == nil && c.Prompt.Purpose == synod.Answering {
			id, p := c.ID, *c.Prompt
			m.open, m.prompt = &id, &p
		}
		m.out = append(m.out, x)
	}
	return m.out
}

// release hands the held reply on, with the chosen answer. If it gives none, it has decided nothing, and the honest
// machine gets no more events but Halt.
func (m *waiting) release(now synod.Tick) []synod.Effect {
	if m.held == nil {
		return m.out
	}
	mine := synod.None
	given, ok := read.ConfidentAnswer(m.question, m.held.Reply, m.prompt.ConfidenceMode, m.prompt.Exact)
	if ok {
		mine = given.Answer
	}
	a, silent := m.choose(mine, m.heard)
	if m.silent = silent; silent {
		return append(m.out, synod.Decide{})
	}
	reply := *m.held.Reply // with the model's cost
	if a != synod.None && a != mine {
		reply.Status, reply.Typed, reply.Answer, reply.Text = synod.OK, true, a, ""
	}
	id := m.held.ID
	m.held = nil
	return m.pass(now, synod.Answered{ID: id, Reply: &reply})
}
