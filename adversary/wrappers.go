package adversary

import (
	"cmp"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/read"
)

// PromptAnswerer is a machine that answers the prompts of an honest machine in place of
// its model, or changes the model's replies.
type PromptAnswerer struct {
	Honest synod.Machine
	// Answer returns the reply to a prompt; nil: the model is to answer. A nil function
	// lets the model answer every prompt.
	Answer func(*synod.Prompt) *synod.Reply
	// Replace returns the reply that the honest machine gets in place of the model's. A
	// nil function changes no reply.
	Replace func(*synod.Prompt, *synod.Reply) *synod.Reply

	open    map[synod.ConsultID]*synod.Prompt // prompts that the model is answering
	out     []synod.Effect
	pending []synod.Event // of one Step
}

// usual is room for the effects of most steps.
const usual = 16

// Step passes the event on, and answers until the honest machine has no prompt that
// Answer answers.
func (m *PromptAnswerer) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if a, ok := e.(synod.Answered); ok {
		if p := m.open[a.ID]; p != nil && m.Replace != nil {
			e = synod.Answered{ID: a.ID, Reply: m.Replace(p, a.Reply)}
		}
		delete(m.open, a.ID)
	}
	if m.pending == nil {
		m.out, m.pending = make([]synod.Effect, 0, usual), make([]synod.Event, 0, usual)
	}
	m.out, m.pending = m.out[:0], append(m.pending[:0], e)
	for i := 0; i < len(m.pending); i++ {
		for _, x := range m.Honest.Step(now, m.pending[i]) {
			c, ok := x.(synod.Consult)
			if !ok {
				m.out = append(m.out, x)
				continue
			}
			if r := m.answer(c.Prompt); r != nil {
				m.pending = append(m.pending, synod.Answered{ID: c.ID, Reply: r})
				continue
			}
			if m.open == nil {
				m.open = map[synod.ConsultID]*synod.Prompt{}
			}
			m.open[c.ID] = c.Prompt
			m.out = append(m.out, x)
		}
	}
	return m.out
}

func (m *PromptAnswerer) answer(p *synod.Prompt) *synod.Reply {
	if m.Answer == nil {
		return nil
	}
	return m.Answer(p)
}

// ReplyForger changes the answers in the replies of a seat's own model.
type ReplyForger struct {
	Answer func(read.Confident) synod.Answer // returns the answer in place of the model's
	Text   func(string) string               // returns the text in place of the model's; nil: the same
}

// Machine returns a machine whose model answers every prompt of the honest machine, and
// whose readable answers are forged. An answer that equals the last forged one stays.
func (f ReplyForger) Machine(seat synod.Seat, honest synod.Machine) *PromptAnswerer {
	last := synod.None
	return &PromptAnswerer{Honest: honest, Replace: func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		if p.Purpose != synod.Answering && p.Purpose != synod.Refining {
			return r
		}
		given, ok := read.ConfidentAnswer(seat.Question, r, p.ConfidenceMode, p.Exact)
		if !ok {
			return r
		}
		if given.Answer != last {
			last = f.Answer(given)
		}
		forged := *r // with the model's cost
		forged.Typed, forged.Answer, forged.Confidence = true, last, given.Confidence
		if f.Text != nil {
			forged.Text = f.Text(r.Text)
		}
		return &forged
	}}
}

// MessageRewriter is a machine that changes what an honest machine sends.
type MessageRewriter struct {
	Honest synod.Machine
	// Response returns the sends in place of one whose body is a Response. A nil function
	// changes none.
	Response func(synod.Send, synod.Response) []synod.Send
	// Other returns the sends in place of any other one. A nil function changes none.
	Other func(synod.Send) []synod.Send
	// Effect returns the effect in place of a note, a decision or any other effect that
	// is not a send. A nil function changes none.
	Effect func(synod.Effect) synod.Effect

	out []synod.Effect
}

// Step passes the event on and rewrites the effects.
func (m *MessageRewriter) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if m.out == nil {
		m.out = make([]synod.Effect, 0, usual)
	}
	m.out = m.out[:0]
	for _, x := range m.Honest.Step(now, e) {
		send, ok := x.(synod.Send)
		if !ok {
			if m.Effect != nil {
				x = m.Effect(x)
			}
			m.out = append(m.out, x)
			continue
		}
		for _, s := range m.rewrite(send) {
			m.out = append(m.out, s)
		}
	}
	return m.out
}

func (m *MessageRewriter) rewrite(s synod.Send) []synod.Send {
	var r synod.Response
	isResponse := s.Slot.Name == synod.Respond && r.UnmarshalBinary(s.Body) == nil
	switch {
	case isResponse && m.Response != nil:
		return m.Response(s, r)
	case !isResponse && m.Other != nil:
		return m.Other(s)
	}
	return []synod.Send{s}
}

// WithResponse returns a copy of a send with other recipients and another body.
func WithResponse(s synod.Send, to []synod.NodeID, r synod.Response) synod.Send {
	body, err := r.AppendBinary(nil)
	if err != nil {
		panic("adversary: encode a response: " + err.Error()) // it never fails
	}
	m := *s.Message
	m.Body = body
	return synod.Send{To: to, Message: &m}
}

// certain wraps a machine so that it claims confidence 1.0 in everything that it sends
// and records, and keeps the answer mine once that is set, whatever its protocol makes it
// adopt.
func certain(seat synod.Seat, m synod.Machine, mine *synod.Answer) synod.Machine {
	return &MessageRewriter{Honest: m, Response: func(s synod.Send, r synod.Response) []synod.Send {
		r.Confidence = 1
		if a, _ := read.Canonical(seat.Question, string(r.Answer)); a != *mine && *mine != synod.None {
			r.Answer = *mine
		}
		return []synod.Send{WithResponse(s, s.To, r)}
	}, Effect: func(x synod.Effect) synod.Effect {
		switch x := x.(type) {
		case synod.Note:
			return certainNote(x, *mine)
		case synod.Decide:
			return synod.Decide{Answer: cmp.Or(*mine, x.Answer)}
		}
		return x
	}}
}

func certainNote(x synod.Note, mine synod.Answer) synod.Note {
	if x.Confidence == nil && (mine == synod.None || x.Answer == mine) {
		return x
	}
	o := *x.Opinion
	if mine != synod.None && o.Answer != mine {
		o.Answer, o.Surface, o.Source, o.From = mine, "", synod.Kept, nil
	}
	if o.Confidence != nil {
		one := 1.0
		o.Confidence = &one
	}
	return synod.Note{Opinion: &o}
}

// Believer returns the reply of a member that believes only in its own answer: it gives
// that answer, with confidence 1.0, and scores and grades it best and all others worst.
func Believer(p *synod.Prompt, mine synod.Answer) *synod.Reply {
	r := &synod.Reply{Status: synod.OK, Typed: true}
	switch p.Purpose {
	case grade.One, grade.All:
		*r = grade.Reply(p, func(a synod.Answer) grade.Grades {
			if a == mine {
				return grade.Uniform(grade.Max)
			}
			return grade.Grades{}
		})
	case synod.Scoring:
		if p.Candidate == mine {
			r.Value = 1
		}
	case synod.Weighing:
		if p.Candidate != mine {
			r.Value = -100
		}
	default:
		r.Answer = mine
		if p.ConfidenceMode != synod.NoConfidence {
			one := 1.0
			r.Confidence = &one
		}
	}
	return r
}

// believer returns Believer for one answer. It makes the two scores and the answer once.
func believer(mine synod.Answer) func(*synod.Prompt) *synod.Reply {
	var best, worst, answer *synod.Reply
	return func(p *synod.Prompt) *synod.Reply {
		known := &worst
		switch {
		case p.Purpose == synod.Scoring && p.Candidate == mine:
			known = &best
		case p.Purpose == synod.Scoring:
		case (p.Purpose == synod.Answering || p.Purpose == synod.Refining) &&
			p.ConfidenceMode == synod.NoConfidence:
			known = &answer
		default:
			return Believer(p, mine)
		}
		if *known == nil {
			*known = Believer(p, mine)
		}
		return *known
	}
}

// canonical returns the canonical answer of a text, or the text if it has none.
func canonical(q *synod.Question, text string) synod.Answer {
	if a, ok := read.Canonical(q, text); ok {
		return a
	}
	return synod.Answer(text)
}

// extended returns a free-text answer followed by more text, and any other answer
// unchanged.
func extended(q *synod.Question, given read.Confident, text string) synod.Answer {
	if q.Form != synod.Text && q.Form != synod.Prose {
		return given.Answer
	}
	if longer, ok := read.Canonical(q, string(given.Answer)+text); ok {
		return longer
	}
	return given.Answer
}
