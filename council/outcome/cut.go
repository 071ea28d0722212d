package outcome

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

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
	case plan.JoinsTexts(p) && slices.ContainsFunc(j.last, func(o *synod.Opinion) bool {
		return o == nil ||
			o.Round < 1
	}):
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

// unplayed corrects the claim of a run whose last rounds were not played.
func (j *judgment) unplayed(b *plan.Bound) {
	p, played := j.plan, j.finished()
	if _, signed := p.Protocol().(protocol.Accepting); signed || b.Guarantee == plan.None {
		return // enough signed replies are what the claim is about
	}
	switch {
	case played < 1:
		b.Withdraw("the run ended before all members had finished a round of exchange")
	case !plan.ClaimsEachRound(p):
		b.Withdraw(fmt.Sprintf("the run ended after round %d of %d, and the claim is about all rounds", played,
			p.Protocol().MaxRounds()))
	case played < p.Protocol().MaxRounds():
		b.Note += fmt.Sprintf("; it holds for the %d of %d rounds that every member finished", played,
			p.Protocol().MaxRounds())
	}
}
