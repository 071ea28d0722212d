package sac

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
)

// member is the protocol at one seat. It and its buffers are used for many runs.
type member struct {
	*SAC
	*answer.Member
	me       *script.Agent
	r        answer.Held    // r_i
	first    synod.Answer   // r_i^(0)
	heard    []answer.Heard // of this round
	silent   []synod.NodeID // neighbours without a readable response in this round, ascending
	v        verdict        // of this round
	refining bool           // a refinement was asked for in this round
	contest  *contest       // nil: SAC by itself

	judges []asked       // the answers whose scores were asked for in this run
	calls  []int         // by number of a body: one more than the call for the score of its answer; 0: none
	scored []judged      // buffer of scores
	lower  []judged      // buffer of filter
	shown  []judged      // buffer of refine
	peers  []synod.Rated // likewise
	kept   kept          // of the opinions of this run
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

// asked is an answer whose score was asked for, with the number of its call. Most members have
// the same answers, and those of the last round.
type asked struct {
	answer    synod.Answer
	rationale string
	call      int
}

// maxAsked bounds the calls that are looked for, so that a flood of different answers takes no time.
const maxAsked = 16

// verdict is what a member retains and drops in a round.
type verdict struct {
	scores
	retained []judged       // R_i, ascending by neighbour
	dropped  []synod.NodeID // bottom_F(L_i), ascending
	silent   []synod.NodeID // neighbours without a readable response, ascending
}

// ask asks for the member's independent answer.
func (m *member) ask() {
	m.Member = answer.New(m.me, answer.Settings{
		Templates: "sac", Exact: m.Exact, Caution: m.Caution, Rationale: m.Rationale,
		Asynchronous: m.Asynchronous,
	})
	m.v = verdict{}
	m.kept.reset()
	m.judges = m.judges[:0]
	m.calls = append(m.calls[:0], make([]int, answer.MaxBodies)...)
	m.Put(synod.Answering)
}

// answer takes r_i^(0).
func (m *member) answer() {
	m.r = m.Own(m.me.Reply(0))
	m.first = m.r.Answer
	m.note(0)
}

// again asks a member without an answer again.
func (m *member) again(t int) { m.Again(t, &m.r) }

// send sends r_i to all neighbours, and waits for theirs.
func (m *member) send(t int) { m.Send(t, &m.r, calls) }

// judge asks for the scores of Eq. 2: of every neighbour's answer and of the member's own.
// The calls do not depend on one another, so they are made together. A prompt contains the
// answer and nothing that the sender says about itself.
func (m *member) judge(t int) {
	m.heard, m.silent = m.Received(t)
	if m.contest != nil {
		m.heard, m.silent = m.contest.only(m.heard, m.silent)
	}
	if m.r.Answer == synod.None {
		return // nothing to refine, so nothing to score
	}
	purpose := synod.Scoring
	if m.Score == Likelihood {
		purpose = synod.Weighing
	}
	for i := range m.heard {
		n, v := -1, &m.heard[i].Value
		if m.contest == nil { // bodies are numbered as they were received, and a contest leaves some out
			n = m.Body(i)
		}
		if n < 0 {
			m.candidate(purpose, v.Answer, v.Rationale)
		} else if call := m.calls[n]; call == 0 || !m.me.Again(call-1) {
			m.calls[n] = m.candidate(purpose, v.Answer, v.Rationale) + 1
		}
	}
	m.candidate(purpose, m.r.Answer, m.r.Rationale)
}

// candidate asks for the score of one answer. It returns the number of the call.
func (m *member) candidate(purpose synod.Purpose, candidate synod.Answer, rationale string) (call int) {
	for i := range m.judges {
		if a := &m.judges[i]; a.answer == candidate && a.rationale == rationale && m.me.Again(a.call) {
			return a.call
		}
	}
	q := m.Draft(purpose)
	q.Candidate, q.Rationale = candidate, rationale
	if m.me.Seat().Guards.AnswerFirst && purpose == synod.Scoring {
		q.Own = m.first
	}
	m.Show(q)
	call = m.me.Put(q)
	if len(m.judges) < maxAsked {
		m.judges = append(m.judges, asked{candidate, rationale, call})
	}
	return call
}

// scores reads the scores that judge has asked for.
func (m *member) scores() scores {
	s := scores{self: synod.Untrusted}
	if m.r.Answer == synod.None {
		return s
	}
	n := len(m.heard)
	m.scored = slices.Grow(m.scored[:0], n)[:n]
	s.scored = m.scored
	for i := range n {
		s.scored[i] = judged{&m.heard[i], m.scoreOf(m.me.Reply(i))}
	}
	s.self = m.scoreOf(m.me.Reply(n))
	return s
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

// refine filters the neighbours' answers and asks for the refinement of Eq. 5: the member's
// model sees its own answer and the retained ones, best first, and none that was dropped.
func (m *member) refine(int) {
	m.v = m.filter(m.me.Seat().F, m.silent, m.scores())
	m.refining = m.r.Answer != synod.None && len(m.v.retained) > 0 && !m.selects()
	if !m.refining {
		return
	}
	m.shown = append(m.shown[:0], m.v.retained...)
	// Equal scores are in the drawn order, or in that of their senders.
	slices.SortStableFunc(m.shown, func(a, b judged) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return answer.CompareDrawn(m.me.Seat(), a.From, b.From)
	})
	m.peers = slices.Grow(m.peers[:0], len(m.shown))
	for _, j := range m.shown {
		m.peers = append(m.peers, m.Peer(j.From, &j.Value, j.score))
	}
	q := m.Draft(synod.Refining)
	q.Own, q.Peers = m.r.Answer, m.peers
	m.Show(q)
	m.me.Put(q)
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
	m.lower = below(m.lower, anchor, s.scored)
	lower := m.lower
	v.dropped = m.bottom(budget, lower)
	v.retained = lower[:0] // lower is no longer needed, and has the room
	out := v.dropped
	for _, j := range s.scored { // both are ascending
		if len(out) > 0 && out[0] == j.From {
			out = out[1:]
		} else {
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
func (m *member) bottom(f int, lower []judged) []synod.NodeID {
	slices.SortFunc(lower, func(a, b judged) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.From, b.From))
	})
	if lower = lower[:min(f, len(lower))]; len(lower) == 0 {
		return nil
	}
	ids := m.kept.nodes.list(len(lower))
	for _, j := range lower {
		ids = append(ids, j.From)
	}
	slices.Sort(ids)
	return ids
}

// adopt takes r_i^(t+1). If nothing was retained or the reply cannot be read, the member
// keeps its answer (I-SAC-7).
func (m *member) adopt(t int) {
	switch {
	case m.refining:
		m.r = m.contest.keep(m.r, m.Read(m.r, m.me.Reply(0)))
		if m.r.Source == synod.New {
			m.r.From = m.kept.nodes.list(len(m.v.retained))
		}
		for _, j := range m.v.retained {
			m.r.Credit(j.From, j.Value.Answer)
		}
		if len(m.r.From) == 0 {
			m.r.From = nil
		}
	case m.r.Answer != synod.None && m.selects():
		m.r = m.r.Take(m.preferred(), m.heard)
	case m.r.Answer != synod.None:
		m.r.Source, m.r.From = synod.Kept, nil
	}
	m.note(t + 1 - m.contest.before())
}

// selects reports whether the refinement of Eq. 5 is a choice. A model that is shown several texts writes a blend of
// them, which nobody has scored, so members choose among long texts by their scores.
func (m *member) selects() bool { return m.me.Seat().Question.Form == synod.Prose }

// preferred returns the retained text with the highest score, if that is above the member's own; of equal scores,
// that of the first sender.
func (m *member) preferred() synod.Answer {
	a, top := m.r.Answer, m.v.self
	for _, j := range m.v.retained {
		if j.score > top {
			a, top = j.Value.Answer, j.score
		}
	}
	return a
}

// note records r_i^(t) and what led to it.
func (m *member) note(t int) {
	o, v := &m.kept.opinions.list(1)[:1][0], &m.v
	*o = synod.Opinion{Dropped: v.dropped, Silent: v.silent}
	if t > 0 {
		o.Scores = m.kept.scores.list(len(v.scored) + 1)
		self := m.me.Seat().Self
		mine := m.r.Answer != synod.None
		for _, j := range v.scored {
			if mine && j.From > self {
				o.Scores, mine = append(o.Scores, synod.Judged{Of: self, Score: v.self}), false
			}
			o.Scores = append(o.Scores, synod.Judged{Of: j.From, Score: j.score})
		}
		if mine {
			o.Scores = append(o.Scores, synod.Judged{Of: self, Score: v.self})
		}
		o.Retained = m.kept.nodes.list(len(v.retained))
		for _, j := range v.retained {
			o.Retained = append(o.Retained, j.From)
		}
	}
	m.Noted(t, &m.r, o)
}

// kept is what the opinions of a run consist of. The next run overwrites it.
type kept struct {
	opinions slab[synod.Opinion]
	scores   slab[synod.Judged]
	nodes    slab[synod.NodeID]
}

// reset gives back all memory, so that it is handed out again.
func (k *kept) reset() { k.opinions.used, k.scores.used, k.nodes.used = 0, 0, 0 }

// slab hands out parts of one array. Each of the many short lists of a run would otherwise take
// an allocation. An array that is too small is replaced by a larger one.
type slab[T any] struct {
	all  []T
	used int
}

// list returns an empty list with room for n.
func (s *slab[T]) list(n int) []T {
	if s.used+n > len(s.all) {
		s.all, s.used = make([]T, max(n, min(2*len(s.all), maxSlab), minSlab)), 0
	}
	list := s.all[s.used : s.used : s.used+n]
	s.used += n
	return list
}

// The length of an array of a slab: a long run must not keep all that it has noted.
const minSlab, maxSlab = 4, 256
