// Package preset defines the experiments of the papers as grids of runs: protocols,
// graphs, councils, and the figures that the papers report.
//
// A preset fixes everything but the members. These are simulated, embedded, recorded or
// defined by a council file, and every output names them. The figures of the papers are
// in CSV files beside the code, one on each line. They are copied into the folder of the
// grid, so a report can compare with the paper wherever the folder is moved.
//
//	p, err := preset.Catalogue.Find("sac-table1")
//	grid, err := p.Draft(preset.Options{Members: "simulated", N: 30, Repeat: 20, Seed: 1})
package preset

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/llm"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

// Options are the settings that a preset does not fix.
type Options struct {
	// simulated, embedded, recorded, or the path of a council file with the models of the preset;
	// "": simulated
	Members string
	Data    string // file or folder of the questions; "": from Pulled, else built-in questions
	Pulled  string // folder of fetched data sets
	N       int    // questions or games of each cell; 0: as many as in the paper
	Repeat  int
	Rounds  int // maximum rounds of a game; 0: as in the paper
	Seed    uint64
	Only    string // pattern of cell names; "": all cells
	Program string
	Env     llm.Env
	Mark    func([]byte) string // of the runs; see lab.Run
}

// Preset is an entry of the catalogue.
type Preset struct {
	synod.Entry
	Source string // paper and table
	About  string
	// plan returns the cells and their councils.
	plan func(Options) (*plan, error)
}

// plan is a preset with all settings decided.
type plan struct {
	task  string
	items []task.Item
	note  string
	cells []cell

	repeat int  // runs of each item, multiplied by Options.Repeat; 0: one
	rounds bool // whether Options.Rounds applies
}

// cell is a cell of the grid and its council.
type cell struct {
	lab.Cell
	spec  council.Spec
	task  string // "": task and items of the plan
	items []task.Item
	blank string // why the cell cannot be run; "": it can

	compute func() (*report.Figures, error) // computes the figures instead of a run
	how     string                          // description of compute or reads
	reads   *lab.Reading                    // takes the figures from the run of another cell
}

// Catalogue lists the presets.
var Catalogue = synod.NewCatalogue("preset", slices.Concat(sacTables(), gameFigures(), cpTables(), decentTables())...)

// Draft prepares the grid of a preset. It opens the models but asks none.
func (p Preset) Draft(o Options) (*lab.Grid, error) {
	if o.Members == "" {
		o.Members = "simulated"
	}
	all, err := p.plan(o)
	if err != nil {
		return nil, fmt.Errorf("preset %s: %w", p.Name, err)
	}
	if o.Rounds != 0 && !all.rounds {
		return nil, fmt.Errorf("preset %s: the number of rounds can be set only for presets with games", p.Name)
	}
	m := lab.GridManifest{Program: o.Program, Preset: p.Name, Source: p.Source, Members: o.Members, Note: all.note}
	if !builtin(o.Members) {
		m.Members = filepath.Base(o.Members)
	}
	cells, err := all.chosen(o.Only)
	if err != nil {
		return nil, fmt.Errorf("preset %s: %w", p.Name, err)
	}
	var plans []lab.Plan
	for _, c := range cells {
		if c.blank != "" {
			m.Blank = append(m.Blank, lab.Blank{Cell: c.Cell, Why: c.blank})
			continue
		}
		if c.compute != nil {
			m.Computed = append(m.Computed, lab.Computed{Cell: c.Cell, How: c.how, Of: c.compute})
			continue
		}
		if c.reads != nil {
			m.Readings = append(m.Readings, lab.Reading{Cell: c.Cell, How: c.how, Of: c.reads.Of, Rates: c.reads.Rates})
			continue
		}
		if c.task == "" {
			c.task, c.items = all.task, all.items
		}
		m.Cells = append(m.Cells, c.Cell)
		plans = append(plans, lab.Plan{
			Program: o.Program, Task: c.task, Items: c.items, Repeat: max(all.repeat, 1) * o.Repeat, Seed: o.Seed,
			Spec: c.spec, Env: o.Env, Mark: o.Mark,
		})
	}
	if len(plans) == 0 {
		m.Members = "none"
	}
	if len(plans)+len(m.Computed) == 0 {
		return nil, fmt.Errorf("preset %s: %w", p.Name, idle(&m))
	}
	return lab.DraftGrid(m, plans)
}

// idle explains why a grid has nothing to run or to compute.
func idle(m *lab.GridManifest) error {
	if len(m.Blank) > 0 {
		return fmt.Errorf("none of these cells can be run: %s", m.Blank[0].Why)
	}
	return fmt.Errorf("cell %s takes its figures from cell %s, which must be selected too", m.Readings[0].Name,
		m.Readings[0].Of)
}

// chosen returns the cells whose names match a pattern. It fails if there are none.
func (p *plan) chosen(pattern string) (cells []cell, err error) {
	var names []string
	for _, c := range p.cells {
		ok, err := filepath.Match(cmp.Or(pattern, "*"), c.Name)
		if err != nil {
			return nil, fmt.Errorf("the pattern %q of cells: %w", pattern, err)
		}
		if ok {
			cells = append(cells, c)
		}
		names = append(names, c.Name)
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("no cell matches %q; the cells are: %s", pattern, strings.Join(names, ", "))
	}
	return cells, nil
}

// Kinds lists the kinds of members that need no council file.
func Kinds() []string { return []string{"simulated", "embedded", "recorded"} }

func builtin(members string) bool { return slices.Contains(Kinds(), members) }

// models returns the models with the given names: from a table by kind of members, or
// from a council file, whose other keys are ignored.
func models(o Options, kinds map[string]map[string]council.Params, names ...string) (map[string]council.Params, error) {
	if builtin(o.Members) {
		if kinds[o.Members] == nil {
			return nil, fmt.Errorf("the preset has no %s members; use %s, or --members FILE with models %s", o.Members,
				known(kinds), strings.Join(names, " and "))
		}
		return kinds[o.Members], nil
	}
	spec, err := council.Load(o.Members)
	if err != nil {
		return nil, fmt.Errorf("members are %q, which is none of %s and not a council file: %w", o.Members,
			known(kinds), err)
	}
	found := map[string]council.Params{}
	for _, name := range names {
		if found[name] = spec.Models[name]; found[name] == nil {
			return nil, fmt.Errorf("%s has no model %q; the preset needs models %s", o.Members, name,
				strings.Join(names, " and "))
		}
	}
	return found, nil
}

func known(kinds map[string]map[string]council.Params) string {
	names := slices.DeleteFunc(Kinds(), func(k string) bool { return kinds[k] == nil })
	return strings.Join(names, ", ")
}

// questions returns the first n questions of a task or, if its data is not available,
// of the built-in task, which the note states.
func questions(o Options, name string, n int) (used string, items []task.Item, note string, err error) {
	set, err := task.Open(name, task.Options{Data: o.Data, Pulled: o.Pulled, Seed: o.Seed})
	var none *task.NoDataError
	if err != nil && !errors.As(err, &none) {
		return "", nil, "", err
	}
	used = name
	if err != nil {
		used, note = "builtin", fmt.Sprintf("Questions: substitutes. All are built-in ones, because those of the "+
			"paper (%s) are not available; use --data.", name)
		if set, err = task.Open(used, task.Options{Seed: o.Seed, Number: max(o.N, n)}); err != nil {
			return "", nil, "", err
		}
	}
	if items, err = set.Items(); err != nil {
		return "", nil, "", err
	}
	if o.N > len(items) {
		return "", nil, "", fmt.Errorf("-n is %d, and %s has %d questions", o.N, used, len(items))
	}
	if o.N > 0 {
		n = o.N
	}
	items = items[:min(n, len(items))]
	return used, items, strings.TrimSpace(note + " " + remarks(items)), nil
}

// remarks says which questions are not those of the paper as printed: abbreviations,
// substitutes and corrected answers.
func remarks(items []task.Item) string {
	ids := map[string][]string{} // by remark
	for _, it := range items {
		if it.Note != "" {
			ids[it.Note] = append(ids[it.Note], it.Question.ID)
		}
	}
	var out []string
	for _, note := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, fmt.Sprintf("%d of %d questions: %s (%s).", len(ids[note]), len(items), note,
			strings.Join(ids[note], ", ")))
	}
	return strings.Join(out, " ")
}

// traceRow is what presets need of a line of a recorded trace.
type traceRow struct {
	Benchmark string
	Model     string
	Trial     int
	ID        traceID `json:"item_id"`
}

// traceID is the id of an item: a JSON string, or the digits of a JSON number.
type traceID string

func (id *traceID) UnmarshalJSON(b []byte) error {
	*id = traceID(strings.Trim(string(b), `"`))
	return nil
}

// readTrace reads recorded replies, which are in the data folder or were pulled, and returns the absolute path of their
// file, because a run may be resumed from another folder.
func (o Options) readTrace(name string) (path string, rows []traceRow, err error) {
	if o.Repeat > 1 {
		return "", nil, fmt.Errorf("recorded members answered every question once: --repeat 1, not %d", o.Repeat)
	}
	path, err = task.Trace(name, task.Options{Data: o.Data, Pulled: o.Pulled})
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.Data != "":
		return "", nil, fmt.Errorf("recorded members need traces/%s.jsonl, and %s has none; see synod data "+
			"convert", name,
			o.Data)
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("recorded members need traces/%s.jsonl: synod data pull traces/%[1]s, or --data "+
			"DIR, "+
			"a folder with it and the data sets", name)
	case err != nil:
		return "", nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for line := 1; in.Scan(); line++ {
		var row traceRow
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			return "", nil, fmt.Errorf("%s: line %d: %w", path, line, err)
		}
		rows = append(rows, row)
	}
	if err := in.Err(); err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	return path, rows, nil
}
