package answer

import (
	"synod.dev/synod"
	"synod.dev/synod/clean"
	"synod.dev/synod/read"
	"synod.dev/synod/script"
)

// Heard is what a neighbour said of its answer.
type Heard = script.Heard[synod.Response]

// End is the tick at which the exchange of round t ends, for rounds of an
// exchange of so many ticks and so many calls that wait for one another.
//
// Rounds end at fixed ticks, so that a member that waits for a silent neighbour
// and one that does not stay in the same round, and all members ask their models
// at the same ticks. The calls of a round include an answer asked for again.
func End(t int, within synod.Tick, calls int) synod.Tick {
	const think = 2 // ticks that a model call may take
	return 2*think + synod.Tick(t)*(within+synod.Tick(calls)*think) + within
}

// Exchange is round t's: r goes to all neighbours, theirs come in, ascending;
// silent are those without a readable word. A member without an answer first tries
// again to get one, except in round 0, and says nothing if it cannot.
func (m *Member) Exchange(t int, r *Held, end synod.Tick) (heard []Heard, silent []synod.NodeID) {
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
	heard = m.readable(script.Collect[synod.Response](m.Me, synod.Respond, t, script.Until{At: end}))
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
