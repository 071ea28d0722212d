package preset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/council"
	"synod.dev/synod/task"
)

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
