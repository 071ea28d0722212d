package outcome

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

// Unfinished reports whether the run in a journal is not complete, so that it can be resumed. It
// may still have a decision.
func Unfinished(run *journal.Run) bool { return run.End == nil || Incomplete(run.End.Stopped) }

func Incomplete(stopped string) bool {
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
	_, signed := p.Protocol().(protocol.Accepting)
	_, ends := p.Protocol().(protocol.Ending)
	switch {
	case p.JoinsTexts() && slices.ContainsFunc(j.last, func(o *synod.Opinion) bool { return o == nil || o.Round < 1 }):
		return false // what members have not said yet may join answers
	case signed:
		return p.Full().Rule.Name == plan.ByProtocol
	case p.Full().Rule.Name == plan.ByProtocol && j.merged == nil:
		return !ends && j.finished() >= p.Protocol().MaxRounds() && len(j.missing()) == 0
	case ends:
		return false
	}
	if j.merged != nil { // an answer that is missing does no more than one that changes
		return len(j.missing()) <= j.merged.Withstands.Changed
	}
	return certain(p.Full().Rule, v, len(j.missing()))
}

// certain reports whether a verdict stays the same whatever the given number of seats without an
// answer would answer. A majority of all seats stays one. A plurality must lead by more than
// their number.
func certain(r plan.Rule, v *verdict, missing int) bool {
	if v.status != Agreed || r.Name != plan.Plurality {
		return v.status == Agreed
	}
	second := 0
	if len(v.votes) > 1 {
		second = len(v.votes[1].Seats)
	}
	return len(v.votes[0].Seats) > second+missing
}

// Certain reports whether the rule decides on these answers, and does so whatever the given number of seats without an
// answer would say. first has the answers of all seats before they heard others, held those at the end.
func Certain(p *plan.Plan, first []synod.Answer, held func(seat int) synod.Answer, missing int) bool {
	v := decide(p.Full().Rule, ballotOf(p, first, held))
	return certain(p.Full().Rule, &v, missing)
}

// missing lists the seats that vote and have no answer on record.
func (j *judgment) missing() (ids []string) {
	for i, o := range j.last {
		if s := &j.plan.Seats()[i]; !s.NonVoting && AnswerOf(o) == synod.None {
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
	if silent > j.plan.Full().F {
		return -1
	}
	return last
}

// unplayed corrects the claim of a run whose last rounds were not played.
func (j *judgment) unplayed(b *plan.Bound) {
	p, played := j.plan, j.finished()
	if _, signed := p.Protocol().(protocol.Accepting); signed || b.Guarantee == plan.None {
		return // enough signed replies are what the claim is about
	}
	switch {
	case played < 1:
		b.Withdraw("the run ended before all members had finished a round of exchange")
	case !p.EachRound():
		b.Withdraw(fmt.Sprintf("the run ended after round %d of %d, and the claim is about all rounds", played,
			p.Protocol().MaxRounds()))
	case played < p.Protocol().MaxRounds():
		b.Note += fmt.Sprintf("; it holds for the %d of %d rounds that every member finished", played,
			p.Protocol().MaxRounds())
	}
}
