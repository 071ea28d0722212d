package campaign

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// judges judges the records of executions as councils do.
type judges struct {
	judging outcome.Judging
	records []outcome.Record
}

// plans has the plans of these councils, by the text of the council file. All players share them. It is emptied when it
// has mostPlans, each of which takes some KB.
var (
	plans   sync.Map
	planned atomic.Int64 // how many it has
)

const mostPlans = 8192

// drawRule draws the rule of the council. With the rule protocol the protocol's own step decides.
func drawRule(x *check.Case, s *reference.Step) (r reference.Rule) {
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
func (j *judges) judge(p *plan.Plan, t *check.Trace) outcome.Outcome {
	j.records = j.records[:0]
	for i, notes := range t.Notes {
		r := outcome.Record{Seat: synod.NodeID(i), Stopped: sim.Finished}
		for _, n := range notes {
			r.Opinions = append(r.Opinions, outcome.Noted{Tick: n.At, Opinion: n.Opinion})
		}
		j.records = append(j.records, r)
	}
	return j.judging.Judge(p, plan.Instance{Question: *t.Question, Check: t.Verifier}, j.records)
}

// verdictOf is an outcome in the terms of the reference.
func verdictOf(p *plan.Plan, o *outcome.Outcome) reference.Verdict {
	v := reference.Verdict{Status: o.Status, Answer: o.Decision}
	for _, vote := range o.Votes {
		if vote.Answer == v.Answer && v.Answer != synod.None {
			for _, id := range vote.Seats {
				v.Supporters = append(v.Supporters, seatNamed(p, id))
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

// councilFile is the council that plays a protocol of the catalogue in a case. Its graph is complete, because nobody
// plays it: it only judges.
func councilFile(protocol string, x *check.Case, rule reference.Rule) string {
	var file strings.Builder
	fmt.Fprintf(&file, "protocol: {name: %s", protocol)
	params := strings.TrimSuffix(strings.TrimPrefix(x.Params, "{"), "}")
	if params == "same: "+plan.SameMembers { // the reference joins no answers, so this council does not either
		params = ""
	}
	if params != "" {
		fmt.Fprintf(&file, ", %s", params)
	}
	fmt.Fprintf(&file, "}\ngraph: {family: complete}\nf: %d\nrule: {name: %s, support: %d}\n", x.F, rule.Name,
		rule.Support)
	file.WriteString("models: {m: {provider: simulated, ability: 0.5}}\nseats:\n")
	for i := range x.N {
		fmt.Fprintf(&file, "  - {id: s%d, model: m", i)
		if x.Cast != nil {
			fmt.Fprintf(&file, ", role: %s", x.Cast[i])
		}
		file.WriteString("}\n")
	}
	return file.String()
}

// planOf returns the plan of that council; nil if no council may have such seats and bounds, as in a case that was
// shrunk.
func planOf(protocol string, x *check.Case, rule reference.Rule) *plan.Plan {
	return planFor(councilFile(protocol, x, rule))
}

// planFor returns the plan of a council file; nil if there is none.
func planFor(text string) *plan.Plan {
	if known, ok := plans.Load(text); ok {
		return known.(*plan.Plan)
	}
	var made *plan.Plan
	if spec, err := plan.Parse([]byte(text)); err == nil {
		made, _ = plan.New(spec)
	}
	if planned.Add(1) > mostPlans {
		plans.Clear()
		planned.Store(1)
	}
	plans.Store(text, made)
	return made
}
