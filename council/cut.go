package council

import (
	"fmt"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
)

// Unfinished reports whether the run in a journal is not complete, so that it can be resumed. It
// may still have a decision.
func Unfinished(run *journal.Run) bool { return run.End == nil || unfinished(run.End.Stopped) }

// Recall returns the outcome of the complete run in a journal, as it was printed then. No model is
// asked. Seconds is 0.
func (c *Council) Recall(run *journal.Run, path string) Outcome {
	records := RecordsOf(c.plan, run)
	o := Judge(c.plan, InstanceOf(run), records)
	c.complete(&o, records)
	o.Journal, o.Digest = path, run.Digest()
	return o
}

func unfinished(stopped string) bool {
	return slices.Contains([]string{Tripped, OverBudget, PastTime, Interrupted, Unwritten}, stopped)
}

// Answered reports whether the outcome is a decision: the council agreed, or a limit, the
// deadline or a breaker ended the run after the rule was met.
func (o *Outcome) Answered() bool { return o.Decision != synod.None }

// cutOff corrects the outcome of a run that is not complete. A decision that the rest of the run
// cannot change is kept. A lack of money or time never justifies a weaker rule (DE-2).
func (j *judgment) cutOff(o *Outcome, v *verdict, why string) {
	if o.Trip != nil {
		why = o.Trip.Detail
	}
	if v.status == Agreed && j.stands(o, v) {
		if missing := j.missing(); len(missing) > 0 {
			o.Status = Degraded
			v.reason += fmt.Sprintf("; %v had no answer yet", missing)
		}
		o.Reason = v.reason + "; " + why
		return
	}
	o.Status, v.answer = Undecided, synod.None
	if o.Trip != nil && o.Trip.Breaker == NoQuorum || o.Stopped == Preflight {
		o.Status = Degraded
	}
	o.Reason = fmt.Sprintf("%s; until then %s", why, v.reason)
}

// stands reports whether the opinions on record meet the rule of a run that was cut off
// whatever the members without an answer would have said.
//
// After an equivocation the opinions may be an adversary's choice. A protocol whose members
// sign replies to a user has a decision if enough signed replies came, and only then. A
// protocol's own last step decides after its last round only, and so does one whose runs
// end in one of several ways.
func (j *judgment) stands(o *Outcome, v *verdict) bool {
	p := j.plan
	if o.Stopped != PastTime && o.Stopped != OverBudget && o.Stopped != Tripped ||
		o.Trip != nil && o.Trip.Breaker == Equivocation {
		return false
	}
	_, signed := p.protocol.(protocol.Accepting)
	_, ends := p.protocol.(protocol.Ending)
	switch {
	case p.joinsTexts() && slices.ContainsFunc(j.last, func(o *synod.Opinion) bool { return o == nil || o.Round < 1 }):
		return false // what members have not said yet may join answers
	case signed:
		return p.spec.Rule.Name == ByProtocol
	case p.spec.Rule.Name == ByProtocol && j.merged == nil:
		return !ends && j.finished() >= p.protocol.MaxRounds() && len(j.missing()) == 0
	case ends:
		return false
	}
	if j.merged != nil { // an answer that is missing does no more than one that changes
		return len(j.missing()) <= j.merged.Withstands.Changed
	}
	return p.spec.Rule.certain(v, len(j.missing()))
}

// certain reports whether a verdict stays the same whatever the given number of seats without an
// answer would answer. A majority of all seats stays one. A plurality must lead by more than
// their number.
func (r Rule) certain(v *verdict, missing int) bool {
	if v.status != Agreed || r.Name != Plurality {
		return v.status == Agreed
	}
	second := 0
	if len(v.votes) > 1 {
		second = len(v.votes[1].Seats)
	}
	return len(v.votes[0].Seats) > second+missing
}

// needless returns the time at which the calls that have not returned are cut off, if they cannot
// change the decision: at the last call, and after at least a second, because the answer of a slightly
// slower member still shows whether it dissents. A bench waits for every call, because its figures must
// not depend on the time that calls take, and so does a run by the clock, which is measured.
func (b *batch) needless() (at time.Time, ok bool) {
	s := b.session
	if s.ask.Final || s.council.plan.spec.Runner.Clock() || !s.unanimous() && !b.certain() {
		return at, false
	}
	at, least := b.start, b.start.Add(2*grace)
	if last, ok := b.lastCall(); ok {
		at = last
	}
	if at.Before(least) {
		at = least
	}
	return at, true
}

// unanimous reports whether every seat holds the same answer after the last round, in a protocol in
// which a round without changes is repeated in the same way. Then a model that refines its answer
// has no other to choose from.
func (s *session) unanimous() bool {
	f := s.fixed
	if !f.possible || f.complete < 0 || !f.unanimous(nil) {
		return false
	}
	for _, o := range f.last {
		if answerOf(o) == synod.None {
			return false
		}
	}
	return s.decides(func(seat int) synod.Answer { return f.last[seat].Answer })
}

// certain reports whether the answers of a batch decide whatever the missing answers are. That is
// possible only in a protocol of one round, in which every seat is asked once.
func (b *batch) certain() bool {
	s, p := b.session, b.session.council.plan
	if s.ask.Question.Form == synod.JSON { // missing numbers may leave a field undecided
		return false
	}
	if p.protocol.MaxRounds() > 0 || p.calls != len(p.seats) || len(b.calls) != len(p.seats) || p.spec.Exact != "" ||
		p.spec.Rule.Name == ByProtocol || slices.ContainsFunc(p.seats, func(s Seat) bool { return s.Adversary != "" }) {
		return false
	}
	held := make([]synod.Answer, len(p.seats))
	for i, call := range b.calls {
		if call.Prompt.Purpose != synod.Answering || call.Prompt.ConfidenceMode != synod.NoConfidence {
			return false
		}
		if r := &b.replies[i]; !slices.Contains(b.waiting, i) && r.Status == synod.OK {
			if given, ok := read.ConfidentAnswer(&s.ask.Question, r, synod.NoConfidence, false); ok {
				held[call.Node] = given.Answer
			}
		}
	}
	return s.decides(func(seat int) synod.Answer { return held[seat] })
}

// decides reports whether the rule decides on these answers, and does so whatever the seats
// without an answer would say.
func (s *session) decides(held func(seat int) synod.Answer) bool {
	p := s.council.plan
	if p.spec.Rule.Name == ByProtocol {
		return false
	}
	first, missing := make([]synod.Answer, len(p.seats)), 0
	for i := range p.seats {
		if o := s.fixed.first[i]; o != nil {
			first[i] = o.Answer
		} else {
			first[i] = held(i)
		}
		if held(i) == synod.None && !p.seats[i].NonVoting {
			missing++
		}
	}
	v := p.spec.Rule.decide(p.ballot(first, held))
	return p.spec.Rule.certain(&v, missing)
}

// missing lists the seats that vote and have no answer on record.
func (j *judgment) missing() (ids []string) {
	for i, o := range j.last {
		if s := &j.plan.seats[i]; !s.NonVoting && answerOf(o) == synod.None {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// finished returns the last round that every seat has finished, apart from at most F seats
// that finished none; -1 if there is no such round.
func (j *judgment) finished() int {
	last, silent := -1, 0
	for _, o := range j.last {
		switch {
		case o == nil:
			silent++
		case last < 0 || o.Round < last:
			last = o.Round
		}
	}
	if silent > j.plan.spec.F {
		return -1
	}
	return last
}

// unplayed corrects the claim of a run whose last rounds were not played.
func (j *judgment) unplayed(b *Bound) {
	p, played := j.plan, j.finished()
	if _, signed := p.protocol.(protocol.Accepting); signed || b.Guarantee == None {
		return // enough signed replies are what the claim is about
	}
	switch {
	case played < 1:
		b.withdraw("the run ended before all members had finished a round of exchange")
	case !p.eachRound():
		b.withdraw(fmt.Sprintf("the run ended after round %d of %d, and the claim is about all rounds", played,
			p.protocol.MaxRounds()))
	case played < p.protocol.MaxRounds():
		b.Note += fmt.Sprintf("; it holds for the %d of %d rounds that every member finished", played,
			p.protocol.MaxRounds())
	}
}
