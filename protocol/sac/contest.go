package sac

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol/answer"
)

// contest is SAC between given answers, after another protocol has collected first answers.
type contest struct {
	answers []synod.Answer
	own     answer.Held // the member's first answer
	from    int         // the number of the first round in slots of messages
}

// Contest plays Algorithm 1 between some answers, for a protocol that has collected the first answers: a member that
// holds none of them takes the one that its own model scores highest (of several, the first in the list), notes it as
// round 1, and then T rounds follow in which every other answer counts as silence, noted as rounds 2 to T+1. from is
// the number of the first round in slots, which must be greater than those used before. It may wait, so it is for a
// script.Play.
func (p *SAC) Contest(me *script.Agent, own *answer.Member, r answer.Held, answers []synod.Answer,
	from int) answer.Held {
	m := &member{SAC: p, Member: own, first: r.Answer, contest: &contest{answers, r, from},
		buffers: script.Scratch[buffers](me)}
	return m.algorithm()
}

// MaxContest returns the largest number of calls of a Contest between n members: those of T rounds, and the scores of
// members that hold none of the answers. k answers have at least k holders, so these are at most (n-k)k.
func (p *SAC) MaxContest(n int) int { return p.Rounds*(n*(n-1)+2*n) + n*n/4 }

// choose returns what the member holds, or the answer that its own model scores highest, if it holds none of them.
func (m *member) choose() answer.Held {
	c := m.contest
	if slices.Contains(c.answers, c.own.Answer) {
		return c.own.Take(c.own.Answer, nil)
	}
	for _, a := range c.answers {
		m.judge(a, "")
	}
	m.Me.Wait()
	best, most := c.answers[0], synod.Untrusted
	for i, a := range c.answers {
		if s := m.score(m.Me.Reply(i)); s > most {
			best, most = a, s
		}
	}
	return c.own.Take(best, nil)
}

// only keeps the neighbours that hold one of the answers; the others count as silent.
func (c *contest) only(heard []answer.Heard, silent []synod.NodeID) ([]answer.Heard, []synod.NodeID) {
	kept := heard[:0]
	for _, h := range heard {
		if slices.Contains(c.answers, h.Value.Answer) {
			kept = append(kept, h)
		} else {
			silent = append(silent, h.From)
		}
	}
	slices.Sort(silent)
	return kept, silent
}

// keep returns what a member holds after a refinement: another answer than those of the contest is not taken.
func (c *contest) keep(before, after answer.Held) answer.Held {
	if c == nil || slices.Contains(c.answers, after.Answer) {
		return after
	}
	before.Source, before.From = synod.Kept, nil
	return before
}

// before is the number of the opinion of r_i^(0).
func (c *contest) before() int {
	if c == nil {
		return 0
	}
	return 1
}
