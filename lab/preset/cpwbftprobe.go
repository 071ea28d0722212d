package preset

import (
	"fmt"
	"math"

	"synod.dev/synod/council"
	"synod.dev/synod/report"
)

const aboutTable3 = `The accuracy of the hidden probe: one member answers, and probe_accuracy is the share
of its answers that are right if and only if the confidence is at least 0.5. The paper
measures it on held-out questions and does not print their number, so there is no
verdict. The layer is that of the paper. The states are averaged over the tokens of the
answer, or taken at its last token or at the last token of the query.

simulated  members with the accuracy of the paper ("assumed"), to show the procedure
recorded   with --data DIR: the averaged states of both models, from the stored
           confidences of the paper for its ten questions. These were chosen so that the
           strong model is always right and the weak one always wrong. The other
           confidences were not recorded
FILE       a council file with any of the models strong-mean, strong-last,
           strong-query, weak-mean, weak-last, weak-query, each {provider: embedded,
           probe: FILE}. If nearly all answers are wrong, a probe with low confidence in
           every answer is accurate; synod probe train shows how good it is by layer on
           held-out questions`

// probeCell is a row of Table 3.
type probeCell struct {
	model  string // model of the paper
	seat   string // our model and seat
	task   string
	states string
	layer  int // as counted in the paper
}

var probeCells = []probeCell{
	{"llama-3.1", "strong", "gsm8k", "mean", 12}, {"llama-3.1", "strong", "gsm8k", "last", 12},
	{"llama-3.1", "strong", "gsm8k", "query", 23},
	{"llama-3.1", "strong", "xstest", "mean", 12}, {"llama-3.1", "strong", "xstest", "last", 32},
	{"llama-3.1", "strong", "xstest", "query", 15},
	{"llama-3", "weak", "gsm8k", "mean", 16}, {"llama-3", "weak", "gsm8k", "last", 12},
	{"llama-3", "weak", "gsm8k", "query", 13},
	{"llama-3", "weak", "xstest", "mean", 17}, {"llama-3", "weak", "xstest", "last", 15},
	{"llama-3", "weak", "xstest", "query", 15},
}

// cpTable3 returns the cells of Table 3.
func cpTable3(o Options) (*plan, error) {
	sets, note, err := cpSets(o, cpTasks)
	if err != nil {
		return nil, err
	}
	paper, err := cpTable(3)
	if err != nil {
		return nil, err
	}
	p := &plan{note: note}
	for _, s := range sets {
		for _, line := range probeCells {
			if line.task != s.name {
				continue
			}
			figures := paper[cpRow{s.name, "", line.states, line.model}]
			models, err := line.seated(o, s, figures["probe_accuracy"].Value)
			if err != nil {
				return nil, err
			}
			c := line.cell(s, models)
			c.Paper = figures
			p.cells = append(p.cells, c)
		}
	}
	return p, nil
}

// cell returns a council with one member.
func (l probeCell) cell(s cpSet, m cpModels) cell {
	spec := council.Default()
	spec.Council = fmt.Sprintf("%s-%s-%s", s.name, l.model, l.states)
	spec.Protocol = council.Params{"name": "cp-wbft", "probe": "hidden", "rounds": 0}
	spec.Rule.Name = council.ByProtocol
	spec.F, spec.Exact, spec.Limits, spec.Models = 0, m.exact(), council.Limits{}, m.by
	spec.Seats = []council.SeatSpec{{ID: l.seat, Model: l.seat}}
	c := cell{spec: spec, task: s.task, items: s.items, blank: m.missing}
	c.Name, c.Assumed = spec.Council, m.assumed
	c.Params = map[string]any{
		"protocol": "cp-wbft", "probe": "hidden", "states": l.states, "layer": l.layer, "model": l.model,
		"graph": "complete", "position": "any", "n": 1, "b": 0, "w": 0,
		"adversary": "", "task": s.task, "dataset": s.name, "exact": spec.Exact,
	}
	return c
}

// seated returns the model of a row.
func (l probeCell) seated(o Options, s cpSet, accuracy float64) (cpModels, error) {
	switch {
	case o.Members == "simulated":
		return cpModels{by: map[string]council.Params{l.seat: withAccuracy(accuracy)},
			assumed: report.Assume("the simulated members were built to have this accuracy", "probe_accuracy")}, nil
	case o.Members == "recorded" && l.states != "mean":
		return cpModels{missing: "the files of the paper have only the confidences of the probe that averages over " +
			"the answer"}, nil
	case o.Members == "recorded":
		return cpKind{3, "hidden"}.recorded(o, s)
	case o.Members == "embedded":
		return cpModels{missing: "the embedded model has no probe by default: train one (synod probe train) and use " +
			"--members FILE with a model strong-mean, {provider: embedded, probe: FILE}"}, nil
	}
	name := l.seat + "-" + l.states
	spec, err := council.Load(o.Members)
	if err != nil {
		return cpModels{}, fmt.Errorf("members are %q, which is neither simulated nor recorded and not a council "+
			"file: %w", o.Members, err)
	}
	found := spec.Models[name]
	if found == nil {
		return cpModels{missing: "the council file has no model for this cell; the preset uses strong-mean, " +
			"strong-last, strong-query, weak-mean, weak-last and weak-query"}, nil
	}
	m := cpModels{by: map[string]council.Params{l.seat: found}}
	if found["provider"] == "openai" {
		m.missing = "model " + name + " has no hidden states"
	}
	return m, nil
}

// withAccuracy returns a simulated member whose confidence is on the right side of 0.5
// for the given share of answers: normal noise around (1 ± skill)/2.
func withAccuracy(accuracy float64) council.Params {
	const noise = 0.25
	skill := 2 * noise * math.Sqrt2 * math.Erfinv(2*accuracy-1)
	return council.Params{"provider": "simulated", "ability": 0.5, "skill": math.Round(1000*skill) / 1000,
		"noise": noise, "seed": 1}
}
