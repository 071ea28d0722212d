package campaign

import (
	"fmt"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/check"
)

// judges judges the records of executions as councils do.
type judges struct {
	judging outcome.Judging
	records []outcome.Record
}

// plans has the plans of these councils, by the text of the council file. All players share them.
var plans sync.Map

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
	rule := drawRule(t.x, &step)
	last, first := answersOf(&t.Trace)
	typed := t.plan(rule).Full().Defences["typed"] == defence.On && t.Question.Form == synod.Number
	for i, a := range last {
		if _, ok := read.Canonical(t.Question, string(a)); typed && !ok {
			last[i] = synod.None // the council drops what is no number
		}
	}
	want, o := reference.Council(rule, step, last, first), p.judges.judge(t, rule)
	got := t.verdict(rule, &o)
	t.Claim(s.Decision, step.Near || want.Same(got), "with the rule %+v a council decides %+v, and the reference %+v "+
		"from the first answers %q and the last ones %q", rule, got, want, first, last)
	if !step.Decides && o.Withstands != nil && t.Protocol.(protocol.Protocol).MaxRounds() == 0 &&
		t.x.sampled(withstandShare) {
		t.withstands(rule, &step, &o, last)
	}
}

// withstandShare is one of how many executions is also checked for what its decision withstands, which takes long.
const withstandShare = 8

// withstands compares what a decision withstands with the reference. Members have not heard one another.
func (t *trace) withstands(rule reference.Rule, step *reference.Step, o *outcome.Outcome, last []synod.Answer) {
	var votes []synod.Answer
	for i, a := range last {
		if step.Voting == nil || step.Voting[i] {
			votes = append(votes, a)
		}
	}
	ignored, changed := reference.Withstands(rule, votes, o.Decision)
	t.Claim(t.subject.Decision, o.Withstands.Ignored == ignored && o.Withstands.Changed == changed,
		"%q of %q withstands %+v by %+v; by the reference %d ignored and %d changed", o.Decision, votes, *o.Withstands,
		rule, ignored, changed)
}

// drawRule draws the rule of the council. With the rule protocol the protocol's own step decides.
func drawRule(x *Execution, s *reference.Step) (r reference.Rule) {
	h := check.Mix(x.Seed ^ 0x4e1e)
	r.Name = []string{plan.Plurality, plan.Majority, plan.Supermajority}[h%3]
	if s.Decides {
		r.Name = plan.ByProtocol
	}
	if s.Voting == nil && x.N == 5 && h>>8%2 == 0 { // few councils, because a plan is made for each
		r.Support = min(x.F+1, x.N)
	}
	return r
}

// answersOf returns the last answers of all seats, and those that they noted before they heard others.
func answersOf(t *check.Trace) (last, first []synod.Answer) {
	last, first = make([]synod.Answer, len(t.Notes)), make([]synod.Answer, len(t.Notes))
	for i, notes := range t.Notes {
		for _, n := range notes {
			if n.Round == 0 {
				first[i] = n.Answer
			}
			last[i] = n.Answer
		}
	}
	return last, first
}

// judge returns the outcome of a council on the records of an execution.
func (j *judges) judge(t *trace, rule reference.Rule) outcome.Outcome {
	j.records = j.records[:0]
	for i, notes := range t.Notes {
		r := outcome.Record{Seat: synod.NodeID(i), Stopped: sim.Finished}
		for _, n := range notes {
			r.Opinions = append(r.Opinions, outcome.Noted{Tick: n.At, Opinion: n.Opinion})
		}
		j.records = append(j.records, r)
	}
	return j.judging.Judge(t.plan(rule), plan.Instance{Question: *t.Question, Check: t.Verifier}, j.records)
}

// verdict is an outcome in the terms of the reference.
func (t *trace) verdict(rule reference.Rule, o *outcome.Outcome) reference.Verdict {
	v := reference.Verdict{Status: o.Status, Answer: o.Decision}
	for _, vote := range o.Votes {
		if vote.Answer == v.Answer && v.Answer != synod.None {
			for _, id := range vote.Seats {
				v.Supporters = append(v.Supporters, seatNamed(t.plan(rule), id))
			}
		}
	}
	return v
}

func seatNamed(p *plan.Plan, id string) synod.NodeID {
	for i := range p.Seats() {
		if p.Seats()[i].ID == id {
			return synod.NodeID(i)
		}
	}
	return -1
}

// councilFile is the council that plays the protocol of an execution. Its graph is complete, because nobody plays it:
// it only judges.
func (t *trace) councilFile(rule reference.Rule) string {
	var file strings.Builder
	fmt.Fprintf(&file, "protocol: {name: %s", t.subject.protocol)
	if params := strings.TrimSuffix(strings.TrimPrefix(t.x.Params, "{"), "}"); params != "" {
		fmt.Fprintf(&file, ", %s", params)
	}
	fmt.Fprintf(&file, "}\ngraph: {family: complete}\nf: %d\nrule: {name: %s, support: %d}\n", t.x.F, rule.Name,
		rule.Support)
	file.WriteString("models: {m: {provider: simulated, ability: 0.5}}\nseats:\n")
	for i := range t.x.N {
		fmt.Fprintf(&file, "  - {id: s%d, model: m", i)
		if t.x.Cast != nil {
			fmt.Fprintf(&file, ", role: %s", t.x.Cast[i])
		}
		file.WriteString("}\n")
	}
	return file.String()
}

// plan returns the plan of the council that judges an execution.
func (t *trace) plan(rule reference.Rule) *plan.Plan {
	text := t.councilFile(rule)
	if known, ok := plans.Load(text); ok {
		return known.(*plan.Plan)
	}
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		panic(fmt.Errorf("campaign: the council that judges: %w", err))
	}
	made, err := plan.New(spec)
	if err != nil {
		panic(fmt.Errorf("campaign: the council that judges: %w", err))
	}
	plans.Store(text, made)
	return made
}
