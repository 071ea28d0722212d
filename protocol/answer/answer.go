// Package answer has what protocols share whose members answer a question, tell their
// neighbours, and answer again: asking and reading, the exchange of answers, the opinions
// that are recorded, and the template of the question. What a member does with the answers
// that it hears is up to the protocol.
//
// A failed call, and a reply that cannot be read, are never an answer (SAC-10). Messages of
// neighbours are untrusted: a message that is not an answer to the question is dropped, and
// reasoning is cut to the length that the protocol exchanges.
//
//	m := answer.New(me, answer.Settings{Templates: "majority"})
//	r := m.Answer()
//	m.Note(0, r, synod.Opinion{})
package answer

import (
	"bytes"
	"cmp"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm/read"
)

// Settings say how the members of a protocol are asked.
type Settings struct {
	Templates      string // the protocol's name: the template of a purpose is Templates/purpose
	Exact          bool   // read replies as the papers do
	Caution        synod.Caution
	Rationale      int                  // the longest reasoning that is sent beside an answer, in bytes; 0: none
	ConfidenceMode synod.ConfidenceMode // whether and how an answer comes with a confidence
	// Asynchronous ends a round when all neighbours but F have sent, and at no fixed time.
	Asynchronous bool
}

// Member is one seat. It counts the failures since its last note.
type Member struct {
	Me         *script.Agent
	Settings   Settings
	Failed     int                     // calls that did not end OK
	Unreadable int                     // calls that ended OK but could not be read
	Unsure     int                     // answers whose confidence was missing or unreadable
	spelled    map[synod.Answer]string // free-text answers as they were first written
	templates  []template              // the templates of prompts
	heard      []Heard                 // buffer of Exchange
	known      []known                 // the first different bodies of responses in this run
	prompt     synod.Prompt            // the fields that all prompts share
	again      bool                    // askAgain asked for an answer
	told       string                  // the reasoning that was sent last
	echoes     echoes                  // of this run
}

// template is the name of the template for a purpose.
type template struct {
	purpose synod.Purpose
	name    string
}

// New returns the member of an agent, which has only one: a second call empties it.
func New(me *script.Agent, s Settings) *Member {
	m := script.Scratch[Member](me)
	if m.Settings.Templates != s.Templates {
		m.templates = nil
	}
	*m = Member{Me: me, Settings: s, templates: m.templates, heard: m.heard, known: m.known[:0]}
	seat := me.Seat()
	m.prompt = synod.Prompt{Question: seat.Question, Caution: s.Caution, F: seat.F, Exact: s.Exact}
	return m
}

// Held is a member's answer and where it came from.
type Held struct {
	Answer     synod.Answer
	Surface    string   // Answer as the member wrote it; untrusted
	Rationale  string   // the reasoning that is sent beside it
	Confidence *float64 // in [0,1]; nil: none was asked for, or none came
	Source     synod.Source
	From       []synod.NodeID // with Adopted: the neighbours that had shown it, ascending
}

// Heard is a neighbour's response.
type Heard = script.Heard[synod.Response]

// Prompt returns a prompt with the fields that all prompts of a member share.
func (m *Member) Prompt(purpose synod.Purpose) (q synod.Prompt) {
	m.fill(&q, purpose)
	return q
}

// Draft is Prompt in the storage of the next prompt (script.Agent.Draft).
func (m *Member) Draft(purpose synod.Purpose) *synod.Prompt {
	q := m.Me.Draft()
	m.fill(q, purpose)
	return q
}

func (m *Member) fill(q *synod.Prompt, purpose synod.Purpose) {
	*q = m.prompt
	q.Template, q.Purpose = m.template(purpose), purpose
	if purpose == synod.Answering {
		q.ConfidenceMode = m.Settings.ConfidenceMode
	}
}

func (m *Member) template(purpose synod.Purpose) string {
	for _, t := range m.templates {
		if t.purpose == purpose {
			return t.name
		}
	}
	m.templates = append(m.templates, template{purpose, m.Settings.Templates + "/" + string(purpose)})
	return m.templates[len(m.templates)-1].name
}

// Answer asks the model for an independent answer.
func (m *Member) Answer() Held {
	m.Put(synod.Answering)
	m.Me.Wait()
	return m.Own(m.Me.Reply(0))
}

// Own reads a reply to a prompt for an independent answer.
func (m *Member) Own(reply *synod.Reply) Held {
	r := m.Read(Held{Source: synod.Absent}, reply)
	if r.Source == synod.New {
		r.Source = synod.Own
	}
	return r
}

// Once plays a protocol that consists of one independent answer.
func (m *Member) Once() synod.Answer {
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	return r.Answer
}

// Ask sends a prompt that asks for an answer, and returns what the member holds after it:
// r if the reply cannot be used.
func (m *Member) Ask(r Held, q synod.Prompt) Held {
	m.Show(&q)
	return m.Read(r, m.Me.Ask(q)[0])
}

// Read returns what a member that holds r holds after a reply. It keeps r's answer if the
// reply has none, and r's confidence if the reply repeats the answer without one.
func (m *Member) Read(r Held, reply *synod.Reply) Held {
	r.From = nil
	if r.Answer != synod.None {
		r.Source = synod.Kept
	}
	if reply.Status != synod.OK {
		m.Failed++
		return r
	}
	seat := m.Me.Seat()
	given, ok := read.ConfidentAnswer(seat.Question, reply, m.Settings.ConfidenceMode, m.Settings.Exact)
	if text := untyped(seat); !ok && text != nil {
		given, ok = read.ConfidentAnswer(text, reply, m.Settings.ConfidenceMode, m.Settings.Exact)
	}
	if !ok {
		m.Unreadable++
		if r.Answer == synod.None { // there is no answer to keep, so the prompt may be sent again
			m.Me.Forget(reply)
		}
		return r
	}
	if m.Settings.ConfidenceMode != synod.NoConfidence && given.Confidence == nil {
		m.Unsure++
	}
	if given.Answer == r.Answer {
		r.Confidence = cmp.Or(given.Confidence, r.Confidence)
		return r
	}
	m.spell(given.Answer, given.Surface)
	r = Held{Answer: given.Answer, Surface: given.Surface, Confidence: given.Confidence, Source: synod.New}
	if g := seat.Guards; m.Settings.Rationale > 0 {
		r.Rationale = read.ReasoningText(reply, m.Settings.Rationale, clean.How{Lines: g.NoFence,
			Tokens: g.KeepTokens})
	}
	return r
}

// Credit records that a neighbour had shown an answer. If it is r's new answer, r's source
// becomes Adopted.
func (r *Held) Credit(from synod.NodeID, shown synod.Answer) {
	if shown == r.Answer && (r.Source == synod.New || r.Source == synod.Adopted) {
		r.Source, r.From = synod.Adopted, append(r.From, from)
	}
}

// Take returns what the member holds after the protocol made it take over an answer. It has
// no confidence, because the member itself did not choose it.
func (r Held) Take(a synod.Answer, heard []Heard) Held {
	if a == r.Answer {
		r.Source, r.From = synod.Kept, nil
		return r
	}
	r = Held{Answer: a, Source: synod.New}
	for _, h := range heard {
		r.Credit(h.From, h.Value.Answer)
	}
	return r
}

// Note records what the member holds after round t. The other fields of o are the caller's.
func (m *Member) Note(t int, r Held, o synod.Opinion) { m.Noted(t, &r, &o) }

// Noted is Note for an opinion that the caller does not use any more, so it is not copied.
func (m *Member) Noted(t int, r *Held, o *synod.Opinion) {
	o.Round, o.Answer, o.Surface, o.Source, o.From = t, r.Answer, r.Surface, r.Source, r.From
	o.Confidence = r.Confidence
	o.Failed, o.Unreadable, o.Unsure = m.Failed, m.Unreadable, m.Unsure
	m.Failed, m.Unreadable, m.Unsure = 0, 0, 0
	m.Me.Noted(o)
}

// End returns the tick at which the exchange of round t ends at the latest. calls is the
// number of model calls of one round that wait for one another, an answer that is asked for
// again included. Before round 0 there is time for two calls.
func End(pace synod.Pace, t, calls int) synod.Tick {
	return 2*pace.Think + synod.Tick(t)*(pace.Within+synod.Tick(calls)*pace.Think) + pace.Within
}

// Exchange sends r to all neighbours and returns their responses of round t, ascending by neighbour
// and valid until the next Exchange, and the neighbours without a readable one. A member without an
// answer first asks its model again, except in round 0, and sends nothing if it still has none.
// calls is as for End.
//
// The exchange ends at End, or as soon as every neighbour has sent a message. The early end
// is safe in every protocol whose next step is a function of the responses that this member
// received: only the first message of a neighbour in a slot counts, so after one message
// from each, nothing that could still arrive would change what is returned. A neighbour that
// is silent or late to one member and not to another makes them wait for different times,
// but each returns what it would return with a fixed end. No such protocol needs its members
// to agree on who was silent. A signed broadcast does, and has fixed ends.
func (m *Member) Exchange(t int, r *Held, calls int) (heard []Heard, silent []synod.NodeID) {
	m.askAgain(t, r)
	m.Me.Wait()
	m.send(t, r, calls)
	m.Me.Wait()
	return m.received(t)
}

// askAgain asks a member without an answer again.
func (m *Member) askAgain(t int, r *Held) {
	if m.again = r.Answer == synod.None && t > 0; m.again {
		m.Put(synod.Answering)
	}
}

// Put asks the model the prompt with the common fields.
func (m *Member) Put(purpose synod.Purpose) {
	m.Me.Put(m.Draft(purpose))
}

// send reads the answer that askAgain asked for and sends r.
func (m *Member) send(t int, r *Held, calls int) {
	if m.again {
		*r = m.Own(m.Me.Reply(0))
	}
	m.tell(t, r)
	until := script.Until{At: End(m.Me.Seat().Pace, t, calls), Early: true}
	if m.Settings.Asynchronous {
		until.At, until.AllBut = Never, m.Me.Seat().F
	}
	m.Me.Expect(synod.Respond, t, until)
}

// tell sends r to all neighbours, if it is an answer.
func (m *Member) tell(t int, r *Held) {
	if r.Answer != synod.None {
		m.keepFromEchoing(r)
		response := synod.Response{Answer: synod.Answer(m.Spelling(r.Answer)), Rationale: r.Rationale}
		if r.Confidence != nil {
			response.Confidence = *r.Confidence
		}
		m.told = r.Rationale
		script.Tell(m.Me, synod.Respond, t, response)
	}
}

// Stage is Exchange for a stage in which some members give their independent answers, which are sent to all: a member
// of
// the stage has one, the others send nothing. It ends at End, or when all members of the stage have sent: what it
// returns is a function of their messages only, as for Exchange. Messages of members that are not of the stage are
// ignored.
func (m *Member) Stage(t int, r *Held, of []synod.NodeID) (heard []Heard) {
	if slices.Contains(of, m.Me.Seat().Self) {
		m.tell(t, r)
	}
	m.Me.Expect(synod.Respond, t, script.Until{At: End(m.Me.Seat().Pace, t, 1), Early: true, Of: of})
	m.Me.Wait()
	heard, _ = m.received(t)
	return slices.DeleteFunc(heard, func(h Heard) bool { return !slices.Contains(of, h.From) })
}

// Never is the tick at which a round ends that has no fixed end: a week after the start. It
// is reached only if more neighbours than F never send, which no protocol withstands.
const Never synod.Tick = 7 * 24 * 3600 * 1000

// received returns what Exchange returns.
func (m *Member) received(t int) (heard []Heard, silent []synod.NodeID) {
	m.heard = m.heard[:0]
	for _, message := range script.Messages(m.Me, synod.Respond, t) {
		if k := m.read(message.Body); k.ok {
			m.heard = append(m.heard, Heard{From: message.From, Value: k.response})
		}
	}
	m.dropEchoes()
	return m.heard, absent(m.neighbours(t), m.heard)
}

// neighbours returns the member's neighbours of round t.
func (m *Member) neighbours(t int) []synod.NodeID {
	seat := m.Me.Seat()
	return seat.Neighbours(t)
}

// known is a response that was read. Most members have the answer of another one, or of their
// last round, so few messages of a run have a body that was not read before.
type known struct {
	body     []byte
	response synod.Response
	ok       bool // whether the body is an answer to the question
}

// maxBodies bounds the bodies that are known, so that a flood of different ones takes no memory.
const maxBodies = 15

// read reads a response, with its answer in canonical form and its reasoning cut. The result is valid until the next
// call.
func (m *Member) read(body []byte) *known {
	for i := range m.known {
		if bytes.Equal(m.known[i].body, body) {
			return &m.known[i]
		}
	}
	n := min(len(m.known), maxBodies)
	m.known = append(m.known[:n], known{body: body})
	k := &m.known[n]
	r := &k.response
	if r.UnmarshalBinary(body) != nil {
		return k
	}
	seat := m.Me.Seat()
	a, ok := read.Canonical(seat.Question, string(r.Answer))
	if text := untyped(seat); !ok && text != nil {
		a, ok = read.Canonical(text, string(r.Answer))
	}
	if !ok {
		return k
	}
	m.spell(a, string(r.Answer))
	r.Answer, k.ok = a, true
	r.Rationale = Shown(seat, r.Rationale, m.Settings.Rationale)
	return k
}

// absent lists the neighbours without a response. Both lists are ascending.
func absent(peers []synod.NodeID, heard []Heard) (silent []synod.NodeID) {
	i := 0
	for _, id := range peers {
		if i < len(heard) && heard[i].From == id {
			i++
			continue
		}
		silent = append(silent, id)
	}
	return silent
}

// maxSpelled bounds a spelling, in bytes.
const maxSpelled = 200

// spell remembers how a free-text answer was first written, because the canonical form has
// no capitals, which mean something to a model.
func (m *Member) spell(a synod.Answer, text string) {
	if text == string(a) || m.Me.Seat().Question.Form != synod.Text {
		return
	}
	if _, known := m.spelled[a]; known {
		return
	}
	if m.spelled == nil {
		m.spelled = map[synod.Answer]string{}
	}
	m.spelled[a] = clean.Line(text, maxSpelled)
}

// Spelling returns how this member writes an answer. The text may be another member's.
func (m *Member) Spelling(a synod.Answer) string {
	if s, ok := m.spelled[a]; ok {
		return s
	}
	return string(a)
}

// Show sets the Spelling of a prompt for the answers in it.
func (m *Member) Show(q *synod.Prompt) {
	if len(m.spelled) == 0 {
		return
	}
	add := func(a synod.Answer) {
		s, ok := m.spelled[a]
		if !ok {
			return
		}
		if q.Spelling == nil {
			q.Spelling = map[synod.Answer]string{}
		}
		q.Spelling[a] = s
	}
	add(q.Candidate)
	add(q.Own)
	for _, p := range q.Peers {
		add(p.Answer)
	}
}
