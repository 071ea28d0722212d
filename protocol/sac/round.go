package sac

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
)

// member is the protocol at one seat.
type member struct {
	*SAC
	*answer.Member
	first   synod.Answer // r_i^(0)
	contest *contest     // nil: SAC by itself
	*buffers
}

// buffers are used again in every round, also of the next run.
type buffers struct {
	scored, retained, order []judged
	peers                   []synod.Rated
}

// play is the protocol of one member.
func (p *SAC) play(me *script.Agent) synod.Answer {
	m := &member{SAC: p, buffers: script.Scratch[buffers](me), Member: answer.New(me, answer.Settings{
		Templates: "sac", Exact: p.Exact, Caution: p.Caution, Rationale: p.Rationale, Asynchronous: p.Asynchronous,
	})}
	return m.algorithm().Answer
}

// algorithm is Algorithm 1, with the paper's line numbers.
func (m *member) algorithm() answer.Held {
	r := m.initial() // 1
	m.note(0, r, verdict{})
	for t := range m.Rounds { // 2
		heard, silent := m.exchange(t, &r)      // 3
		s := m.scores(t, r, heard)              // 4
		v := m.filter(m.Me.Seat().F, silent, s) // 5, 6
		r = m.refine(r, v)                      // 7
		m.note(t+1, r, v)
	} // 8
	return r // 9
}

// initial returns r_i^(0): the member's independent answer.
func (m *member) initial() answer.Held {
	if m.contest != nil {
		return m.choose()
	}
	r := m.Answer()
	m.first = r.Answer
	return r
}

// exchange sends r_i to all neighbours and returns theirs, ascending by neighbour, and the neighbours without a
// readable response.
func (m *member) exchange(t int, r *answer.Held) (heard []answer.Heard, silent []synod.NodeID) {
	if c := m.contest; c != nil {
		return c.only(m.Exchange(t+c.from, r, calls))
	}
	return m.Exchange(t, r, calls)
}

// scores is s_i: a member's scores of each neighbour's answer, ascending by neighbour, and
// of its own.
type scores struct {
	self   synod.Score // s_ii; Untrusted if there is none
	scored []judged
}

// judged is a neighbour's response with the score that this member gave it.
type judged struct {
	*answer.Heard
	score synod.Score
}

// scores is Eq. 2: the member's model scores every neighbour's answer and the member's own. The calls do not depend on
// one another, so they are made together.
func (m *member) scores(t int, r answer.Held, heard []answer.Heard) scores {
	s := scores{self: synod.Untrusted}
	switch {
	case r.Answer == synod.None && !m.Exact:
		return s // nothing to refine, so nothing to score
	case m.Score == Random:
		return m.drawn(t, heard)
	}
	for _, h := range heard {
		m.judge(h.Value.Answer, h.Value.Rationale)
	}
	if r.Answer != synod.None {
		m.judge(r.Answer, r.Rationale)
	}
	m.Me.Wait()
	m.scored = m.scored[:0]
	for i := range heard {
		m.scored = append(m.scored, judged{&heard[i], m.score(m.Me.Reply(i))})
	}
	s.scored, s.self = m.scored, unscored
	if r.Answer != synod.None {
		s.self = m.score(m.Me.Reply(len(heard)))
	}
	return s
}

// unscored is the paper's score where there is none: "if parsing fails or the LLM returns an invalid response, the
// score defaults to 0.5" (B.2). With exact: paper a call that failed has it, and so has the own response of a member
// that cannot be read, since there is no text of it to score.
const unscored = synod.Score(0.5)

// drawn are the scores of Random.
func (m *member) drawn(t int, heard []answer.Heard) scores {
	chance := rand.New(rand.NewPCG(m.Me.Seat().Seed, uint64(t)))
	s := scores{self: synod.Score(chance.Float64())}
	m.scored = m.scored[:0]
	for i := range heard {
		m.scored = append(m.scored, judged{&heard[i], synod.Score(chance.Float64())})
	}
	s.scored = m.scored
	return s
}

// judge asks for the score of one answer. The prompt contains the answer and nothing that its sender says about
// itself.
func (m *member) judge(candidate synod.Answer, rationale string) {
	purpose, own := synod.Scoring, synod.None
	if m.Score == Likelihood {
		purpose = synod.Weighing
	} else if m.Me.Seat().Guards.AnswerFirst {
		own = m.first
	}
	q := m.Draft(purpose)
	q.Own, q.Candidate, q.Rationale = own, candidate, rationale
	m.Show(q)
	m.Me.Put(q)
}

// score reads a score: the number that the model wrote for Stated, and
// exp(mean log-probability) for Likelihood, which is monotone and maps (-∞,0] to [0,1].
func (m *member) score(r *synod.Reply) synod.Score {
	if r.Status != synod.OK {
		m.Failed++
		if m.Exact {
			return unscored
		}
		return synod.Untrusted
	}
	if m.Score == Likelihood {
		if r.Typed && r.Value <= 0 {
			return synod.Score(math.Exp(r.Value))
		}
	} else if s, ok := read.Score(r, m.Exact); ok {
		return s
	}
	m.Unreadable++
	return synod.Untrusted
}

// verdict is what a member retains and drops in a round.
type verdict struct {
	scores
	retained []judged       // R_i, ascending by neighbour
	dropped  []synod.NodeID // bottom_F(L_i), ascending
	silent   []synod.NodeID // neighbours without a readable response, ascending
}

// filter is Eq. 3 and 4: of the neighbours with a score strictly below the member's own,
// the lowest are dropped, at most F of them.
func (m *member) filter(f int, silent []synod.NodeID, s scores) verdict {
	v := verdict{scores: s, silent: silent}
	budget, anchor := f, s.self
	if !m.Exact && !m.Asynchronous { // who was not waited for may be honest
		budget = max(0, f-len(silent)) // silence uses up the budget (SAC-4)
	}
	if m.StrictTrim || !m.Exact && anchor == synod.Untrusted {
		anchor = synod.Score(math.Inf(1)) // SAC-7, or there is no anchor
	}
	v.dropped = bottom(budget, m.below(anchor, s.scored))
	m.retained = m.retained[:0]
	for _, j := range s.scored {
		if !slices.Contains(v.dropped, j.From) {
			m.retained = append(m.retained, j)
		}
	}
	v.retained = m.retained
	return v
}

// below returns L_i: the neighbours with a score strictly below the anchor.
func (m *member) below(anchor synod.Score, all []judged) []judged {
	m.order = m.order[:0]
	for _, j := range all {
		if j.score < anchor {
			m.order = append(m.order, j)
		}
	}
	return m.order
}

// bottom returns the f neighbours with the lowest scores, ascending by id. Between equal
// scores the id decides, so the order of arrival has no influence (I-SAC-5).
func bottom(f int, lower []judged) (ids []synod.NodeID) {
	slices.SortFunc(lower, func(a, b judged) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.From, b.From))
	})
	for _, j := range lower[:min(f, len(lower))] {
		ids = append(ids, j.From)
	}
	slices.Sort(ids)
	return ids
}

// refine returns r_i^(t+1), Eq. 5: the member's model sees its own answer and the retained ones, best first, and none
// that was dropped. If none was retained or the reply cannot be read, the member keeps its answer (I-SAC-7).
func (m *member) refine(r answer.Held, v verdict) answer.Held {
	switch {
	case r.Answer == synod.None && !m.Exact:
		return r
	case m.Me.Seat().Question.Form == synod.Prose:
		return selected(r, v)
	case len(v.retained) == 0:
		return r.Take(r.Answer, nil)
	}
	q := m.Prompt(synod.Refining)
	m.peers = m.peers[:0]
	for _, j := range m.bestFirst(v.retained) {
		m.peers = append(m.peers, m.Peer(j.From, &j.Value, j.score))
	}
	q.Own, q.Peers = r.Answer, m.peers
	next := m.contest.keep(r, m.Ask(r, q))
	for _, j := range v.retained {
		next.Credit(j.From, j.Value.Answer)
	}
	return next
}

// bestFirst returns neighbours in the order of their scores. Equal scores are in the drawn order, or in that of their
// senders.
func (m *member) bestFirst(all []judged) []judged {
	m.order = append(m.order[:0], all...)
	slices.SortStableFunc(m.order, func(a, b judged) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return answer.CompareDrawn(m.Me.Seat(), a.From, b.From)
	})
	return m.order
}

// selected is refine for prose: the retained text with the highest score, if that is above the member's own; of equal
// scores, that of the first sender. A model that is shown several texts writes a blend of them, which nobody has
// scored, so members choose among long texts by their scores.
func selected(r answer.Held, v verdict) answer.Held {
	best, top := r.Answer, v.self
	for _, j := range v.retained {
		if j.score > top {
			best, top = j.Value.Answer, j.score
		}
	}
	next := r.Take(best, nil)
	for _, j := range v.scored {
		next.Credit(j.From, j.Value.Answer)
	}
	return next
}

// note records r_i^(t) and what led to it.
func (m *member) note(t int, r answer.Held, v verdict) {
	t += m.contest.before()
	o := synod.Opinion{Dropped: v.dropped, Silent: v.silent}
	if t > 0 {
		o.Scores = v.list(m.Me.Seat().Self, r.Answer != synod.None)
		o.Retained = make([]synod.NodeID, len(v.retained))
		for i, j := range v.retained {
			o.Retained[i] = j.From
		}
	}
	m.Note(t, r, o)
}

// list returns the scores in the order of members, with the member's own if it has an answer.
func (s *scores) list(self synod.NodeID, own bool) []synod.Judged {
	list := make([]synod.Judged, 0, len(s.scored)+1)
	for _, j := range s.scored {
		list = append(list, synod.Judged{Of: j.From, Score: j.score})
	}
	if own {
		at, _ := slices.BinarySearchFunc(list, self, func(j synod.Judged, id synod.NodeID) int {
			return cmp.Compare(j.Of, id)
		})
		list = slices.Insert(list, at, synod.Judged{Of: self, Score: s.self})
	}
	return list
}
