package leader

import (
	"bytes"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/grade"
)

// again plays one honest member again by the reference, from its diary, and compares all that it sent and noted.
type again struct {
	t     *check.Trace
	claim string
	id    int
	l     *reference.Leaders

	suspects []synod.NodeID // leaders that proposed twice, since the last note
	silent   bool           // the last leader proposed nothing that reached the member
	noted    int            // notes that were compared
	last     synod.Answer   // that the member itself proposed last
}

// playAgain plays all rounds of a member.
func (a *again) playAgain() {
	a.noted = 1
	for v := 1; ; v++ {
		e := endsOf(check.Pace, v, a.l.Locks)
		over := a.l.Done != nil
		if !a.meet(v, e.met) {
			return
		}
		if over || v > a.l.Rounds {
			a.decided(v - 1)
			return
		}
		if !a.propose(v, e) || !a.vote(v, e.voted) || a.l.Locks && !a.commit(v, e.committed) {
			return
		}
		if a.l.Two {
			a.suspects = append(a.suspects, a.l.Leader(v))
		}
		if a.l.Done == nil && v < a.l.Rounds {
			a.note(v, a.l.Own)
		}
	}
}

// endsOf are the fixed ends of the parts of a round, by the pace of the council.
func endsOf(pace synod.Pace, round int, locks bool) (e ends) {
	think := 2 * pace.Think
	length := 2*think + 3*pace.Within
	if locks {
		length += pace.Within
	}
	e.met = think + synod.Tick(round-1)*length + pace.Within
	e.proposed = e.met + think + pace.Within
	e.voted = e.proposed + think + pace.Within
	e.committed = e.voted + pace.Within
	return e
}

// heard returns the first message of each neighbour in a slot by a tick, and how many calls were answered by then.
func (a *again) heard(name string, round int, end synod.Tick) (all []*synod.Message, m check.Mark, ok bool) {
	if m, ok = a.t.At(a.id, end); !ok {
		a.t.Fail(a.claim, "%s of round %d does not end at tick %d for n%d", name, round, end, a.id)
		return nil, m, false
	}
	return a.t.First(a.id, synod.Slot{Name: name, Round: round}, m.Heard), m, true
}

func (a *again) sent(name string, round int) *check.Sent {
	s := a.t.SentIn(a.id, synod.Slot{Name: name, Round: round})
	if s != nil {
		a.t.Claim(a.claim, slices.Equal(s.To, a.t.Peers[a.id]), "n%d sends %s of round %d to %v only", a.id, name,
			round,
			s.To)
	}
	return s
}

func certificateOf(c *Certificate) *reference.Certificate {
	if c == nil {
		return nil
	}
	b := &reference.Certificate{Phase: c.Phase, Round: c.Round, Answer: c.Answer}
	for _, v := range c.Votes {
		b.By, b.Signatures = append(b.By, v.By), append(b.Signatures, []byte(v.Signature))
	}
	return b
}

func (a *again) canonical(text string) synod.Answer {
	c, _ := read.Canonical(a.t.Question, text)
	return c
}

func (a *again) meet(v int, end synod.Tick) bool {
	var mine meeting
	if s := a.sent("meet", v); s == nil || mine.UnmarshalBinary(s.Body) != nil {
		a.t.Fail(a.claim, "n%d opens round %d without a message", a.id, v)
		return false
	}
	a.t.Claim(a.claim, a.canonical(string(mine.own.Answer)) == a.l.Own && certificateOf(mine.lock).Same(a.l.Lock) &&
		certificateOf(mine.done).Same(a.l.Done), "n%d opens round %d with %+v; the reference has the answer %q, the "+
		"lock %v and the decision %v", a.id, v, mine, a.l.Own, a.l.Lock, a.l.Done)
	all, _, ok := a.heard("meet", v, end)
	if !ok {
		return false
	}
	var told []reference.Told
	for _, m := range all {
		var h meeting
		if h.UnmarshalBinary(m.Body) == nil {
			told = append(told, reference.Told{From: m.From, Answer: a.canonical(string(h.own.Answer)),
				Lock: certificateOf(h.lock), Done: certificateOf(h.done)})
		}
	}
	a.l.Meet(v, told)
	return true
}

func (a *again) offer(o offer) *reference.Offer {
	if len(o.value) == 0 {
		return nil
	}
	out := &reference.Offer{Value: o.value, Signature: o.signature}
	var p proposal
	if p.decode(o.value) == nil {
		out.Answer, out.Readable = read.Canonical(a.t.Question, p.surface)
		out.Lock = certificateOf(p.lock)
	}
	return out
}

// propose sees the proposal that the leader sent.
func (a *again) propose(v int, e ends) bool {
	leader := a.l.Leader(v)
	if leader == synod.NodeID(a.id) {
		a.own(v)
	}
	all, _, ok := a.heard("propose", v, e.proposed)
	for _, m := range all {
		var o offer
		if m.From == leader && o.UnmarshalBinary(m.Body) == nil {
			a.l.See(v, a.offer(o))
		}
	}
	return ok
}

// own compares what the member proposes as a leader.
func (a *again) own(v int) {
	s := a.sent("propose", v)
	want, lock := synod.None, (*reference.Certificate)(nil)
	until := check.Mark{}
	if s != nil {
		until = s.Mark
	} else if m, ok := a.t.At(a.id, endsOf(check.Pace, v, a.l.Locks).proposed); ok {
		until = m
	}
	switch {
	case a.l.Locks && a.l.Lock != nil:
		want, lock = a.l.Lock.Answer, a.l.Lock
	case a.last != synod.None && (v-1)%a.l.Turns > 0:
		want = a.revised(v, until.Asked)
	default:
		want = a.l.Proposes(a.grades(until.Asked))
	}
	var o offer
	if s == nil || o.UnmarshalBinary(s.Body) != nil {
		a.t.Claim(a.claim, want == synod.None, "n%d proposes nothing in round %d; the reference %q", a.id, v, want)
		return
	}
	p := a.offer(o)
	a.l.See(v, p)
	ok := p != nil && p.Readable && p.Answer == want && p.Lock.Same(lock)
	a.t.Claim(a.claim, ok && a.l.Seen == p, "n%d proposes %+v in round %d; the reference %q with the lock %v", a.id,
		p, v,
		want, lock)
	a.last = want
}

// revised returns what a leader proposes again: what its model says in view of the answers of those who refused.
func (a *again) revised(v, asked int) synod.Answer {
	var shown []synod.Answer
	for _, id := range a.t.Drawn(a.id, a.l.Refused) {
		if x := a.l.Answers[id]; x != synod.None && x != a.last {
			shown = append(shown, x)
		}
	}
	from, _ := a.t.At(a.id, endsOf(check.Pace, v, a.l.Locks).met)
	var call *check.Asked
	for k := from.Asked; k < asked; k++ {
		if c := &a.t.Diaries[a.id].Asked[k]; c.Prompt.Purpose == synod.Refining {
			call = c
		}
	}
	if call == nil {
		a.t.Claim(a.claim, len(shown) == 0, "n%d does not answer again in round %d, and %v refused", a.id, v,
			a.l.Refused)
		return a.last
	}
	var peers []synod.Answer
	for _, p := range call.Prompt.Peers {
		peers = append(peers, p.Answer)
	}
	a.t.Claim(a.claim, call.Prompt.Own == a.last && slices.Equal(peers, shown), "n%d is shown %q and %q in round %d; "+
		"the reference shows %q and %q", a.id, call.Prompt.Own, peers, v, a.last, shown)
	if x, _, ok := read.Answer(a.t.Question, &call.Reply, false); ok {
		return x
	}
	return a.last
}

// grades returns the sums of the grades that the member's model has given, of so many first calls.
func (a *again) grades(asked int) map[synod.Answer]float64 {
	all := map[synod.Answer]float64{}
	for _, c := range a.t.Diaries[a.id].Asked[:asked] {
		if _, known := all[c.Prompt.Candidate]; c.Prompt.Purpose != grade.One || known {
			continue
		}
		if g, ok := reference.ReadGrades(&c.Reply); ok {
			all[c.Prompt.Candidate] = g[0] + g[1] + g[2] + g[3] + g[4]
		}
	}
	return all
}

// tried counts the calls that graded an answer, of so many first ones.
func (a *again) tried(answer synod.Answer, asked int) (n int) {
	for _, c := range a.t.Diaries[a.id].Asked[:asked] {
		if c.Prompt.Purpose == grade.One && c.Prompt.Candidate == answer {
			n++
		}
	}
	return n
}

// votes says whether the member votes for the proposal that it saw.
func (a *again) votes(v, asked int) bool {
	compares, votes := a.l.Compares(v)
	if !compares {
		return votes
	}
	grades := a.compares(v, a.l.Seen.Answer, asked)
	own, known := grades[a.l.Own]
	its, read := grades[a.l.Seen.Answer]
	return known && read && a.l.Better(its, own)
}

// compares returns the grades that the member's model gave in so many calls, after it checked that these were for its
// own answer and another one, or failed twice.
func (a *again) compares(v int, other synod.Answer, asked int) map[synod.Answer]float64 {
	grades := a.grades(asked)
	for _, x := range []synod.Answer{a.l.Own, other} {
		_, graded := grades[x]
		a.t.Claim(a.claim, graded || a.tried(x, asked) >= 2, "n%d compares its answer with %q in round %d and has not "+
			"tried to grade %q twice", a.id, other, v, x)
	}
	return grades
}

func (a *again) vote(v int, end synod.Tick) bool {
	s := a.sent("vote", v)
	var mine ballot
	if s == nil || mine.UnmarshalBinary(s.Body) != nil {
		a.t.Fail(a.claim, "n%d says nothing of the proposal of round %d", a.id, v)
		return false
	}
	phase, votes := reference.Commit, a.votes(v, s.Asked)
	if a.l.Locks {
		phase = reference.Prepare
	}
	seen := reference.Offer{}
	if a.l.Seen != nil {
		seen = *a.l.Seen
	}
	ok := bytes.Equal(mine.value, seen.Value) && bytes.Equal(mine.signature, seen.Signature) &&
		(len(mine.vote) > 0) == votes
	a.t.Claim(a.claim, ok, "n%d votes in round %d: %v; by the reference: %v; its lock is %v, and the proposal %+v",
		a.id, v,
		len(mine.vote) > 0, votes, a.l.Lock, seen)
	own := a.signed(phase, v, seen.Answer, mine.vote)
	all, _, ok := a.heard("vote", v, end)
	var casts []reference.Cast
	for _, m := range all {
		var b ballot
		if b.UnmarshalBinary(m.Body) == nil {
			a.l.See(v, a.offer(b.offer))
			casts = append(casts, reference.Cast{From: m.From, Offer: a.offer(b.offer), Vote: b.vote})
		}
	}
	a.silent = a.l.Seen == nil
	a.l.Count(phase, v, casts, own)
	return ok
}

// signed is the member's own vote, which must be signed; nil: there is none.
func (a *again) signed(phase, v int, answer synod.Answer, vote []byte) *reference.Cast {
	if len(vote) == 0 {
		return nil
	}
	id := synod.NodeID(a.id)
	a.t.Claim(a.claim, a.t.Verifier.Verify(id, a.l.VoteStatement(a.l.Protocol, phase, v, answer), vote),
		"n%d has not signed its vote of phase %d in round %d for %q", id, phase, v, answer)
	return &reference.Cast{From: id, Offer: &reference.Offer{Answer: answer}, Vote: vote}
}

func (a *again) commit(v int, end synod.Tick) bool {
	s, locked := a.sent("commit", v), a.l.Lock != nil && a.l.Lock.Round == v
	var mine pledge
	var own *reference.Cast
	if s != nil && mine.UnmarshalBinary(s.Body) == nil {
		own = a.signed(reference.Commit, v, mine.answer, mine.vote)
	}
	a.t.Claim(a.claim, (own != nil) == locked && (own == nil || mine.answer == a.l.Lock.Answer),
		"n%d commits to %q in round %d; the reference has the lock %v", a.id, mine.answer, v, a.l.Lock)
	all, _, ok := a.heard("commit", v, end)
	var casts []reference.Cast
	for _, m := range all {
		var p pledge
		if p.UnmarshalBinary(m.Body) == nil {
			casts = append(casts, reference.Cast{From: m.From, Vote: p.vote,
				Offer: &reference.Offer{Readable: true, Answer: p.answer}})
		}
	}
	a.l.Count(reference.Commit, v, casts, own)
	return ok
}

// note compares what the member notes after a round.
func (a *again) note(v int, answer synod.Answer) *synod.Opinion {
	notes := a.t.Notes[a.id]
	if a.noted >= len(notes) || notes[a.noted].Round != v {
		a.t.Fail(a.claim, "n%d has no note of round %d", a.id, v)
		return nil
	}
	o := notes[a.noted].Opinion
	var silent []synod.NodeID
	if a.silent {
		silent = []synod.NodeID{a.l.Leader(v)}
	}
	a.t.Claim(a.claim, o.Answer == answer && slices.Equal(o.Suspects, a.suspects) && slices.Equal(o.Silent, silent),
		"n%d notes %s after round %d; the reference holds %q, suspects %v and calls %v silent", a.id, o, v, answer,
		a.suspects, silent)
	a.compareScores(o)
	a.noted++
	a.suspects = nil
	return o
}

// compareScores compares the scores of a note with the grades that the model gave to what members told.
func (a *again) compareScores(o *synod.Opinion) {
	grades, k := a.grades(a.t.Diaries[a.id].Noted[a.noted].Asked), 0
	for id, x := range a.l.Answers {
		sum, graded := grades[x]
		if !graded || x == synod.None {
			continue
		}
		ok := k < len(o.Scores) && o.Scores[k].Of == synod.NodeID(id) &&
			o.Scores[k].Score == synod.Score(sum/100)
		a.t.Claim(a.claim, ok, "n%d has the scores %v, and graded %q of n%d with %v", a.id, o.Scores, x, id, sum)
		k++
	}
	a.t.Claim(a.claim, k == len(o.Scores), "n%d has the scores %v of %d graded answers", a.id, o.Scores, k)
}

// decided compares the last note, which is that of a round.
func (a *again) decided(v int) {
	answer, done := synod.None, a.l.Done
	if done != nil {
		answer = done.Answer
	}
	o := a.note(v, answer)
	if o == nil {
		return
	}
	r := RecordOf(o)
	c := r.Certificate
	ok := (c == nil) == (done == nil) && (c == nil || c.Round == done.Round && c.Leader == a.l.Leader(c.Round) &&
		slices.Equal(c.Signers, done.By) && slices.EqualFunc(c.Signatures, done.Signatures, bytes.Equal))
	a.t.Claim(a.claim, ok, "n%d has the certificate %+v; the reference %+v", a.id, c, done)
	if done == nil {
		return
	}
	from := a.givers(answer, done.Round)
	a.t.Claim(a.claim, slices.Equal(o.From, from), "n%d notes that %v gave %q; by what it heard %v did", a.id, o.From,
		answer, from)
	asked := a.t.Diaries[a.id].Noted[a.noted-1].Asked
	grades := a.grades(asked)
	if a.l.Own != synod.None && a.l.Own != answer {
		a.compares(v, answer, asked)
	}
	its, known := grades[answer]
	var better []synod.NodeID
	for id, x := range a.l.Answers {
		if sum, graded := grades[x]; known && graded && sum > its {
			better = append(better, synod.NodeID(id))
		}
	}
	a.t.Claim(a.claim, slices.Equal(r.Better, better), "n%d records that the answers of %v are better than %q; by its "+
		"grades those of %v are: %v", a.id, r.Better, answer, better, grades)
}

// givers returns from whom the member has a decided answer that is not its own: those who gave it, or the leader that
// proposed it.
func (a *again) givers(answer synod.Answer, round int) (ids []synod.NodeID) {
	if answer == a.l.Own {
		return nil
	}
	for id, x := range a.l.Answers {
		if x == answer && id != a.id {
			ids = append(ids, synod.NodeID(id))
		}
	}
	if leader := a.l.Leader(round); ids == nil && leader != synod.NodeID(a.id) {
		ids = []synod.NodeID{leader}
	}
	return ids
}

// AppendBinary implements encoding.BinaryAppender, for insiders of campaigns.
func (p *proposal) AppendBinary(b []byte) ([]byte, error) { return append(b, p.encode()...), nil }

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (p *proposal) UnmarshalBinary(b []byte) error { return p.decode(b) }
