package preset

import (
	"fmt"
	"math"
	"slices"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

const fig6About = `MMLU-Pro, 100 questions: workers answer, eight evaluators grade, and DecentLLMs decides
for the answer ranked first. A protocol with a leader and a quorum can decide for an
answer of lower rank: in the paper the leader proposes the answer of rank (n_w+1)/3 (two
thirds) or (n_w+1)/2 (majority), rounded up (LB-3). The accuracy of these ranks is taken
from the same run (rank_1, rank_2, … of its figures), so all three cells have the same
answers and grades.

The cells …-played run the two leader-based protocols with the same workers, which grade
and vote themselves, and with leaders that propose by rank. They are omitted for recorded
workers, which cannot grade, and for the embedded model, which would take too long.

simulated  nine workers with abilities from 0.25 to 0.65, eight simulated evaluators
recorded   eleven workers replay the replies of the models in the repository of
           MMLU-Pro; evaluators are simulated, because none were recorded. Needs
           --data DIR with mmlu-pro.jsonl and traces/mmlu-pro.jsonl
embedded   four workers and three evaluators of the embedded model: use a small -n
FILE       a council file with models worker and evaluator: nine and eight seats

Simulated evaluators know the keys, and their errors are independent of each other and
of the difficulty of a question, so the first rank is better than with real evaluators.
The claim of the figure is the difference between the ranks.`

// panel has the members of the council of Fig. 6.
type panel struct {
	workers    []council.SeatSpec
	evaluators int
	models     map[string]council.Params
}

const fig6Questions = 100

func fig6(o Options) (*plan, error) {
	p := &plan{}
	var seated panel
	var err error
	if o.Members == "recorded" {
		seated, p.task, p.items, err = fig6Recorded(o)
		p.note = "Workers: recorded, one reply of each model to a question. Evaluators: simulated; they know the keys."
	} else {
		if seated, err = fig6Seats(o); err == nil {
			p.task, p.items, p.note, err = questions(o, "mmlu-pro", fig6Questions)
		}
	}
	if err != nil {
		return nil, err
	}
	p.cells = seated.cells(p.task)
	// recorded workers cannot grade; the embedded model is too slow
	if o.Members != "recorded" && o.Members != "embedded" {
		p.cells = append(p.cells, seated.played(p.task)...)
	}
	return p, nil
}

// fig6Seats returns the panel for members that are not recorded.
func fig6Seats(o Options) (s panel, err error) {
	abilities := map[string]council.Params{"evaluator": {"provider": "simulated", "wrong": 9, "seed": 10}}
	names := []string{"worker", "evaluator"}
	s.evaluators = 8
	switch o.Members {
	case "simulated":
		names = []string{"evaluator"}
		for i := range 9 {
			id := fmt.Sprintf("w%d", i)
			abilities[id] = council.Params{"provider": "simulated", "ability": math.Round(25+5*float64(i)) / 100,
				"wrong": 9, "seed": i + 1}
			s.workers, names = append(s.workers, council.SeatSpec{ID: id, Model: id, Role: "worker"}), append(names, id)
		}
	case "embedded":
		s.workers, s.evaluators = []council.SeatSpec{{ID: "w", Model: "worker", Count: 4, Role: "worker"}}, 3
	default:
		s.workers = []council.SeatSpec{{ID: "w", Model: "worker", Count: 9, Role: "worker"}}
	}
	s.models, err = models(o, map[string]map[string]council.Params{
		"simulated": abilities,
		"embedded": {
			"worker":    {"provider": "embedded", "model": "smollm2-135m-instruct", "temperature": 0.8},
			"evaluator": {"provider": "embedded", "model": "smollm2-135m-instruct", "temperature": 0.2},
		},
	}, names...)
	return s, err
}

// cells returns the cell of DecentLLMs and the two quorum models, which take their
// figures from its run.
func (s panel) cells(task string) []cell {
	n := 0
	for _, w := range s.workers {
		n += max(w.Count, 1)
	}
	spec := council.Default()
	spec.Council, spec.Limits, spec.Models = "decentllms", council.Limits{}, s.models
	spec.Protocol, spec.F = council.Params{"name": "decentllms"}, (s.evaluators-1)/2
	spec.Seats = append(append(spec.Seats, s.workers...),
		council.SeatSpec{ID: "e", Model: "evaluator", Count: s.evaluators, Role: "evaluator"})
	params := func(protocol, quorum string, rank int) map[string]any {
		return map[string]any{"protocol": protocol, "quorum": quorum, "rank": rank, "n_w": n, "n_e": s.evaluators,
			"f_e": 0, "b": 0, "task": task}
	}
	paper := func(right float64) map[string]report.Figure {
		return map[string]report.Figure{"decision_accuracy": {Value: right, N: fig6Questions}}
	}
	out := []cell{{Cell: lab.Cell{Name: "decentllms", Params: params("decentllms", "none", 1), Paper: paper(0.71)},
		spec: spec}}
	for _, q := range []struct {
		name, protocol string
		part           int
		right          float64
	}{{"two-thirds", "rotating-leader", 3, 0.64}, {"majority", "fixed-leader", 2, 0.50}} {
		rank := (n + 1 + q.part - 1) / q.part
		out = append(out, cell{
			Cell: lab.Cell{Name: "quorum-" + q.name, Params: params(q.protocol, q.name, rank), Paper: paper(q.right)},
			how:  fmt.Sprintf("the answer of rank %d of %d in the run of cell decentllms", rank, n),
			reads: &lab.Reading{Of: "decentllms", Rates: map[string]string{"decision_accuracy": fmt.Sprintf("rank_%d",
				rank)}},
		})
	}
	return out
}

// played returns the cells of the leader-based protocols with the same workers. Leaders
// propose by rank.
func (s panel) played(task string) (out []cell) {
	for _, name := range []string{"rotating-leader", "fixed-leader"} {
		spec := council.Default()
		spec.Council, spec.Limits, spec.Models = name+"-played", council.Limits{}, s.models
		spec.Protocol, spec.F = council.Params{"name": name, "propose": "quorum"}, 1
		n := 0
		for _, w := range s.workers {
			w.Role = ""
			spec.Seats = append(spec.Seats, w)
			n += max(w.Count, 1)
		}
		out = append(out, cell{spec: spec, Cell: lab.Cell{Name: spec.Council,
			Params: map[string]any{"protocol": name, "propose": "quorum", "n_w": n, "n": n, "f": 1, "b": 0,
				"task": task}}})
	}
	return out
}

// fig6Recorded returns a panel with a worker for each model of the recording and with
// simulated evaluators, and the questions that all these models have answered.
func fig6Recorded(o Options) (s panel, name string, items []task.Item, err error) {
	name = "mmlu-pro"
	path, rows, err := o.readTrace(name)
	if err != nil {
		return s, name, nil, err
	}
	answered, who := map[string]int{}, []string(nil) // how many models answered each item; the models
	for _, row := range rows {
		if row.Benchmark == name && row.Trial == 0 {
			answered[string(row.ID)]++
			who = append(who, row.Model)
		}
	}
	slices.Sort(who)
	who = slices.Compact(who)
	s = panel{evaluators: 8, models: map[string]council.Params{"evaluator": {"provider": "simulated", "wrong": 9,
		"seed": 10}}}
	for i, model := range who {
		id := fmt.Sprintf("w%d", i)
		s.models[id] = council.Params{"provider": "recorded", "path": path, "model": model, "benchmark": name}
		s.workers = append(s.workers, council.SeatSpec{ID: id, Model: id, Role: "worker"})
	}
	set, err := task.Open(name, task.Options{Data: o.Data, Pulled: o.Pulled})
	if err != nil {
		return s, name, nil, err
	}
	if items, err = set.Items(); err != nil {
		return s, name, nil, err
	}
	items = slices.DeleteFunc(slices.Clone(items),
		func(it task.Item) bool { return answered[it.Question.ID] < len(who) })
	n := fig6Questions
	if o.N > 0 {
		n = o.N
	}
	if o.N > len(items) || len(items) == 0 {
		return s, name, nil, fmt.Errorf("-n is %d; the recording has %d questions of %s", o.N, len(items), name)
	}
	return s, name, items[:min(n, len(items))], nil
}
