// Package outcome says what came out of a question: a Record is what the run of one seat leaves behind, and Judge makes
// the Outcome of the records of all seats.
//
//	p, err := plan.Of(run) // the plan of the run in a journal
//	o := outcome.Judge(p, outcome.InstanceOf(run), outcome.RecordsOf(p, run))
//
// Judge is a pure function of plan and records, so an outcome can be computed again from a journal, by everyone who
// has it. Only Judge counts votes. The package also makes what others check: statements for certificates, entries of
// ledgers, and evidence that a member equivocated.
package outcome

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
)

// Winner returns the answer on which the rule decides by the opinions in records; None if there is none.
func Winner(p *plan.Plan, records []Record) synod.Answer {
	j := new(judgment)
	j.take(p, plan.Instance{}, records)
	v := decide(p.Full().Rule, j.ballot())
	return v.answer
}

// Judge returns the outcome of the records of a run. It is a pure function, and the
// only one that counts votes and decides whether a run agreed, was undecided or
// degraded, stalled, or was stopped by a breaker. The record of a seat that is
// missing counts as silence. What depends on open models or on the clock is left
// empty: Cost, Money, Seconds, Journal, Digest and Members' Adapted.
//
// The decision that a machine reports is ignored: the decision is that of the
// rule, or of the protocol's own step, over the seats' last opinions (GR-3).
//
// The outcome keeps the opinions in the records for its Rounds, so they must not be
// changed afterwards.
func Judge(p *plan.Plan, in plan.Instance, records []Record) Outcome {
	j := new(judgment)
	j.take(p, in, records)
	o := j.outcome()
	o.Rounds = Rounds{transcript: transcriptOf(j)}
	return o
}

// Judging is the memory of Judge, for programs that judge thousands of runs. The zero value is ready.
type Judging struct {
	judgment judgment
	packing  []byte
}

// Judge is the function Judge, but its outcome keeps nothing of the records.
func (m *Judging) Judge(p *plan.Plan, in plan.Instance, records []Record) Outcome {
	j := &m.judgment
	j.take(p, in, records)
	o := j.outcome()
	o.Rounds.transcript, m.packing = packTranscript(j, m.packing)
	return o
}

// outcome is Judge without the rounds.
func (j *judgment) outcome() Outcome {
	p, in := j.plan, j.in
	o := Outcome{
		Version: Version, Question: in.Question.Text, Form: in.Question.Form,
		Council: p.Full().Council, Protocol: p.Entry().Name, Exact: p.Full().Exact, Rule: p.Full().Rule,
		Bound:    p.Bound(),
		Defences: p.DefencesOn(),
		Ticks:    j.ticks, Seed: in.Seed, Tokens: Tokens{j.use.Prompt, j.use.Completion},
		Calls:   Calls{Made: j.use.Calls, Reused: j.reused, Planned: p.Calls(), Needless: j.needless},
		Rereads: j.rereads, nodes: p.Committee() != nil,
	}
	var faulty []string
	o.Late, faulty = j.late()
	o.Bound.Late(faulty, plan.ClaimsEachRound(p))
	o.Stopped, o.Trip = j.stopped()
	v := j.decide(&o)
	if x, ok := p.Protocol().(protocol.Forfeiting); ok && o.Bound.Guarantee != plan.None && v.answer != synod.None {
		if why := x.Forfeits(j.lastOpinions(), p.Full().F); why != "" {
			o.Bound.Withdraw(why)
		}
	}
	if cutOff[o.Stopped] != "" || o.Stopped == Early && j.finished() < 1 {
		j.unplayed(&o.Bound)
	}
	o.Answer = j.answers.of(o.Decision)
	o.Withstands, o.Fragile = j.withstands(o.Decision)
	o.Voices, o.Checks = j.supporters(o.Decision), checksOf(j, o.Decision)
	o.Asked = j.asked()
	if s := j.staged(); s != nil {
		o.Probability = s.Probability
	}
	j.showValue(&o)
	spellAll(j, &o)
	o.Withstands = withstoodVoices(p, o.Withstands)
	o.Members, o.Presented = j.members(), presented(j, v.answer)
	o.Claims, o.Joined = claimsOf(j, v.answer), joinedTexts(j)
	o.Words = wordsAround(j, saidMost(j, &o))
	o.Evidence = accusationsOf(j)
	o.Models = j.models(o.Members, o.Decision)
	return o
}

// decide counts the votes and writes the decision, its status and its reason into the outcome.
func (j *judgment) decide(o *Outcome) verdict {
	p := j.plan
	j.join()
	v := decide(p.Full().Rule, j.ballot())
	j.merge(&v)
	refuse(j, &v)
	if c, ok := p.Protocol().(protocol.Closing); ok && v.status == Agreed {
		if why := c.Open(j.last, p.Full().F); why != "" {
			v.status, v.answer, v.reason = Undecided, synod.None, fmt.Sprintf("%s; %s", why, v.reason)
		}
	}
	o.Status, o.Reason, o.Votes = v.status, v.reason, v.votes
	if why := j.unreachable(); v.status == Undecided && why != "" {
		o.Status, o.Reason = Degraded, fmt.Sprintf("%s; %s", why, v.reason)
	}
	if why, cut := cutOff[o.Stopped]; cut {
		j.cutOff(o, &v, why)
	}
	o.Decision = v.answer
	return v
}

// take takes the records of a run. It uses the buffers of the last one again.
func (j *judgment) take(p *plan.Plan, in plan.Instance, records []Record) {
	n := len(p.Seats())
	*j = judgment{plan: p, in: &in, seats: room(j.seats, n), first: room(j.first, n), last: room(j.last, n)}
	for i := range records {
		if r := &records[i]; r.Seat >= 0 && int(r.Seat) < n {
			j.seats[r.Seat] = r
		}
	}
	for i, r := range j.seats {
		if r == nil {
			j.seats[i] = &Record{Seat: synod.NodeID(i)}
			continue
		}
		j.ticks, in.ID = max(j.ticks, r.Ticks), cmp.Or(in.ID, r.Instance)
		j.use.Calls = synod.Sum(j.use.Calls, r.Use.Calls)
		j.needless = synod.Sum(j.needless, r.Needless)
		j.rereads = synod.Sum(j.rereads, r.Rereads)
		j.use.Prompt = synod.Sum(j.use.Prompt, r.Use.Prompt)
		j.use.Completion = synod.Sum(j.use.Completion, r.Use.Completion)
		j.notes += len(r.Opinions)
		for _, o := range r.Opinions {
			if o.Round == 0 {
				j.first[i] = o.Answer
			}
			j.last[i] = o.Opinion
			j.reused += o.Reused
		}
	}
	j.dropUncommitted()
	dropUntyped(j)
	dropFailed(j)
}

// dropUntyped takes the answers from first and last opinions that cannot be read in the form of the question, with the
// defence typed. Honest members do not take over such a text, and a vote for it must not win either. An answer that
// fails a check can be read: dropFailed takes it out, because it is no silence.
func dropUntyped(j *judgment) {
	plain := j.in.Question
	plain.Checks = nil
	q := &plain
	if j.plan.Full().Defences["typed"] != defence.On || q.Form == "" || q.Form.Long() || q.Form == synod.Stance {
		return
	}
	readable := synod.None // the answer that was read last
	untyped := func(a synod.Answer) bool {
		if a == synod.None || a == readable {
			return false
		}
		if _, ok := read.Canonical(q, string(a)); !ok {
			j.uncounted = append(j.uncounted, a)
			return true
		}
		readable = a
		return false
	}
	for i, o := range j.last {
		if untyped(AnswerOf(o)) {
			j.last[i] = silenced(o)
		}
		if untyped(j.first[i]) {
			j.first[i] = synod.None
		}
	}
}

// stopped returns why the run ended, and the breaker that stopped it, if one did. A
// breaker that trips because of equivocation counts even in a run that ends in the
// same tick: what the members hold may be an adversary's choice. The others do not.
func (j *judgment) stopped() (why string, trip *Trip) {
	for _, r := range j.seats {
		if slices.Index(severity, r.Stopped) > slices.Index(severity, why) {
			why = r.Stopped
		}
	}
	b := &j.plan.Full().Breakers
	switch {
	case why == Tripped, why == "" && b.Any(), why == sim.Finished && b.Equivocation:
		trip = j.trip()
	}
	switch {
	case trip != nil && (why != sim.Finished || trip.Breaker == Equivocation):
		return Tripped, trip
	case why == "":
		return Interrupted, nil
	}
	return why, nil
}

// trip returns the first breaker that trips on the opinions, tick by tick.
func (j *judgment) trip() *Trip {
	all := make([]tickNote, 0, j.notes)
	for i, r := range j.seats {
		for _, o := range r.Opinions {
			all = append(all, tickNote{o.Tick, sim.Noted{Node: synod.NodeID(i), Opinion: o.Opinion}})
		}
	}
	slices.SortStableFunc(all, func(a, b tickNote) int { return cmp.Compare(a.tick, b.tick) })
	b, notes := NewBreaker(j.plan), []sim.Noted{}
	for i, n := range all {
		notes = append(notes, n.Noted)
		if i+1 < len(all) && all[i+1].tick == n.tick {
			continue
		}
		if trip := b.After(notes, func(seat int) bool { return j.seats[seat].Dead() }); trip != nil {
			return trip
		}
		notes = notes[:0]
	}
	return nil
}

type tickNote struct {
	tick synod.Tick
	sim.Noted
}

// ballot is the ballot of the seats that vote.
func (j *judgment) ballot() ballot {
	first := j.first
	if j.joined != nil {
		first = make([]synod.Answer, len(j.first))
		for i, a := range j.first {
			first[i] = j.stand(a)
		}
	}
	b := ballotOf(j.plan, first, func(i int) synod.Answer { return j.stand(AnswerOf(j.last[i])) })
	b.own, b.failed = j.ownStep(), failedVotes(j)
	return b
}

// ownStep is the protocol's own decision step over the seats that vote, or over the
// signed replies to the user.
func (j *judgment) ownStep() ownStep {
	p := j.plan
	if p.Full().Rule.Name != plan.ByProtocol {
		return ownStep{}
	}
	if _, ok := p.Protocol().(protocol.Staged); ok {
		d := j.staged()
		return ownStep{answer: d.Answer, signed: true, lacking: d.Lacking, why: d.Why}
	}
	last := j.lastOpinions()
	if a, ok := p.Protocol().(protocol.Accepting); ok {
		answer, enough, why := a.Accept(last, p.Roles(), p.Full().F, plan.Verifier(p, j.in))
		return ownStep{answer: answer, signed: true, lacking: !enough, why: why}
	}
	voting := last[:0]
	for i, o := range last {
		if !p.Seats()[i].NonVoting {
			voting = append(voting, o)
		}
	}
	return ownStep{answer: p.Protocol().(protocol.Concluding).Conclude(voting)}
}

// asked lists the seats that a protocol in stages has asked, in order; nil for others.
func (j *judgment) asked() (ids []string) {
	d := j.staged()
	if d == nil {
		return nil
	}
	for _, id := range d.Order {
		if o := j.seats[id].Opinions; len(o) > 0 && o[0].Round == 0 {
			ids = append(ids, j.plan.Name(id))
		}
	}
	return ids
}

// unreachable explains a failure that is caused by members that were never reached:
// all of those who answer, or more of those who vote than F (GR-2). It is "" if there
// is no such failure, and where the rule counts seats, which knows how many it needs.
func (j *judgment) unreachable() string {
	p := j.plan
	a, ok := p.Protocol().(protocol.Respondents)
	if !ok || p.Full().Rule.Name != plan.ByProtocol {
		return ""
	}
	var answering, silent, gone []string // gone: of those who vote
	for i, s := range p.Seats() {
		dead := j.seats[i].Dead()
		if a.Asks(synod.NodeID(i), p.Roles()) {
			answering = append(answering, s.ID)
			if dead {
				silent = append(silent, s.ID)
			}
		}
		if dead && !s.NonVoting {
			gone = append(gone, s.ID)
		}
	}
	switch {
	case len(answering) > 0 && len(silent) == len(answering):
		return "no member that answers could be reached: " + strings.Join(silent, ", ")
	case len(gone) > p.Full().F:
		return fmt.Sprintf("%s could not be reached, and f is %d", strings.Join(gone, ", "), p.Full().F)
	}
	return ""
}

// late lists the seats that patience cut off, and of them those that use up F: the most
// in one round, where the protocol's claim is about each round, else all of the run.
func (j *judgment) late() (late, faulty []string) {
	late = []string{}
	if !slices.ContainsFunc(j.seats, func(r *Record) bool { return len(r.Late) > 0 }) {
		return late, nil
	}
	byRound := map[int][]string{}
	for i, r := range j.seats {
		id := j.plan.Seats()[i].ID
		if len(r.Late) == 0 {
			continue
		}
		late = append(late, id)
		if !plan.ClaimsEachRound(j.plan) {
			if r.Faulty(-1) {
				faulty = append(faulty, id)
			}
			continue
		}
		rounds := map[int]bool{}
		for _, c := range r.Late {
			if !c.Refined {
				rounds[c.Round] = true
			}
		}
		for _, o := range r.Opinions {
			if r.Unanswered(o.Opinion) {
				rounds[o.Round] = true
			}
		}
		for round := range rounds {
			byRound[round] = append(byRound[round], id)
		}
	}
	for _, round := range slices.Sorted(maps.Keys(byRound)) {
		if len(byRound[round]) > len(faulty) {
			faulty = byRound[round]
		}
	}
	return late, faulty
}

// presented returns what the protocol shows of a run beyond the common fields; nil if that
// is nothing.
func presented(j *judgment, accepted synod.Answer) *protocol.Presentation {
	p := j.plan
	presenter, ok := p.Protocol().(protocol.Presenter)
	if !ok {
		return nil
	}
	return presenter.Present(j.lastOpinions(), protocol.View{Accepted: accepted, Cast: p.Roles(), F: p.Full().F,
		Check: plan.Verifier(p, j.in), Name: p.Name})
}

// claimsOf returns the claims of the decision; nil if it has none that were judged.
func claimsOf(j *judgment, decision synod.Answer) (all []Claim) {
	p, ok := j.plan.Protocol().(protocol.Claiming)
	if !ok || decision == synod.None {
		return nil
	}
	names := func(ids []synod.NodeID) []string {
		list := make([]string, len(ids))
		for i, id := range ids {
			list[i] = j.plan.Name(id)
		}
		return list
	}
	for i, c := range p.ListClaims(j.lastOpinions(), j.plan.Full().F) {
		all = append(all, Claim{ID: fmt.Sprintf("c%d", i+1), Text: c.Text, Verdict: c.Verdict, Unchecked: !c.Judged,
			Start: c.Start, End: c.End, Supporters: names(c.Supporters), Critics: names(c.Critics)})
	}
	return all
}
