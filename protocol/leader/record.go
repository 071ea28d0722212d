package leader

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/grade"
)

// Record is what an opinion has beyond the common fields.
type Record struct {
	// Better lists the members whose own answers this member graded above the accepted
	// one, ascending: a leader's proposal needs votes, and need not be the best answer.
	Better      []synod.NodeID  `json:"better,omitempty"`
	Certificate *SignedDecision `json:"certificate,omitempty"` // of the answer that a quorum accepted
	// against each of the opinion's Suspects, as broadcast.Evidence encodes it
	Evidence [][]byte `json:"evidence,omitempty"`
}

// Accusations returns the evidence in a member's record.
func Accusations(o *synod.Opinion) [][]byte {
	if record, err := synod.RecordOf[Record](o); record != nil && err == nil {
		return record.Evidence
	}
	return nil
}

// SignedDecision is the signatures of a quorum under the answer that a leader had
// proposed.
type SignedDecision struct {
	Round      int            `json:"round"`
	Leader     synod.NodeID   `json:"leader"`
	Signers    []synod.NodeID `json:"signers"` // ascending
	Signatures [][]byte       `json:"signatures"`
}

// String returns the members of Better and the certificate, if there are any.
func (r *Record) String() string {
	var parts []string
	if len(r.Better) > 0 {
		parts = append(parts, "better "+nodes(r.Better))
	}
	if c := r.Certificate; c != nil {
		parts = append(parts, fmt.Sprintf("certified by %s for n%d in round %d", nodes(c.Signers), c.Leader, c.Round))
	}
	return strings.Join(parts, " ")
}

func nodes(ids []synod.NodeID) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = fmt.Sprintf("n%d", id)
	}
	return strings.Join(parts, ",")
}

// RecordOf returns the record of an opinion. It is empty, and not nil, if the opinion
// has none that can be read.
func RecordOf(o *synod.Opinion) *Record {
	if r, err := synod.RecordOf[Record](o); r != nil && err == nil {
		return r
	}
	return &Record{}
}

// PresentRound shows the field Better of a record.
func (p *Params) PresentRound(o *synod.Opinion, name func(synod.NodeID) string) map[string]any {
	better := RecordOf(o).Better
	if len(better) == 0 {
		return nil
	}
	names := make([]string, len(better))
	for i, id := range better {
		names[i] = name(id)
	}
	return map[string]any{"better": names}
}

// Record notes the opinion after a round without a decision. Decide notes the last one.
func (m *Member) Record(round int) {
	if m.done == nil && round < m.rules.Rounds {
		o, r := m.seen(round)
		m.note(round, m.own, o, r)
	}
}

// Decide notes the decision with its certificate, or that there is none, and returns it.
// round is the last one. A member that has not compared the accepted answer with its own does
// so now, so that it is recorded whether there was a better one [I-LB-4].
func (m *Member) Decide(round int) synod.Answer {
	o, r := m.seen(round)
	if m.done == nil {
		m.note(round, answer.Held{Source: synod.Absent}, o, r)
		return synod.None
	}
	accepted := m.done.Answer
	if m.own.Answer != synod.None && m.own.Answer != accepted {
		m.gradeAnswers([]memberAnswer{{m.own.Answer, m.own.Rationale}, {accepted, m.reasonOf(accepted)}})
	}
	r.Certificate = &SignedDecision{Round: m.done.Round, Leader: m.Leader(m.done.Round), Signers: m.done.Signers()}
	for _, v := range m.done.Votes {
		r.Certificate.Signatures = append(r.Certificate.Signatures, []byte(v.Signature))
	}
	o.Scores, r.Better = m.scores(), m.better(accepted)
	m.note(round, m.take(accepted), o, r)
	return accepted
}

// seen returns what a round showed of its leader: silence, or two proposals with the
// evidence.
func (m *Member) seen(round int) (o synod.Opinion, r Record) {
	o.Scores = m.scores()
	if m.silent {
		o.Silent = []synod.NodeID{m.Leader(round)}
	}
	for _, a := range m.against[m.shown:] {
		proof, err := a.proof.AppendBinary(nil)
		if err != nil {
			panic(err) // it never fails
		}
		o.Suspects, r.Evidence = append(o.Suspects, a.proof.Sender), append(r.Evidence, proof)
	}
	m.shown = len(m.against)
	return o, r
}

// note records an opinion, with r unless that is empty.
func (m *Member) note(round int, h answer.Held, o synod.Opinion, r Record) {
	if r.Better != nil || r.Certificate != nil || r.Evidence != nil {
		o.Record = &r
	}
	m.Note(round, h, o)
}

// scores returns the grades that the member's model gave to members' own answers, as shares of
// the best possible.
func (m *Member) scores() (all []synod.Judged) {
	for i, a := range m.answers {
		if x, known := m.grades[a.answer]; known {
			all = append(all, synod.Judged{Of: m.members[i], Score: synod.Score(x / grade.Best)})
		}
	}
	return all
}

// better returns the members whose own answers this one grades above the accepted one.
func (m *Member) better(accepted synod.Answer) (ids []synod.NodeID) {
	its, known := m.grades[accepted]
	for i, a := range m.answers {
		if x, graded := m.grades[a.answer]; known && graded && x > its {
			ids = append(ids, m.members[i])
		}
	}
	return ids
}

// reasonOf returns the reasoning that came with an answer.
func (m *Member) reasonOf(a synod.Answer) string {
	if i := slices.IndexFunc(m.answers, func(s memberAnswer) bool { return s.answer == a }); i >= 0 {
		return m.answers[i].rationale
	}
	return ""
}

// take returns what the member holds with the accepted answer.
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
