package answer

import (
	"synod.dev/synod"
	"synod.dev/synod/clean"
	"synod.dev/synod/read"
	"synod.dev/synod/script"
)

// Heard is what a neighbour said of its answer.
type Heard = script.Heard[synod.Response]

// End returns the tick at which the exchange of round t ends at the latest. calls is
// the number of model calls of one round that wait for one another, an answer that is
// asked for again included. Before round 0 there is time for two calls.
func End(pace synod.Pace, t, calls int) synod.Tick {
	return 2*pace.Think + synod.Tick(t)*(pace.Within+synod.Tick(calls)*pace.Think) + pace.Within
}

// Exchange sends r to all neighbours and returns their responses of round t, ascending
// by neighbour, and the neighbours without a readable one. A member without an answer
// first tries again to get one, except in round 0, and sends nothing if it cannot.
// calls is as for End.
//
// The exchange ends at End, or as soon as every neighbour has spoken. The early end is
// safe in every protocol whose next step is a function of the responses that this
// member received: only the first message of a neighbour in a slot counts, so after one
// message from each, nothing that could still arrive would change what is returned. A
// neighbour that is silent or late to one member and not to another makes them wait for
// different times, but each returns what it would return with a fixed end. No such
// protocol needs the members to agree on who was silent; a broadcast does, and has
// fixed ends.
func (m *Member) Exchange(t int, r *Held, calls int) (heard []Heard, silent []synod.NodeID) {
	if r.Answer == synod.None && t > 0 {
		*r = m.Answer()
	}
	if r.Answer != synod.None {
		word := synod.Response{Answer: synod.Answer(m.spelling(r.Answer)), Rationale: r.Rationale}
		if r.Confidence != nil {
			word.Confidence = *r.Confidence
		}
		script.Tell(m.Me, synod.Respond, t, word)
	}
	heard = m.readable(script.Collect[synod.Response](m.Me, synod.Respond, t, script.Until{At: End(m.Me.Seat().Pace, t, calls), Early: true}))
	return heard, absent(m.Me.Seat().Peers, heard)
}

// readable drops words that are no answer to the question and cuts rationales to
// what the protocol exchanges.
func (m *Member) readable(heard []Heard) []Heard {
	kept := heard[:0]
	for _, h := range heard {
		a, ok := read.Canonical(m.Me.Seat().Question, string(h.Word.Answer))
		if !ok {
			continue
		}
		m.spell(a, string(h.Word.Answer))
		h.Word.Answer = a
		h.Word.Rationale = clean.Line(h.Word.Rationale, m.How.Rationale)
		kept = append(kept, h)
	}
	return kept
}

// absent lists the peers that have not spoken, ascending.
func absent(peers []synod.NodeID, heard []Heard) []synod.NodeID {
	var silent []synod.NodeID
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

// spell remembers how a free-text answer was written, the first time it is met:
// its canonical form has lost its capitals, which mean something to a model.
func (m *Member) spell(a synod.Answer, words string) {
	if m.Me.Seat().Question.Form != synod.Text || words == string(a) {
		return
	}
	if _, known := m.spelled[a]; known {
		return
	}
	if m.spelled == nil {
		m.spelled = map[synod.Answer]string{}
	}
	m.spelled[a] = clean.Line(words, maxSpelled)
}

// maxSpelled bounds a spelling, in bytes.
const maxSpelled = 200

// spelling is how this member writes an answer.
func (m *Member) spelling(a synod.Answer) string {
	if s, ok := m.spelled[a]; ok {
		return s
	}
	return string(a)
}

// Show gives a prompt the spelling of the answers in it.
func (m *Member) Show(q *synod.Prompt) {
	if len(m.spelled) == 0 {
		return
	}
	note := func(a synod.Answer) {
		s, ok := m.spelled[a]
		if !ok {
			return
		}
		if q.Spelling == nil {
			q.Spelling = map[synod.Answer]string{}
		}
		q.Spelling[a] = s
	}
	note(q.Candidate)
	note(q.Own)
	for _, p := range q.Peers {
		note(p.Answer)
	}
}
