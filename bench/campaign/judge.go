package campaign

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/check"
)

// questions are asked, by the form of the subject. There are some of each form, because a draw may depend on the text.
var questions = func() map[synod.Form][]*synod.Question {
	all := map[synod.Form][]*synod.Question{}
	for k := range 16 {
		number := &synod.Question{Text: fmt.Sprintf("How many are there in box %d?", k), Form: synod.Number}
		all[""], all[synod.Number] = append(all[""], number), append(all[synod.Number], number)
		all[synod.Text] = append(all[synod.Text], &synod.Question{Form: synod.Text,
			Text: fmt.Sprintf("What is in box %d?", k)})
		all[synod.Prose] = append(all[synod.Prose], &synod.Question{Form: synod.Prose,
			Text: fmt.Sprintf("What do you think of idea %d?", k)})
	}
	return all
}()

// question is what is asked in an execution.
func (x *Execution) question(s *subject) *synod.Question {
	all := questions[cmp.Or(x.Form, s.Form)]
	return all[x.Seed>>40%uint64(len(all))]
}

// judge checks all claims of the execution.
func (t *trace) judge() {
	t.Applies(claimCrash)
	t.Claim(claimEnds, t.ended.Stopped == sim.Finished || t.ended.Stopped == "limit", "it ended as %q at tick %d",
		t.ended.Stopped, t.ended.Ticks)
	if len(t.Violations) > 0 {
		return
	}
	if t.subject.Exchanges {
		t.cost()
		t.sources()
	}
	t.counted()
	t.subject.check(t)
}

// counted checks how many calls without a use honest members have noted: no more than they have made or used again.
func (t *trace) counted() {
	for i, notes := range t.Notes {
		if !t.Plain(synod.NodeID(i)) {
			continue
		}
		all, most := 0, t.callsOf[i]
		for _, n := range notes {
			t.Claim(check.FailedCalls, n.Failed >= 0 && n.Unreadable >= 0 && n.Unsure >= 0, "n%d notes %d failed, %d "+
				"unreadable and %d unsure replies", i, n.Failed, n.Unreadable, n.Unsure)
			all, most = all+n.Failed+n.Unreadable, most+n.Reused
		}
		t.Claim(check.FailedCalls, all <= most, "n%d notes %d replies without a use, of %d", i, all, most)
	}
}

// cost checks rounds and calls of honest members whose process does not fail.
func (t *trace) cost() {
	p := t.Protocol.(protocol.Protocol)
	most, degrees := p.MaxRounds(), make([]int, t.x.Total())
	calls, all := 0, true
	for i := range degrees {
		degrees[i] = len(t.Peers[i])
		if !t.Plain(synod.NodeID(i)) {
			all = false
			continue
		}
		for k, n := range t.Notes[i] {
			t.Claim(claimCost, n.Round == k && k <= most, "n%d has round %d as note number %d of at most %d", i,
				n.Round,
				k, most+1)
		}
		t.Claim(claimCost, len(t.Notes[i]) == most+1 || len(t.Notes[i]) == 0, "n%d noted %d rounds, not %d", i,
			len(t.Notes[i]), most+1)
		calls += t.callsOf[i]
	}
	bound := p.Calls(degrees) + len(degrees)*most
	t.Claim(claimCost, calls <= bound, "%d calls; the bound is %d", calls, bound)
	if all && !t.stranger {
		t.Margin(claimCost, float64(bound-calls))
	}
}

// sources checks that the source of every answer is right.
func (t *trace) sources() {
	for i := range t.Notes {
		if !t.Plain(synod.NodeID(i)) {
			continue
		}
		held := synod.None
		for _, n := range t.Notes[i] {
			ok := false
			switch n.Source {
			case synod.Own:
				ok = held == synod.None && n.Answer != synod.None
			case synod.Absent:
				ok = n.Answer == synod.None
			case synod.Kept:
				ok = n.Answer == held || held == synod.None
			case synod.Adopted, synod.New:
				ok = n.Round > 0 && n.Answer != held && (len(n.From) > 0) == (n.Source == synod.Adopted)
			}
			t.Claim(claimSource, ok, "n%d held %q and notes %s", i, held, n.Opinion)
			t.State("answer "+string(n.Source), true)
			held = n.Answer
		}
	}
}

// digest is a hash of all opinions of honest members and of when they came.
func (t *trace) digest(ticks bool) uint64 {
	h := uint64(1)
	for i := range t.Notes {
		if !t.Plain(synod.NodeID(i)) {
			continue
		}
		for _, n := range t.Notes[i] {
			h = check.Mix(h ^ uint64(i)<<32 ^ uint64(n.Round))
			if ticks {
				h = check.Mix(h ^ uint64(n.At))
			}
			h = hashText(hashText(h, n.Answer), n.Source)
			for _, s := range n.Scores {
				h = check.Mix(h ^ uint64(s.Of)<<40 ^ math.Float64bits(float64(s.Score)))
			}
			for k, ids := range [][]synod.NodeID{n.Retained, n.Dropped, n.Silent, n.Suspects, n.From} {
				for _, id := range ids {
					h = check.Mix(h ^ uint64(id)<<8 ^ uint64(k))
				}
			}
			if n.Record != nil {
				h = hashText(h, n.Record.String())
			}
		}
	}
	return h
}

// sampled reports whether one of so many executions, by its seed, is this one.
func (x *Execution) sampled(of uint64) bool {
	h := x.Seed
	for _, parts := range x.Twins { // a sweep has one seed
		h = check.Mix(h ^ uint64(parts))
	}
	return h%of == 0
}

// repeatShare is one of how many executions is played a second time, to compare the two.
const repeatShare = 64

// again plays an execution a second time, or with a change that must change nothing.
func (p *ExecutionPlayer) again(t *trace) {
	x := t.x
	p.change(t)
	if !x.sampled(repeatShare) {
		return
	}
	first, ticks, calls := t.first, t.ended.Ticks, t.calls
	second := p.play(t.subject, x, variant{})
	t.Claim(claimSame, second.first == first && second.ended.Ticks == ticks && second.calls == calls,
		"two runs of one seed differ: %d and %d ticks, %d and %d calls", ticks, second.ended.Ticks, calls, second.calls)
}

// change plays one of 16 executions with one of the changes of its subject.
func (p *ExecutionPlayer) change(t *trace) {
	changes := t.subject.Changes
	if len(changes) == 0 || !t.x.sampled(16) {
		return
	}
	c := changes[t.x.Seed>>8%uint64(len(changes))]
	v := variant{double: c.Double}
	if c.Message != nil {
		v.changed = func(to synod.NodeID, m *synod.Message) *synod.Message { return c.Message(&t.Trace, to, m) }
	}
	first := t.first
	second := p.play(t.subject, t.x, v)
	t.Claim(c.Claim, second.first == first, "the opinions of honest members differ")
}

// decide compares what a council decides from the records of an execution with the reference.
func (p *ExecutionPlayer) decide(t *trace) {
	s := t.subject
	if s.Decision == "" || len(t.Violations) > 0 {
		return
	}
	step := reference.Step{}
	if s.Step != nil {
		step = s.Step(&t.Trace)
	}
	rule := drawRule(&t.x.Case, &step)
	council := planOf(s.protocol, &t.x.Case, rule)
	if council == nil {
		return
	}
	last, first := answersOf(&t.Trace)
	typed := council.Full().Defences["typed"] == defence.On && t.Question.Form == synod.Number
	for i, a := range last {
		if _, ok := read.Canonical(t.Question, string(a)); typed && !ok {
			last[i] = synod.None // the council drops what is no number
		}
	}
	want, o := reference.Council(rule, step, last, first), p.judges.judge(council, &t.Trace)
	got := verdictOf(council, &o)
	t.Claim(s.Decision, step.Near || want.Same(got), "with the rule %+v a council decides %+v, and the reference %+v "+
		"from the first answers %q and the last ones %q", rule, got, want, first, last)
	t.accused(council, &o)
	if !step.Decides && o.Withstands != nil && t.Protocol.(protocol.Protocol).MaxRounds() == 0 &&
		t.x.sampled(withstandShare) {
		t.withstands(rule, &step, &o, last, first)
	}
}

// accused compares the evidence in an outcome with what seats noted: valid evidence against one member in one broadcast
// is one accusation, with all who have it.
func (t *trace) accused(p *plan.Plan, o *outcome.Outcome) {
	accusing, ok := t.Protocol.(protocol.Accusing)
	if !ok {
		return
	}
	type about struct {
		sender synod.NodeID
		group  [32]byte
	}
	by := map[about][]synod.NodeID{}
	for i, notes := range t.Notes {
		for _, n := range notes {
			for _, b := range accusing.Accusations(n.Opinion) {
				var e broadcast.Evidence
				valid := len(n.Suspects) > 0 && e.UnmarshalBinary(b) == nil && e.Verify(t.Verifier)
				if !valid || p.Name(e.Sender) == "" {
					continue
				}
				k := about{e.Sender, e.Group}
				if id := synod.NodeID(i); !slices.Contains(by[k], id) {
					by[k] = append(by[k], id)
				}
			}
		}
	}
	var want, got []string
	for k, ids := range by {
		want = append(want, fmt.Sprint(k.sender, ids))
	}
	for _, a := range o.Evidence {
		var ids []synod.NodeID
		for _, name := range a.By {
			ids = append(ids, seatNamed(p, name))
		}
		got = append(got, fmt.Sprint(seatNamed(p, a.ID), ids))
	}
	slices.Sort(want)
	slices.Sort(got)
	t.Claim(t.subject.Decision, slices.Equal(got, want), "the outcome accuses %v, and by the notes of all seats %v",
		got, want)
}

// withstandShare is one of how many executions is also checked for what its decision withstands, which takes long.
const withstandShare = 8

// withstands compares what a decision withstands with the reference. Members have not heard one another.
func (t *trace) withstands(rule reference.Rule, step *reference.Step, o *outcome.Outcome, last, first []synod.Answer) {
	votes := &reference.Poll{}
	for i, a := range last {
		if step.Voting == nil || step.Voting[i] {
			votes.First, votes.Last = append(votes.First, first[i]), append(votes.Last, a)
			votes.Voice = append(votes.Voice, i)
		}
	}
	ignored, changed := votes.Withstands(o.Decision, func(b *reference.Poll) synod.Answer {
		return reference.Judge(rule, b).Answer
	})
	t.Claim(t.subject.Decision, o.Withstands.Ignored == ignored && o.Withstands.Changed == changed,
		"%q of %q withstands %+v by %+v; by the reference %d ignored and %d changed", o.Decision, last, *o.Withstands,
		rule, ignored, changed)
}
