package leader

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/internal/answer"
)

// Record notes a round after which there is no decision yet. The last round, and one
// with a decision, Decide records.
func (m *Member) Record(round int) {
	if m.done == nil && round < m.rules.Rounds {
		m.Note(round, m.own, m.seen(round))
	}
}

// Decide is the end: the decision with its certificate, or that there is none. round
// is the last one. A member that has not compared what was accepted with its own
// answer does so now, so that whether better was to be had stands on record [I-LB-4].
func (m *Member) Decide(round int) synod.Answer {
	o := m.seen(round)
	if m.done == nil {
		m.Note(round, answer.Held{Source: synod.Absent}, o)
		return synod.None
	}
	accepted := m.done.Answer
	if m.own.Answer != synod.None && m.own.Answer != accepted {
		m.mark([]stance{{m.own.Answer, m.own.Rationale}, {accepted, m.reasonOf(accepted)}})
	}
	o.Certificate = &synod.Certificate{Round: m.done.Round, Leader: m.Leader(m.done.Round), Signers: m.done.Signers()}
	for _, v := range m.done.Votes {
		o.Certificate.Signatures = append(o.Certificate.Signatures, []byte(v.Signature))
	}
	o.Scores, o.Better = m.scores(), m.better(accepted)
	m.Note(round, m.take(accepted), o)
	return accepted
}

// seen is what a round showed of its leader: silence, or two proposals, with the
// evidence.
func (m *Member) seen(round int) (o synod.Opinion) {
	o.Scores = m.scores()
	if m.silent {
		o.Silent = []synod.NodeID{m.Leader(round)}
	}
	for _, a := range m.against[m.shown:] {
		proof, err := a.proof.AppendBinary(nil)
		if err != nil {
			panic(err) // it never fails
		}
		o.Suspects, o.Evidence = append(o.Suspects, a.proof.Sender), append(o.Evidence, proof)
	}
	m.shown = len(m.against)
	return o
}

// scores are the marks that the member's model gave members' own answers, as shares
// of the best possible.
func (m *Member) scores() (all []synod.Judged) {
	for i, a := range m.answers {
		if x, known := m.marks[a.answer]; known {
			all = append(all, synod.Judged{Of: m.members[i], Score: synod.Score(x / bestMarks)})
		}
	}
	return all
}

// bestMarks is the total of the best marks.
const bestMarks = float64(synod.MaxGrade * len(synod.Grades{}))

// better are the members whose own answers this one marks above the accepted one.
func (m *Member) better(accepted synod.Answer) (ids []synod.NodeID) {
	its, known := m.marks[accepted]
	for i, a := range m.answers {
		if x, marked := m.marks[a.answer]; known && marked && x > its {
			ids = append(ids, m.members[i])
		}
	}
	return ids
}

// reasonOf is the reasoning that came with an answer.
func (m *Member) reasonOf(a synod.Answer) string {
	if i := slices.IndexFunc(m.answers, func(s stance) bool { return s.answer == a }); i >= 0 {
		return m.answers[i].rationale
	}
	return ""
}

// take makes the accepted answer the member's.
func (m *Member) take(accepted synod.Answer) answer.Held {
	if accepted == m.own.Answer {
		return m.own
	}
	h := answer.Held{Answer: accepted, Source: synod.Adopted}
	for i, a := range m.answers {
		if a.answer == accepted && m.members[i] != m.self() {
			h.From = append(h.From, m.members[i])
		}
	}
	if leader := m.Leader(m.done.Round); h.From == nil && leader != m.self() {
		h.From = []synod.NodeID{leader}
	}
	if h.From == nil {
		h.Source = synod.New // its own proposal, revised
	}
	return h
}
