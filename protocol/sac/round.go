package sac

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/read"
)

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

// verdict is what a member retains and drops in a round.
type verdict struct {
	scores
	retained []judged       // R_i, ascending by neighbour
	dropped  []synod.NodeID // bottom_F(L_i), ascending
	silent   []synod.NodeID // neighbours without a readable response, ascending
}

// score is Eq. 2 for every neighbour and for the member itself. The calls do not depend on
// one another, so they are made together. A prompt contains the answer and nothing that the
// sender says about itself.
func (m *member) score(heard []answer.Heard, r answer.Held) scores {
	if r.Answer == synod.None {
		return scores{self: synod.Untrusted} // nothing to refine, so nothing to score
	}
	m.prompts = slices.Grow(m.prompts[:0], len(heard)+1)
	q := m.judge()
	for i := range heard {
		m.candidate(&q, heard[i].Value.Answer, heard[i].Value.Rationale)
	}
	m.candidate(&q, r.Answer, r.Rationale)
	m.scored = slices.Grow(m.scored[:0], len(heard))[:len(heard)]
	s := scores{self: synod.Untrusted, scored: m.scored}
	for i, reply := range m.Me.Ask(m.prompts...) {
		if i < len(heard) {
			s.scored[i] = judged{&heard[i], m.scoreOf(reply)}
		} else {
			s.self = m.scoreOf(reply)
		}
	}
	return s
}

// judge returns a prompt for a score, without the answer to score.
func (m *member) judge() synod.Prompt {
	if m.Score == Likelihood {
		return m.Prompt(synod.Weighing)
	}
	return m.Prompt(synod.Scoring)
}

// candidate adds q for the score of one answer to the prompts.
func (m *member) candidate(q *synod.Prompt, candidate synod.Answer, rationale string) {
	m.prompts = append(m.prompts, *q)
	p := &m.prompts[len(m.prompts)-1]
	p.Candidate, p.Rationale = candidate, rationale
	m.Show(p)
}

// scoreOf reads a score: the number that the model wrote for Stated, and
// exp(mean log-probability) for Likelihood, which is monotone and maps (-∞,0] to [0,1].
func (m *member) scoreOf(r *synod.Reply) synod.Score {
	if r.Status != synod.OK {
		m.Failed++
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

// filter is Eq. 3 and 4: of the neighbours with a score strictly below the member's own,
// the lowest are dropped, at most F of them.
func (m *member) filter(f int, silent []synod.NodeID, s scores) verdict {
	v := verdict{scores: s, silent: silent}
	budget, anchor := f, s.self
	if !m.Exact {
		budget = max(0, f-len(silent)) // silence uses up the budget (SAC-4)
	}
	if m.StrictTrim || !m.Exact && anchor == synod.Untrusted {
		anchor = synod.Score(math.Inf(1)) // SAC-7, or there is no anchor
	}
	m.lower = below(m.lower, anchor, s.scored)
	lower := m.lower
	v.dropped = bottom(budget, lower)
	v.retained = lower[:0] // lower is no longer needed, and has the room
	for _, j := range s.scored {
		if _, out := slices.BinarySearch(v.dropped, j.From); !out {
			v.retained = append(v.retained, j)
		}
	}
	return v
}

// below returns L_i, in the storage of buffer: the neighbours with a score strictly below
// the anchor.
func below(buffer []judged, anchor synod.Score, all []judged) []judged {
	lower := slices.Grow(buffer[:0], len(all))
	for _, j := range all {
		if j.score < anchor {
			lower = append(lower, j)
		}
	}
	return lower
}

// bottom returns the f neighbours with the lowest scores, ascending by id. Between equal
// scores the id decides, so the order of arrival has no influence (I-SAC-5).
func bottom(f int, lower []judged) []synod.NodeID {
	slices.SortFunc(lower, func(a, b judged) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.From, b.From))
	})
	if lower = lower[:min(f, len(lower))]; len(lower) == 0 {
		return nil
	}
	ids := make([]synod.NodeID, len(lower))
	for i, j := range lower {
		ids[i] = j.From
	}
	slices.Sort(ids)
	return ids
}

// refine is Eq. 5: the member's model sees its own answer and the retained ones, best
// first, and none that was dropped. If nothing was retained or the reply cannot be read, the
// member keeps its answer (I-SAC-7).
func (m *member) refine(r answer.Held, v verdict) answer.Held {
	if r.Answer == synod.None {
		return r
	}
	if len(v.retained) == 0 {
		r.Source, r.From = synod.Kept, nil
		return r
	}
	m.peers = slices.Grow(m.peers[:0], len(v.retained))
	for _, j := range v.retained {
		m.peers = append(m.peers, synod.Rated{Answer: j.Value.Answer, Score: j.score, Rationale: j.Value.Rationale})
	}
	// Stable: equal scores stay in the order of their senders.
	slices.SortStableFunc(m.peers, func(a, b synod.Rated) int { return cmp.Compare(b.Score, a.Score) })
	q := m.Prompt(synod.Refining)
	q.Own, q.Peers = r.Answer, m.peers
	next := m.Ask(r, q)
	for _, j := range v.retained {
		next.Credit(j.From, j.Value.Answer)
	}
	return next
}

// member is the protocol at one seat.
type member struct {
	*SAC
	*answer.Member
	prompts []synod.Prompt // buffer of score
	scored  []judged       // likewise
	lower   []judged       // buffer of filter
	peers   []synod.Rated  // buffer of refine
}

// note records r_i^(t) and what led to it.
func (m *member) note(t int, r answer.Held, v verdict) {
	o := synod.Opinion{Dropped: v.dropped, Silent: v.silent}
	if t > 0 {
		o.Scores = make([]synod.Judged, 0, len(v.scored)+1)
		for _, j := range v.scored {
			o.Scores = append(o.Scores, synod.Judged{Of: j.From, Score: j.score})
		}
		if r.Answer != synod.None {
			self := synod.Judged{Of: m.Me.Seat().Self, Score: v.self}
			at, _ := slices.BinarySearchFunc(o.Scores, self,
				func(a, b synod.Judged) int { return cmp.Compare(a.Of, b.Of) })
			o.Scores = slices.Insert(o.Scores, at, self)
		}
		o.Retained = make([]synod.NodeID, len(v.retained))
		for i, j := range v.retained {
			o.Retained[i] = j.From
		}
	}
	m.Note(t, r, o)
}
