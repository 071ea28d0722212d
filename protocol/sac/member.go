package sac

import (
	"cmp"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/prompt"
	"synod.dev/synod/script"
)

// member is one seat playing; it counts what went wrong since its last note.
type member struct {
	*SAC
	me      *script.Agent
	failed  int
	garbled int
	spelled map[synod.Answer]string // free-text answers as someone wrote them first
	prompts []synod.Prompt          // scratch of score
	peers   []synod.Rated           // scratch of refine
}

// held is r_i^(t): a member's answer, its own spelling of it, the reasoning that
// is exchanged beside it if the protocol says so, and where it came from.
type held struct {
	answer    synod.Answer
	surface   string
	rationale string
	source    synod.Source
	from      []synod.NodeID
}

// answer is Eq. 1. A failed call or an unreadable reply is no answer (SAC-10).
func (m *member) answer() held {
	r := m.ask(held{source: synod.Absent}, m.prompt(synod.Answering))
	if r.source == synod.New {
		r.source = synod.Own
	}
	return r
}

// exchange is line 3: r goes to all neighbours, theirs come in. A member without
// an answer first tries again to get one, and is silent if it cannot.
func (m *member) exchange(t int, r *held) (heard []script.Heard[synod.Response], silent []synod.NodeID) {
	if r.answer == synod.None && t > 0 {
		*r = m.answer()
	}
	if r.answer != synod.None {
		script.Tell(m.me, synod.Respond, t, synod.Response{Answer: synod.Answer(m.spelling(r.answer)), Rationale: r.rationale})
	}
	heard = m.readable(script.Collect[synod.Response](m.me, synod.Respond, t, script.Until{At: m.end(t)}))
	return heard, absent(m.me.Seat().Peers, heard)
}

// readable drops words that are no answer to the question and cuts rationales to
// what the protocol exchanges.
func (m *member) readable(heard []script.Heard[synod.Response]) []script.Heard[synod.Response] {
	kept := heard[:0]
	for _, h := range heard {
		a, ok := prompt.Canonical(m.me.Seat().Question, string(h.Word.Answer))
		if !ok {
			continue
		}
		m.spell(a, string(h.Word.Answer))
		h.Word.Answer = a
		h.Word.Rationale = prompt.Clean(h.Word.Rationale, m.Rationale)
		kept = append(kept, h)
	}
	return kept
}

// spell remembers how a free-text answer was written, the first time it is met:
// its canonical form has lost its capitals, which mean something to a model.
func (m *member) spell(a synod.Answer, words string) {
	if m.me.Seat().Question.Form != synod.Text || words == string(a) {
		return
	}
	if _, known := m.spelled[a]; known {
		return
	}
	if m.spelled == nil {
		m.spelled = map[synod.Answer]string{}
	}
	m.spelled[a] = prompt.Clean(words, maxSpelled)
}

// maxSpelled bounds a spelling, in bytes.
const maxSpelled = 200

// spelling is how this member writes an answer.
func (m *member) spelling(a synod.Answer) string {
	if s, ok := m.spelled[a]; ok {
		return s
	}
	return string(a)
}

// show gives a prompt the spelling of the answers in it.
func (m *member) show(q *synod.Prompt) {
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

func template(p synod.Purpose) string {
	switch p {
	case synod.Answering:
		return "sac/answer"
	case synod.Scoring:
		return "sac/score"
	case synod.Weighing:
		return "sac/weigh"
	default:
		return "sac/refine"
	}
}

// prompt fills what all of a member's prompts have in common.
func (m *member) prompt(purpose synod.Purpose) synod.Prompt {
	seat := m.me.Seat()
	return synod.Prompt{
		Template: template(purpose), Purpose: purpose, Question: seat.Question,
		Caution: m.Caution, F: seat.F, Exact: m.Exact,
	}
}

// ask puts one prompt that wants an answer and returns what the member holds
// after it: r itself if nothing usable came back.
func (m *member) ask(r held, q synod.Prompt) held {
	reply := m.me.Ask(q)[0]
	r.from = nil
	if r.answer != synod.None {
		r.source = synod.Kept
	}
	if reply.Status != synod.OK {
		m.failed++
		return r
	}
	answer, surface, ok := prompt.AnswerOf(q.Question, reply, m.Exact)
	switch {
	case !ok:
		m.garbled++
		return r
	case answer == r.answer:
		return r
	}
	m.spell(answer, surface)
	r = held{answer: answer, surface: surface, source: synod.New}
	if m.Rationale > 0 {
		r.rationale = prompt.Reasoning(reply.Text, m.Rationale)
	}
	return r
}

// note records r_i^(t) and how it came about.
func (m *member) note(t int, r held, v verdict) {
	o := synod.Opinion{
		Round: t, Answer: r.answer, Surface: r.surface, Source: r.source, From: r.from,
		Dropped: v.dropped, Silent: v.silent, Failed: m.failed, Garbled: m.garbled,
	}
	m.failed, m.garbled = 0, 0
	if t > 0 {
		o.Scores = make([]synod.Judged, 0, len(v.scored)+1)
		for _, j := range v.scored {
			o.Scores = append(o.Scores, synod.Judged{Of: j.From, Score: j.score})
		}
		if r.answer != synod.None {
			self := synod.Judged{Of: m.me.Seat().Self, Score: v.self}
			at, _ := slices.BinarySearchFunc(o.Scores, self, func(a, b synod.Judged) int { return cmp.Compare(a.Of, b.Of) })
			o.Scores = slices.Insert(o.Scores, at, self)
		}
		o.Retained = make([]synod.NodeID, len(v.retained))
		for i, j := range v.retained {
			o.Retained[i] = j.From
		}
	}
	m.me.Note(o)
}
