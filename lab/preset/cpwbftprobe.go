package preset

import (
	"fmt"
	"math"

	"synod.dev/synod/council"
)

const aboutTable3 = `How often the hidden probe puts its confidence on the right side of 0.5: one member
answers, and probe_accuracy is the share of its answers for which (confidence ≥ 0.5)
is whether they are right. The paper measures that on held-out questions whose
number it does not print, so its figures stand beside ours without a verdict; the
layer named is the paper's. The states are read as their mean over the answer's
tokens, at its last token, or at the query's.

simulated  made to have the paper's accuracy ("assumed"): shows the machinery
recorded   with --data DIR: the mean of both models, from the paper's stored
           confidences in its ten questions, which were chosen so that the strong model
           is always right and the weak one always wrong. Nobody recorded the rest
FILE       a council file with any of the models strong-mean, strong-last,
           strong-query, weak-mean, weak-last, weak-query, each {provider: embedded,
           probe: FILE}. Where nearly all answers are wrong, a probe that always doubts is
           accurate: synod probe train says what it is worth, layer by layer, on
           questions that it has not seen`

// probeCell is a line of Table 3.
type probeCell struct {
	model  string // the paper's
	seat   string // ours
	task   string
	states string
	layer  int // the paper's, counted as it does
}

var probeCells = []probeCell{
	{"llama-3.1", "strong", "gsm8k", "mean", 12}, {"llama-3.1", "strong", "gsm8k", "last", 12}, {"llama-3.1", "strong", "gsm8k", "query", 23},
	{"llama-3.1", "strong", "xstest", "mean", 12}, {"llama-3.1", "strong", "xstest", "last", 32}, {"llama-3.1", "strong", "xstest", "query", 15},
	{"llama-3", "weak", "gsm8k", "mean", 16}, {"llama-3", "weak", "gsm8k", "last", 12}, {"llama-3", "weak", "gsm8k", "query", 13},
	{"llama-3", "weak", "xstest", "mean", 17}, {"llama-3", "weak", "xstest", "last", 15}, {"llama-3", "weak", "xstest", "query", 15},
}

// cpTable3 is the accuracy of the hidden probe.
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

// cell is a council of one, who tells nobody.
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
		"protocol": "cp-wbft", "probe": "hidden", "states": l.states, "layer": l.layer, "model": l.model, "graph": "complete", "position": "any", "n": 1, "b": 0, "w": 0,
		"adversary": "", "task": s.task, "dataset": s.name, "exact": spec.Exact,
	}
	return c
}

// seated finds the model of a line.
func (l probeCell) seated(o Options, s cpSet, accuracy float64) (cpModels, error) {
	switch {
	case o.Members == "simulated":
		return cpModels{by: map[string]council.Params{l.seat: sided(accuracy)}, assumed: []string{"probe_accuracy"}}, nil
	case o.Members == "recorded" && l.states != "mean":
		return cpModels{missing: "the paper's files hold confidences of the probe that reads the mean over the answer, and of no other"}, nil
	case o.Members == "recorded":
		return cpKind{3, "hidden"}.recorded(o, s)
	case o.Members == "embedded":
		return cpModels{missing: "the model in the box has no probe of its own: make one (synod probe train), and give --members FILE with a model strong-mean, {provider: embedded, probe: FILE}"}, nil
	}
	name := l.seat + "-" + l.states
	spec, err := council.Load(o.Members)
	if err != nil {
		return cpModels{}, fmt.Errorf("members are %q, which is none of simulated, recorded, and no council file: %w", o.Members, err)
	}
	found := spec.Models[name]
	if found == nil {
		return cpModels{missing: "the file of members has no model for it; the preset looks for strong-mean, strong-last, strong-query, weak-mean, weak-last and weak-query"}, nil
	}
	m := cpModels{by: map[string]council.Params{l.seat: found}}
	if found["provider"] == "openai" {
		m.missing = "model " + name + " shows no hidden states"
	}
	return m, nil
}

// sided is a simulated member whose confidence is on the right side of 0.5 in the
// given share of answers: normal noise about (1 ± skill)/2.
func sided(accuracy float64) council.Params {
	const noise = 0.25
	skill := 2 * noise * math.Sqrt2 * math.Erfinv(2*accuracy-1)
	return council.Params{"provider": "simulated", "ability": 0.5, "skill": math.Round(1000*skill) / 1000, "noise": noise, "seed": 1}
}
