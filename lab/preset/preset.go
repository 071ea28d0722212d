// Package preset holds the experiments of the papers as grids of runs: which
// protocols on which graphs with whom, and the figures that the papers report.
//
// A preset fixes everything but the members: those are simulated, the model in the
// box, recorded, or whatever a file says, and every output names them. What the
// papers report stands in CSV files beside the code, a figure a line, and is put
// on file with the grid, so a folder reports itself against the paper wherever it
// is moved.
//
//	p, err := preset.Catalogue.Find("sac-table1")
//	grid, err := p.Draft(preset.Options{Members: "simulated", N: 30, Repeat: 20, Seed: 1})
package preset

import (
	"cmp"
	"errors"
	"fmt"
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

// Options are what a preset leaves open.
type Options struct {
	Members string // simulated, embedded, recorded, or the path of a council file with the preset's models; "": simulated
	Data    string // where the questions lie; "": in Pulled, else built-in ones
	Pulled  string // where fetched sets lie
	N       int    // questions of a cell, or games; 0: as many as the paper has
	Repeat  int
	Rounds  int // of a game at most; 0: as many as the paper has
	Seed    uint64
	Only    string // a pattern of cell names; "": all
	Program string
	Env     llm.Env
}

// Preset is a line of the catalogue.
type Preset struct {
	synod.Entry
	Source string // paper and table
	About  string
	// plan lists the cells with the councils that fill them.
	plan func(Options) (*plan, error)
}

// plan is a preset with everything settled.
type plan struct {
	task  string
	items []task.Item
	note  string
	cells []cell

	repeat int  // runs of every item beside Options.Repeat; 0: one
	rounds bool // Options.Rounds says how many there are at most
}

// cell is a cell and its council.
type cell struct {
	lab.Cell
	spec  council.Spec
	task  string // "": the plan's, with its items
	items []task.Item
	blank string // why there is no run; "": there is one

	compute func() (*report.Figures, error) // in place of a run
	how     string                          // what it computes of what, or reads
	reads   *lab.Reading                    // in place of a run: of which cell it reads what
}

// Catalogue is the table of presets.
var Catalogue = synod.NewCatalogue("preset", slices.Concat(sacTables(), gameFigures(), cpTables(), decentTables())...)

// Draft puts the grid together. It opens the models and asks nothing.
func (p Preset) Draft(o Options) (*lab.Grid, error) {
	if o.Members == "" {
		o.Members = "simulated"
	}
	all, err := p.plan(o)
	if err != nil {
		return nil, fmt.Errorf("preset %s: %w", p.Name, err)
	}
	if o.Rounds != 0 && !all.rounds {
		return nil, fmt.Errorf("preset %s: its rounds are the paper's; their number is left open only where games are played", p.Name)
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
			Program: o.Program, Task: c.task, Items: c.items, Repeat: max(all.repeat, 1) * o.Repeat, Seed: o.Seed, Spec: c.spec, Env: o.Env,
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

// idle is why a grid has nothing to run or to compute.
func idle(m *lab.GridManifest) error {
	if len(m.Blank) > 0 {
		return fmt.Errorf("none of these cells can run: %s", m.Blank[0].Why)
	}
	return fmt.Errorf("cell %s is read of cell %s, which must be chosen too", m.Readings[0].Name, m.Readings[0].Of)
}

// chosen are the cells whose names fit a pattern, at least one.
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
		return nil, fmt.Errorf("no cell fits %q; there are: %s", pattern, strings.Join(names, ", "))
	}
	return cells, nil
}

// Kinds are the members that need no file.
func Kinds() []string { return []string{"simulated", "embedded", "recorded"} }

func builtin(members string) bool { return slices.Contains(Kinds(), members) }

// models are the models of the given names: from a table by kind, or from a
// council file, of which nothing else is read.
func models(o Options, kinds map[string]map[string]council.Params, names ...string) (map[string]council.Params, error) {
	if builtin(o.Members) {
		if kinds[o.Members] == nil {
			return nil, fmt.Errorf("there are no %s members for it; it runs with %s, or with --members FILE that has models %s", o.Members, known(kinds), strings.Join(names, " and "))
		}
		return kinds[o.Members], nil
	}
	spec, err := council.Load(o.Members)
	if err != nil {
		return nil, fmt.Errorf("members are %q, which is none of %s, and no council file: %w", o.Members, known(kinds), err)
	}
	found := map[string]council.Params{}
	for _, name := range names {
		if found[name] = spec.Models[name]; found[name] == nil {
			return nil, fmt.Errorf("%s has no model %q; the preset seats models %s", o.Members, name, strings.Join(names, " and "))
		}
	}
	return found, nil
}

func known(kinds map[string]map[string]council.Params) string {
	names := slices.DeleteFunc(Kinds(), func(k string) bool { return kinds[k] == nil })
	return strings.Join(names, ", ")
}

// questions are the first n of the paper's task. Without the task's data simulated
// and embedded members get built-in problems, and the note says so.
func questions(o Options, name string, n int) (used string, items []task.Item, note string, err error) {
	set, err := task.Open(name, task.Options{Data: o.Data, Pulled: o.Pulled, Seed: o.Seed})
	var none *task.NoDataError
	if err != nil && !errors.As(err, &none) {
		return "", nil, "", err
	}
	used = name
	if err != nil {
		used, note = "builtin", fmt.Sprintf("Questions: built-in ones; the paper's (%s) are not here, give --data.", name)
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
	return used, items[:min(n, len(items))], note, nil
}
