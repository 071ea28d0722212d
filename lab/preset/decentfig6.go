package preset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

const fig6About = `MMLU-Pro, 100 questions: workers answer, eight evaluators mark, and DecentLLMs takes
the answer ranked first. With a leader and a quorum, an answer that is ranked lower
gets through: the paper lets the leader propose the one of rank (n_w+1)/3 (two
thirds) or (n_w+1)/2 (majority), rounded up (LB-3). These ranks are read of the same
run (rank_1, rank_2, … among its figures), so all three have the same answers and
marks.

Cells …-played are the two rivals themselves with the same workers, who mark and vote
for themselves, and leaders that propose by rank. Recorded workers cannot mark, and
with the model in the box it would take too long: there they are left out.

simulated  nine workers with abilities from 0.25 to 0.65, eight simulated evaluators
recorded   eleven workers replay what the models of MMLU-Pro's own repository said of
           its questions; nobody recorded evaluators, so those are simulated. Needs
           --data DIR with mmlu-pro.jsonl and traces/mmlu-pro.jsonl
embedded   four workers and three evaluators, all the model in the box: give a small -n
FILE       a council file with models worker and evaluator: nine and eight seats

Simulated evaluators know the keys and err independently of one another and of how
hard a question is, so together they hardly err: the first rank comes out better than
with real ones. What the lower ranks lose against it is the figure's claim.`

// panel is who sits in Fig. 6's council.
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
	if o.Members != "recorded" && o.Members != "embedded" { // a recording marks nothing, and the box takes its time
		p.cells = append(p.cells, seated.played(p.task)...)
	}
	return p, nil
}

// fig6Seats are the members that need no recording.
func fig6Seats(o Options) (s panel, err error) {
	abilities := map[string]council.Params{"evaluator": {"provider": "simulated", "wrong": 9, "seed": 10}}
	names := []string{"worker", "evaluator"}
	s.evaluators = 8
	switch o.Members {
	case "simulated":
		names = []string{"evaluator"}
		for i := range 9 {
			id := fmt.Sprintf("w%d", i)
			abilities[id] = council.Params{"provider": "simulated", "ability": math.Round(25+5*float64(i)) / 100, "wrong": 9, "seed": i + 1}
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

// cells are DecentLLMs, and the two quorum models read of its run.
func (s panel) cells(task string) []cell {
	n := 0
	for _, w := range s.workers {
		n += max(w.Count, 1)
	}
	spec := council.Default()
	spec.Council, spec.Limits, spec.Models = "decentllms", council.Limits{}, s.models
	spec.Protocol, spec.F = council.Params{"name": "decentllms"}, (s.evaluators-1)/2
	spec.Seats = append(append(spec.Seats, s.workers...), council.SeatSpec{ID: "e", Model: "evaluator", Count: s.evaluators, Role: "evaluator"})
	params := func(protocol, quorum string, rank int) map[string]any {
		return map[string]any{"protocol": protocol, "quorum": quorum, "rank": rank, "n_w": n, "n_e": s.evaluators, "f_e": 0, "b": 0, "task": task}
	}
	paper := func(right float64) map[string]report.Figure {
		return map[string]report.Figure{"decision_accuracy": {Value: right, N: fig6Questions}}
	}
	out := []cell{{Cell: lab.Cell{Name: "decentllms", Params: params("decentllms", "none", 1), Paper: paper(0.71)}, spec: spec}}
	for _, q := range []struct {
		name, protocol string
		part           int
		right          float64
	}{{"two-thirds", "rotating-leader", 3, 0.64}, {"majority", "fixed-leader", 2, 0.50}} {
		rank := (n + 1 + q.part - 1) / q.part
		out = append(out, cell{
			Cell:  lab.Cell{Name: "quorum-" + q.name, Params: params(q.protocol, q.name, rank), Paper: paper(q.right)},
			how:   fmt.Sprintf("the answer ranked %d. of %d in the run of cell decentllms", rank, n),
			reads: &lab.Reading{Of: "decentllms", Rates: map[string]string{"decision_accuracy": fmt.Sprintf("rank_%d", rank)}},
		})
	}
	return out
}

// played are the rivals themselves with the same workers, who mark and vote; leaders
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
		out = append(out, cell{spec: spec, Cell: lab.Cell{Name: spec.Council, Params: map[string]any{"protocol": name, "propose": "quorum", "n_w": n, "n": n, "f": 1, "b": 0, "task": task}}})
	}
	return out
}

// fig6Recorded seats every model of the recording as a worker, over the questions
// that all of them have answered, and simulated evaluators.
func fig6Recorded(o Options) (s panel, name string, items []task.Item, err error) {
	name = "mmlu-pro"
	path, err := filepath.Abs(filepath.Join(o.Data, "traces", name+".jsonl")) // a run may go on from another folder
	switch {
	case err != nil:
		return s, name, nil, err
	case o.Data == "":
		return s, name, nil, errors.New("recorded members need --data DIR, a folder with mmlu-pro.jsonl and traces/mmlu-pro.jsonl")
	case o.Repeat > 1:
		return s, name, nil, fmt.Errorf("recorded members answered every question once: --repeat 1, not %d", o.Repeat)
	}
	on, who, err := readTape(path, name)
	if err != nil {
		return s, name, nil, err
	}
	s = panel{evaluators: 8, models: map[string]council.Params{"evaluator": {"provider": "simulated", "wrong": 9, "seed": 10}}}
	for i, model := range who {
		id := fmt.Sprintf("w%d", i)
		s.models[id] = council.Params{"provider": "recorded", "path": path, "model": model, "benchmark": name}
		s.workers = append(s.workers, council.SeatSpec{ID: id, Model: id, Role: "worker"})
	}
	set, err := task.Open(name, task.Options{Data: o.Data})
	if err != nil {
		return s, name, nil, err
	}
	if items, err = set.Items(); err != nil {
		return s, name, nil, err
	}
	items = slices.DeleteFunc(slices.Clone(items), func(it task.Item) bool { return on[it.Question.ID] < len(who) })
	n := fig6Questions
	if o.N > 0 {
		n = o.N
	}
	if o.N > len(items) || len(items) == 0 {
		return s, name, nil, fmt.Errorf("-n is %d, and the recording has %d questions of %s", o.N, len(items), name)
	}
	return s, name, items[:min(n, len(items))], nil
}

// readTape counts how many models have answered each item, and lists them by name.
func readTape(path, benchmark string) (items map[string]int, models []string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("recorded members need %s, and it is not there", path)
	} else if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	items = map[string]int{}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for line := 1; in.Scan(); line++ {
		var row struct {
			Benchmark, Model string
			Trial            int
			ID               json.Number `json:"item_id"`
		}
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			return nil, nil, fmt.Errorf("%s: line %d: %w", path, line, err)
		}
		if row.Benchmark == benchmark && row.Trial == 0 {
			items[row.ID.String()]++
			models = append(models, row.Model)
		}
	}
	slices.Sort(models)
	return items, slices.Compact(models), in.Err()
}
