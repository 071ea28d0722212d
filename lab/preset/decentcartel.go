package preset

import (
	"fmt"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
)

// fig8Asked is how many questions the councils of Fig. 8 are asked at most.
const fig8Asked = 10

// councils adds Fig. 8 as councils of simulated members play it. A simulated
// evaluator's five marks differ by its noise, which is a share of MaxGrade.
func (p *plan) councils(o Options) (err error) {
	if o.Members != "simulated" {
		return nil
	}
	o.N = min(o.N, fig8Asked)
	var note string
	if p.task, p.items, note, err = questions(o, "mmlu-pro", fig8Asked); err != nil {
		return err
	}
	p.note += " Councils: simulated members. " + note
	for _, aggregate := range []string{"geometric-median", "median-total"} {
		for _, spread := range fig8Spreads {
			for _, f := range []int{0, 3, 5, fig8Most - 1, fig8Most} {
				p.cells = append(p.cells, cartelCell(aggregate, spread, f, p.task))
			}
		}
	}
	return nil
}

func cartelCell(aggregate string, spread float64, f int, task string) cell {
	const workers, evaluators = 10, 8
	spec := council.Default()
	spec.Council = fmt.Sprintf("council-%s-s%v-f%d", aggregate, spread, f)
	spec.Protocol, spec.F, spec.Limits = council.Params{"name": "decentllms", "aggregate": aggregate}, f, council.Limits{}
	spec.Models = map[string]council.Params{
		"worker":    {"provider": "simulated", "wrong": 9, "seed": 1},
		"evaluator": {"provider": "simulated", "noise": spread / 20, "wrong": 9, "seed": 2},
	}
	spec.Seats = []council.SeatSpec{
		{ID: "w", Model: "worker", Count: workers - 1, Role: "worker"},
		{ID: "liar", Model: "worker", Role: "worker", Adversary: council.Params{"name": "number-alterer"}},
		{ID: "e", Model: "evaluator", Count: evaluators, Role: "evaluator"},
	}
	if f > 0 {
		spec.Seats = append(spec.Seats, council.SeatSpec{ID: "c", Model: "evaluator", Count: f, Role: "evaluator", Adversary: council.Params{"name": "cartel", "favours": "liar"}})
	}
	return cell{spec: spec, Cell: lab.Cell{
		Name: spec.Council,
		Params: map[string]any{
			"protocol": "decentllms", "aggregate": aggregate, "spread": spread, "n_e": evaluators + f, "f_e": f, "b": 1, "n_w": workers, "adversary": "cartel", "task": task,
		},
	}}
}
