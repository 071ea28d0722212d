package adversary

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/grade"
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
	pending []synod.Input // of one Step
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
		m.out, m.pending = make([]synod.Effect, 0, usual), make([]synod.Input, 0, usual)
	}
	m.out, m.pending = m.out[:0], append(m.pending[:0], synod.Input{Event: e})
	for i := 0; i < len(m.pending); i++ {
		for _, x := range stepOne(m.Honest, now, m.pending[i:i+1]) {
			c, ok := x.(synod.Consult)
			if !ok {
				m.out = append(m.out, x)
				continue
			}
			if r := m.answer(c.Prompt); r != nil {
				m.pending = append(m.pending, synod.Input{Answered: synod.Answered{ID: c.ID, Reply: r}})
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

// stepOne hands the only event of a list to a machine. A reply needs no allocation if the machine
// is a Batcher.
func stepOne(m synod.Machine, now synod.Tick, in []synod.Input) []synod.Effect {
	switch b, ok := m.(synod.Batcher); {
	case in[0].Event != nil:
		return m.Step(now, in[0].Event)
	case ok:
		return b.StepAll(now, in)
	}
	return m.Step(now, in[0].Answered)
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

// certain is a machine that claims confidence 1.0 in everything that its honest machine sends
// and records, and keeps the answer mine once that is set, whatever its protocol makes it
// adopt.
type certain struct {
	honest   synod.Machine
	question *synod.Question
	mine     *synod.Answer

	out   []synod.Effect
	sent  []synod.Effect // the first messages: a machine that is reset uses them again
	sends int
}

// maxKept is how many messages a machine keeps for its next run.
const maxKept = 64

// Step passes the event on and changes the effects.
func (m *certain) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if m.out == nil {
		m.out = make([]synod.Effect, 0, usual)
	}
	m.out = m.out[:0]
	for _, effect := range m.honest.Step(now, e) {
		switch x := effect.(type) {
		case synod.Send:
			effect = m.send(effect, x)
		case synod.Note:
			effect = certainNote(x, *m.mine)
		case synod.Decide:
			if *m.mine != synod.None && *m.mine != x.Answer {
				effect = synod.Decide{Answer: *m.mine}
			}
		}
		m.out = append(m.out, effect)
	}
	return m.out
}

// send returns the effect in place of a message.
func (m *certain) send(effect synod.Effect, s synod.Send) synod.Effect {
	var r synod.Response
	if s.Slot.Name != synod.Respond || r.UnmarshalBinary(s.Body) != nil {
		return effect
	}
	r.Confidence = 1
	if a, _ := read.Canonical(m.question, string(r.Answer)); a != *m.mine && *m.mine != synod.None {
		r.Answer = *m.mine
	}
	k := min(m.sends, maxKept)
	if m.sends++; k == len(m.sent) || k == maxKept {
		m.sent = append(m.sent[:k], synod.Send{To: s.To, Message: new(synod.Message)})
	}
	old := m.sent[k].(synod.Send)
	body, err := r.AppendBinary(old.Body[:0])
	if err != nil {
		panic("adversary: encode a response: " + err.Error()) // it never fails
	}
	*old.Message = *s.Message
	old.Body = body
	if !slices.Equal(old.To, s.To) { // of an earlier run
		m.sent[k] = synod.Send{To: s.To, Message: old.Message}
	}
	return m.sent[k]
}

// reset prepares the machine for another run, like its honest machine.
func (m *certain) reset(q *synod.Question) { m.question, m.sends = q, 0 }

// certainly returns a certain machine over one that finds its answer in the run, for many runs if
// its honest machine can be used again. The seat is that of m.
func certainly(m *PromptAnswerer, seat *synod.Seat, mine *synod.Answer) synod.Machine {
	c := &certain{honest: m, question: seat.Question, mine: mine}
	return again(c, m.Honest, func(next synod.Seat) {
		*seat, *mine = next, synod.None
		clear(m.open)
		c.reset(next.Question)
	})
}

// again returns a corrupted machine that can be used for several runs, if its honest machine
// can: renew prepares it for another one.
func again(m synod.Machine, honest synod.Machine, renew func(synod.Seat)) synod.Machine {
	if r, ok := honest.(synod.Resetter); ok {
		return &renewable{m, r, renew}
	}
	return m
}

type renewable struct {
	synod.Machine
	honest synod.Resetter
	renew  func(synod.Seat)
}

// Reset implements synod.Resetter.
func (m *renewable) Reset(seat synod.Seat) {
	m.honest.Reset(seat)
	m.renew(seat)
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

// leastLikely is the mean log-probability that an adversary gives to an answer that it calls impossible.
const leastLikely = -100

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
			r.Value = leastLikely
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

// believer returns what Believer returns for one answer. It makes the two scores and the answer
// once.
type believer struct {
	mine   synod.Answer
	known  [3]synod.Reply // best, worst and the answer
	filled [3]bool
}

func (b *believer) reply(p *synod.Prompt) *synod.Reply {
	k := 1
	switch {
	case p.Purpose == synod.Scoring && p.Candidate == b.mine:
		k = 0
	case p.Purpose == synod.Scoring:
	case (p.Purpose == synod.Answering || p.Purpose == synod.Refining) && p.ConfidenceMode == synod.NoConfidence:
		k = 2
	default:
		return Believer(p, b.mine)
	}
	if !b.filled[k] {
		b.known[k], b.filled[k] = *Believer(p, b.mine), true
	}
	return &b.known[k]
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
