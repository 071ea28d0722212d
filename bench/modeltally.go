package bench

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/llm"
)

// modelTally adds up what the members of each model did.
type modelTally struct {
	right  *metrics.Models
	models []*report.Model // in the order of seats
	bySeat []*report.Model
	times  map[*report.Model][]int
}

func newModelTally(m *RunManifest) *modelTally {
	t := &modelTally{times: map[*report.Model][]int{}}
	var names []string
	for _, s := range m.Seats {
		names = append(names, s.Model)
		k := slices.IndexFunc(t.models, func(m *report.Model) bool { return m.Model == s.Model })
		if k < 0 {
			k = len(t.models)
			t.models = append(t.models, &report.Model{Model: s.Model, Kind: string(s.Kind), Served: s.Served})
		}
		t.models[k].Seats++
		t.bySeat = append(t.bySeat, t.models[k])
	}
	t.right = metrics.NewModels(names, m.roles())
	return t
}

func (t *modelTally) add(res *result) {
	t.right.Add(&res.GradedQuestion)
	for i, m := range res.outcome.Members {
		of := t.bySeat[i]
		of.Unreadable += m.Calls.Of(synod.Unreadable)
		of.Replies += m.Calls.Of(synod.Unreadable) + m.Calls.Of(synod.OK)
		of.Failed += m.Calls.Failed()
		t.times[of] = append(t.times[of], res.times[i]...)
		for _, name := range res.names[i] {
			of.Reported = llm.AddReported(of.Reported, name)
		}
	}
}

// list returns the models with the calls and tokens that uses has by seat, billed with prices.
func (t *modelTally) list(uses []llm.Use, prices llm.Prices) []report.Model {
	all := []report.Model{}
	for _, m := range t.models {
		var of []llm.Use
		for i, u := range uses {
			if t.bySeat[i] == m {
				of = append(of, u)
				m.Calls = synod.Sum(m.Calls, u.Calls)
				m.Tokens.Add(report.Tokens{Prompt: u.Prompt, Completion: u.Completion})
			}
		}
		m.Answers = t.right.Of(m.Model)
		money := prices.Bill(of)
		m.Money, m.Cost, m.Latency = money, money.Cost(), metrics.NewLatency(t.times[m])
		all = append(all, *m)
	}
	return all
}
