package preset

import (
	"fmt"
	"time"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/report"
)

const fig7About = `The time to a decision if b leaders are Byzantine and lead one after another, which is
the worst case: thirteen members that tolerate f = 4, of which b = 0 … 4 are silent and
the first leaders. DecentLLMs has thirteen evaluators, of which b are silent, and five
workers. Honest leaders propose the best answer they know. 20 questions for each cell
(-n).

latency is the virtual time from the question until the last honest voter has decided,
in seconds: a message takes one, a round of an exchange four, and members have four to
think. So only the shape is compared, constant against linear. The 221 s of DecentLLMs
in the paper were measured on its machines from the exchange of grades on, and have no
verdict; the paper prints no numbers for the other protocols.

simulated  members that are right in 70 of 100 questions
embedded   the embedded model: use a small -n
FILE       a council file with a model named member`

const (
	fig7Seats     = 13
	fig7Workers   = 5
	fig7Bound     = 4
	fig7Questions = 20
)

func fig7(o Options) (*plan, error) {
	found, err := models(o, map[string]map[string]council.Params{
		"simulated": {"member": {"provider": "simulated"}},
		"embedded":  {"member": {"provider": "embedded", "model": "smollm2-135m-instruct"}},
	}, "member")
	if err != nil {
		return nil, err
	}
	p := &plan{}
	if p.task, p.items, p.note, err = questions(o, "mmlu-pro", fig7Questions); err != nil {
		return nil, err
	}
	for _, protocol := range []council.Params{
		{"name": "decentllms"},
		{"name": "fixed-leader", "propose": "best", "leaders": fig7Bound + 1},
		{"name": "rotating-leader", "propose": "best"},
	} {
		for b := range fig7Bound + 1 {
			p.cells = append(p.cells, fig7Cell(protocol, b, found, p.task))
		}
	}
	return p, nil
}

// fig7Cell returns a council with b silent members before the honest ones, so that they
// lead first.
func fig7Cell(protocol council.Params, b int, models map[string]council.Params, task string) cell {
	name := protocol["name"].(string)
	spec := council.Default()
	spec.Council, spec.Protocol, spec.F, spec.Limits, spec.Models = fmt.Sprintf("%s-b%d", name, b), protocol, fig7Bound,
		council.Limits{}, models
	spec.Pace, spec.Faults.Delay = council.Pace{Think: 2 * time.Second, Within: 4 * time.Second},
		council.Delay{Min: time.Second, Max: time.Second}
	params := map[string]any{"protocol": name, "n": fig7Seats, "b": b, "f": fig7Bound, "adversary": "silent",
		"task": task}
	role := ""
	var paper map[string]report.Figure
	if name == "decentllms" {
		role = "evaluator"
		spec.Seats = append(spec.Seats, council.SeatSpec{ID: "w", Model: "member", Count: fig7Workers, Role: "worker"})
		params["n"], params["n_w"], params["n_e"], params["f_e"] = fig7Workers+fig7Seats, fig7Workers, fig7Seats, b
		paper = map[string]report.Figure{"latency": {Value: 221, Count: true}}
	}
	if b > 0 {
		spec.Seats = append(spec.Seats, council.SeatSpec{ID: "m", Model: "member", Count: b, Role: role,
			Adversary: council.Params{"name": "silent"}})
	}
	spec.Seats = append(spec.Seats, council.SeatSpec{ID: "e", Model: "member", Count: fig7Seats - b, Role: role})
	return cell{Cell: lab.Cell{Name: spec.Council, Params: params, Paper: paper}, spec: spec}
}
