// Package answer is what those protocols share whose members answer a question,
// tell their neighbours, and answer again: asking and reading, the exchange of
// answers, their spelling, the record of what is held, and the page that asks the
// question. What a member makes of what it hears is the protocol's own.
//
// A failed call and a reply that cannot be read are never an answer (SAC-10).
// What neighbours say is untrusted: words that are no answer to the question are
// not heard, and reasoning is cut to what the protocol exchanges.
//
//	m := answer.New(me, answer.Manner{Pages: "majority"})
//	r := m.Answer()
//	m.Note(0, r, synod.Opinion{})
package answer

import (
	"cmp"

	"synod.dev/synod"
	"synod.dev/synod/read"
	"synod.dev/synod/script"
)

// Manner is how a protocol has its members asked.
type Manner struct {
	Pages     string // the protocol's name: the page of a purpose is Pages/purpose
	Exact     bool   // the papers' readers
	Caution   synod.Caution
	Rationale int           // bytes of reasoning that travel beside an answer; 0: none
	Confide   synod.Confide // whether an answer comes with a confidence
}

// Member is one seat playing; it counts what went wrong since its last note.
type Member struct {
	Me         *script.Agent
	How        Manner
	Failed     int                     // calls that did not end OK
	Unreadable int                     // calls that ended OK but could not be read
	Unsure     int                     // answers whose confidence did not come or could not be read
	spelled    map[synod.Answer]string // free-text answers as someone wrote them first
}

// New seats a member.
func New(me *script.Agent, how Manner) *Member { return &Member{Me: me, How: how} }

// Held is a member's answer, its own spelling of it, what travels beside it, and
// where it came from.
type Held struct {
	Answer     synod.Answer
	Surface    string
	Rationale  string
	Confidence *float64 // in [0,1]; nil: none was asked for, or none came
	Source     synod.Source
	From       []synod.NodeID // with Adopted: who had shown it, ascending
}

// Prompt fills what all of a member's prompts have in common.
func (m *Member) Prompt(purpose synod.Purpose) synod.Prompt {
	seat := m.Me.Seat()
	q := synod.Prompt{
		Template: m.How.Pages + "/" + string(purpose), Purpose: purpose, Question: seat.Question,
		Caution: m.How.Caution, F: seat.F, Exact: m.How.Exact,
	}
	if purpose == synod.Answering {
		q.Confide = m.How.Confide
	}
	return q
}

// Answer asks for an independent answer.
func (m *Member) Answer() Held {
	return m.Own(m.Me.Ask(m.Prompt(synod.Answering))[0])
}

// Own reads a reply to a prompt that asked for an independent answer.
func (m *Member) Own(reply *synod.Reply) Held {
	r := m.Read(Held{Source: synod.Absent}, reply)
	if r.Source == synod.New {
		r.Source = synod.Own
	}
	return r
}

// Once plays a protocol that is one answer and nothing else.
func (m *Member) Once() synod.Answer {
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	return r.Answer
}

// Ask puts one prompt that wants an answer and returns what the member holds
// after it: r itself if nothing usable came back.
func (m *Member) Ask(r Held, q synod.Prompt) Held {
	m.Show(&q)
	return m.Read(r, m.Me.Ask(q)[0])
}

// Read returns what a member that holds r holds after a reply: its own answer where
// the reply has none, and its own confidence where the reply repeats the answer
// without one.
func (m *Member) Read(r Held, reply *synod.Reply) Held {
	r.From = nil
	if r.Answer != synod.None {
		r.Source = synod.Kept
	}
	if reply.Status != synod.OK {
		m.Failed++
		return r
	}
	said, ok := read.ConfidentAnswer(m.Me.Seat().Question, reply, m.How.Confide, m.How.Exact)
	if !ok {
		m.Unreadable++
		if r.Answer == synod.None { // it has nothing to fall back on, so it may try again
			m.Me.Forget(reply)
		}
		return r
	}
	if m.How.Confide != synod.ConfideNothing && said.Confidence == nil {
		m.Unsure++
	}
	if said.Answer == r.Answer {
		r.Confidence = cmp.Or(said.Confidence, r.Confidence)
		return r
	}
	m.spell(said.Answer, said.Surface)
	r = Held{Answer: said.Answer, Surface: said.Surface, Confidence: said.Confidence, Source: synod.New}
	if m.How.Rationale > 0 {
		r.Rationale = read.Reasoning(reply.Text, m.How.Rationale)
	}
	return r
}

// Credit names a neighbour who had shown a new answer, so that it is not new but
// adopted.
func (r *Held) Credit(from synod.NodeID, shown synod.Answer) {
	if shown == r.Answer && (r.Source == synod.New || r.Source == synod.Adopted) {
		r.Source, r.From = synod.Adopted, append(r.From, from)
	}
}

// Take makes an answer that neighbours have shown the member's own. It was the
// protocol's choice and not the member's, so no confidence comes with it.
func (r Held) Take(a synod.Answer, heard []Heard) Held {
	if a == r.Answer {
		r.Source, r.From = synod.Kept, nil
		return r
	}
	r = Held{Answer: a, Source: synod.New}
	for _, h := range heard {
		r.Credit(h.From, h.Word.Answer)
	}
	return r
}

// Note records what is held after round t; o says how it came about.
func (m *Member) Note(t int, r Held, o synod.Opinion) {
	o.Round, o.Answer, o.Surface, o.Source, o.From, o.Confidence = t, r.Answer, r.Surface, r.Source, r.From, r.Confidence
	o.Failed, o.Unreadable, o.Unsure = m.Failed, m.Unreadable, m.Unsure
	m.Failed, m.Unreadable, m.Unsure = 0, 0, 0
	m.Me.Note(o)
}
