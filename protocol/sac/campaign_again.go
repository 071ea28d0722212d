package sac

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// again is one round of one member, from its diary.
type again struct {
	t     *check.Trace
	claim string
	p     *SAC
	i, k  int            // the member, and the number of its note
	slot  int            // the round of its neighbours' responses
	only  []synod.Answer // in a contest: the answers that count
	note  check.Noted
	own   synod.Answer // with which it went into the round
	from  []synod.NodeID
	heard []synod.Response // with answers in canonical form
}

// checkRounds compares each round of each member with Algorithm 1: whom it heard, how it scored them, what it was shown
// and what it then held.
func checkRounds(t *check.Trace) {
	p := t.Protocol.(*SAC)
	for i, notes := range t.Notes {
		if !t.Plain(synod.NodeID(i)) {
			continue
		}
		for k := 1; k < len(notes); k++ {
			a := &again{t: t, claim: "I-SAC-D", p: p, i: i, k: k, slot: k - 1, note: notes[k], own: t.Told(i, k)}
			a.play()
		}
	}
}

func (a *again) play() {
	a.listen()
	a.compare()
}

// ContestAgain compares what a member did in a contest between some answers (Contest) with Algorithm 1. from is the
// number of the first round in slots.
func (p *SAC) ContestAgain(t *check.Trace, claim string, seat int, answers []synod.Answer, from int) {
	notes := t.Notes[seat]
	for k := range notes {
		a := &again{t: t, claim: claim, p: p, i: seat, k: k, slot: from + notes[k].Round - 2, only: answers,
			note: notes[k]}
		switch {
		case notes[k].Round == 1:
			a.chooses()
		case notes[k].Round > 1:
			a.own = t.Told(seat, k)
			a.play()
			a.filters()
		}
	}
}

// chooses compares with which answer a member goes into a contest: its own, if it is contested; or the one to which its
// model gives the highest score, of equal ones the first.
func (a *again) chooses() {
	want, top := a.first(), synod.Untrusted
	if !slices.Contains(a.only, want) {
		want = a.only[0]
		for _, x := range a.only {
			if s, ok := a.scored(x); ok && s > top {
				want, top = x, s
			}
		}
	}
	a.t.Claim(a.claim, a.note.Answer == want,
		"n%d goes into the contest of %q with %q, and by the reference with %q", a.i,
		a.only, a.note.Answer, want)
}

// scored returns the score that the member's model gave to an answer for this note.
func (a *again) scored(x synod.Answer) (synod.Score, bool) {
	for _, purpose := range []synod.Purpose{synod.Scoring, synod.Weighing} {
		for _, c := range a.t.AskedFor(a.i, a.k, purpose) {
			if c.Prompt.Candidate == x {
				return scoreOf(&c), true
			}
		}
	}
	return synod.Untrusted, false
}

// first is the answer that the member gave before it heard others.
func (a *again) first() synod.Answer {
	if n := a.t.Notes[a.i][0]; n.Round == 0 {
		return n.Answer
	}
	return synod.None
}

// filters compares whom the member drops.
func (a *again) filters() {
	self := synod.Untrusted
	for _, s := range a.note.Scores {
		if s.Of == synod.NodeID(a.i) {
			self = s.Score
		}
	}
	filteredAsReference(a.t, a.claim, synod.NodeID(a.i), a.note.Opinion, reference.SACRound{F: a.t.Case.F,
		Strict: a.p.StrictTrim, Silent: len(a.note.Silent), Self: self})
}

// listen collects the responses that the member heard before it scored any, or noted its answer.
func (a *again) listen() {
	until := a.t.Diaries[a.i].Noted[a.k].Heard
	for _, purpose := range []synod.Purpose{synod.Scoring, synod.Weighing, synod.Refining} {
		if calls := a.t.AskedFor(a.i, a.k, purpose); len(calls) > 0 {
			until = calls[0].Heard
			break
		}
	}
	from, all := a.t.Answers(a.i, a.slot, until)
	for n, r := range all {
		if a.only == nil || slices.Contains(a.only, r.Answer) {
			a.from, a.heard = append(a.from, from[n]), append(a.heard, r)
		}
	}
}

func (a *again) compare() {
	o := a.note
	if a.own != synod.None {
		var of []synod.NodeID
		for _, s := range o.Scores {
			if s.Of != synod.NodeID(a.i) {
				of = append(of, s.Of)
			}
		}
		a.t.Claim(a.claim, slices.Equal(of, a.from), "n%d scores %v in round %d, and heard %v", a.i, of, o.Round,
			a.from)
		for _, s := range o.Scores {
			a.score(s)
		}
	}
	var silent []synod.NodeID
	for _, id := range a.t.Peers[a.i] {
		if !slices.Contains(a.from, id) {
			silent = append(silent, id)
		}
	}
	a.t.Claim(a.claim, slices.Equal(o.Silent, silent), "n%d calls %v silent in round %d, and heard %v", a.i, o.Silent,
		o.Round, a.from)
	a.credits()
	switch calls := a.t.AskedFor(a.i, a.k, synod.Refining); {
	case a.t.Question.Form == synod.Prose:
		a.selects(len(calls))
	case len(calls) > 0:
		a.refines(&calls[len(calls)-1])
	}
	a.prompts()
}

// credits checks who is noted to have shown a new answer: of the neighbours that were retained, since a member is shown
// these alone, or of all, where it chooses among texts.
func (a *again) credits() {
	var from []synod.NodeID
	var shown []synod.Response
	for n, id := range a.from {
		if a.t.Question.Form == synod.Prose || slices.Contains(a.note.Retained, id) {
			from, shown = append(from, id), append(shown, a.heard[n])
		}
	}
	a.t.Credited(a.claim, a.i, a.k, a.own, from, shown)
}

// score checks that a score is one that the member's model gave to the answer of a member; a call that failed or cannot
// be read gives the lowest one.
func (a *again) score(s synod.Judged) {
	given := a.own
	if n := slices.Index(a.from, s.Of); n >= 0 {
		given = a.heard[n].Answer
	}
	ok := false
	for _, c := range a.t.Diaries[a.i].Asked[:a.t.Diaries[a.i].Noted[a.k].Asked] {
		if c.Prompt.Candidate == given && (c.Prompt.Purpose == synod.Scoring || c.Prompt.Purpose == synod.Weighing) {
			ok = ok || scoreOf(&c) == s.Score
		}
	}
	a.t.Claim(check.FailedCalls, ok, "n%d has the score %v of n%d in round %d, which its model has not given to %q",
		a.i,
		s.Score, s.Of, a.note.Round, given)
}

func scoreOf(c *check.Asked) synod.Score {
	r := &c.Reply
	switch {
	case r.Status != synod.OK:
	case c.Prompt.Purpose == synod.Weighing:
		if r.Typed && r.Value <= 0 {
			return synod.Score(math.Exp(r.Value)) // of the mean log-probability
		}
	default:
		if s, ok := read.Score(r, false); ok {
			return s
		}
	}
	return synod.Untrusted
}

// prompts checks that the member's model judges answers with the reasoning that came with them, and nothing else that
// senders say of them.
func (a *again) prompts() {
	for _, purpose := range []synod.Purpose{synod.Scoring, synod.Weighing} {
		for _, c := range a.t.AskedFor(a.i, a.k, purpose) {
			q, seat := &c.Prompt, synod.Seat{Question: a.t.Question, Guards: a.t.Guards}
			ok := q.Candidate == a.own
			for _, r := range a.heard {
				ok = ok || q.Candidate == r.Answer && (q.Rationale == "" || q.Rationale == answer.Shown(&seat,
					r.Rationale, a.p.Rationale))
			}
			first := synod.None
			if a.t.Guards.AnswerFirst && purpose == synod.Scoring {
				first = a.first()
			}
			a.t.Claim(a.claim, ok && q.Own == first, "n%d judges %q with the reasoning %q in round %d, and its "+
				"own answer is shown as %q; it heard %+v", a.i, q.Candidate, q.Rationale, a.k, q.Own, a.heard)
		}
	}
}

// shown are the retained answers with their scores, the best first, of equal ones in the drawn order.
func (a *again) shown() (all []synod.Rated) {
	for _, id := range a.t.Drawn(a.i, a.note.Retained) {
		n := slices.Index(a.from, id)
		at := slices.IndexFunc(a.note.Scores, func(s synod.Judged) bool { return s.Of == id })
		if n >= 0 && at >= 0 {
			all = append(all, synod.Rated{Answer: a.heard[n].Answer, Score: a.note.Scores[at].Score})
		}
	}
	slices.SortStableFunc(all, func(x, y synod.Rated) int { return cmp.Compare(y.Score, x.Score) })
	return all
}

// refines checks Eq. 5: a member is shown its own answer and the retained ones with their scores, the best first, and
// holds what its model then says.
func (a *again) refines(c *check.Asked) {
	want := a.shown()
	same := slices.EqualFunc(want, c.Prompt.Peers, func(x, y synod.Rated) bool {
		return x.Answer == y.Answer && x.Score == y.Score && (y.Name != "") == a.t.Guards.Named
	})
	a.t.Claim(a.claim, same && c.Prompt.Own == a.own, "n%d is shown %v and %q as its own in round %d; the "+
		"retained ones are %v, and it holds %q", a.i, c.Prompt.Peers, c.Prompt.Own, a.note.Round, want, a.own)
	holds := c.Prompt.Own
	if x, _, ok := read.Answer(a.t.Question, &c.Reply, false); ok && (a.only == nil || slices.Contains(a.only, x)) {
		holds = x
	}
	a.t.Claim(a.claim, a.note.Answer == holds, "n%d holds %q after round %d, and its model says %q", a.i, a.note.Answer,
		a.note.Round, holds)
}

// selects checks how a member chooses among texts: it takes the retained one with the highest score, of equal ones that
// of the first sender, if that is above the score of its own.
func (a *again) selects(calls int) {
	if a.own == synod.None {
		return
	}
	best, top := a.own, synod.Untrusted
	for _, s := range a.note.Scores {
		if s.Of == synod.NodeID(a.i) {
			top = s.Score
		}
	}
	for n, id := range a.from {
		at := slices.IndexFunc(a.note.Scores, func(s synod.Judged) bool { return s.Of == id })
		if at >= 0 && slices.Contains(a.note.Retained, id) && a.note.Scores[at].Score > top {
			best, top = a.heard[n].Answer, a.note.Scores[at].Score
		}
	}
	a.t.Claim(a.claim, calls == 0 && a.note.Answer == best, "n%d holds %q after round %d and called its model %d "+
		"times; the best text is %q: %v", a.i, a.note.Answer, a.note.Round, calls, best, a.note.Scores)
}
