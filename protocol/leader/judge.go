package leader

import (
	"cmp"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/grade"
)

// accepts reports whether the member votes for the round's proposal.
//
// The lock comes first: a member that saw an answer prepared votes for another one only if
// the leader shows that it was prepared later. An answer that a quorum prepared is not
// compared again, because nothing else can be decided while others are locked on it. Any
// other proposal gets a vote if it is the member's own answer or proposal, or if the member
// grades it no lower than its own (with Exact: higher). A member without an own answer, or
// whose model fails, does not vote: a failure is not a vote.
func (m *Member) accepts(round int) bool {
	p := m.proposed
	if p == nil {
		return false
	}
	if m.rules.Lock && !m.rules.Forget {
		prepared := p.lock != nil && p.lock.Answer == p.answer && m.valid(p.lock, Prepare, round)
		if m.lock != nil && m.lock.Answer != p.answer && !(prepared && p.lock.Round > m.lock.Round) {
			return false
		}
		if prepared || m.lock != nil { // on this answer
			return true
		}
	}
	if m.own.Answer == synod.None {
		return false
	}
	if p.answer == m.own.Answer || m.Leader(round) == m.self() {
		return true
	}
	m.gradeAnswers([]memberAnswer{{m.own.Answer, m.own.Rationale}, {p.answer, p.rationale}})
	own, known := m.grades[m.own.Answer]
	its, read := m.grades[p.answer]
	return known && read && (its > own || its == own && !m.rules.Settings.Exact)
}

// gradeAnswers lets the member's model grade answers by the five criteria, one answer in a call, each
// answer once. An answer whose grading fails twice has no grades.
func (m *Member) gradeAnswers(answers []memberAnswer) {
	for range 2 {
		var prompts []synod.Prompt
		for i, a := range answers {
			_, known := m.grades[a.answer]
			if known || a.answer == synod.None || slices.ContainsFunc(answers[:i],
				func(b memberAnswer) bool { return b.answer == a.answer }) {
				continue
			}
			q := m.Prompt(grade.One)
			q.Candidate, q.Rationale, q.Detail = a.answer, a.rationale, grade.Detail{}
			m.Show(&q)
			prompts = append(prompts, q)
		}
		if len(prompts) == 0 {
			return
		}
		for i, reply := range m.Me.Ask(prompts...) {
			g, err := grade.Read(reply)
			switch {
			case err == nil:
				m.grades[prompts[i].Candidate] = g.Sum()
			case reply.Status != synod.OK:
				m.Failed++
			default:
				m.Unreadable++
			}
		}
	}
}

// choose returns what the leader proposes; nil if it has nothing to propose.
func (m *Member) choose(round int) *proposal {
	if m.rules.Lock && !m.rules.Forget && m.lock != nil {
		return &proposal{surface: string(m.lock.Answer), lock: m.lock}
	}
	if m.last != nil && !m.first(round) {
		return m.revise()
	}
	pick := memberAnswer{m.own.Answer, m.own.Rationale}
	if m.rules.Choice != Own {
		pick = m.ranked(pick)
	}
	if pick.answer == synod.None {
		return nil
	}
	return m.offer(pick.answer, m.own.Surface, pick.rationale)
}

// offer returns a proposal that the leader chose itself.
func (m *Member) offer(a synod.Answer, surface, rationale string) *proposal {
	r := m.response(a, surface, rationale)
	return &proposal{answer: a, surface: string(r.Answer), rationale: rationale}
}

// ranked returns the answer that Choice names among all answers that the leader knows, ranked
// by its own grades. Between equal grades the earlier seat is first. Without any grades it
// returns the leader's own answer.
func (m *Member) ranked(own memberAnswer) memberAnswer {
	m.gradeAnswers(m.answers)
	var all []memberAnswer
	for _, a := range m.answers {
		if _, known := m.grades[a.answer]; known {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return own
	}
	order.Stable(all, func(a, b memberAnswer) int {
		return cmp.Compare(m.grades[b.answer],
			m.grades[a.answer])
	})
	if m.rules.Choice == Best {
		return all[0]
	}
	return all[min(m.rules.Rank(len(all)), len(all))-1]
}

// revise returns a leader's next proposal in a debate: its model answers again in view of the
// answers of the members that did not vote for the last one.
func (m *Member) revise() *proposal {
	q := m.Prompt(synod.Refining)
	q.Own = m.last.answer
	refused := slices.Clone(m.refused)
	answer.Drawn(m.Me.Seat(), refused, func(id synod.NodeID) synod.NodeID { return id })
	for _, id := range refused {
		if a := m.answers[m.at(id)]; a.answer != synod.None && a.answer != m.last.answer {
			q.Peers = append(q.Peers, synod.Rated{Answer: a.answer, Score: synod.Untrusted, Rationale: a.rationale,
				Name: answer.NameOf(m.Me.Seat(), id)})
		}
	}
	if len(q.Peers) == 0 {
		return m.last
	}
	held := answer.Held{Answer: m.last.answer, Surface: m.last.surface, Rationale: m.last.rationale}
	held = m.Ask(held, q)
	return m.offer(held.Answer, held.Surface, held.Rationale)
}
