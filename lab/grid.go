package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"

	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
)

// Grid is a folder of runs that are reported together:
//
//	grid.json      what is varied and what it is compared with
//	cells/NAME/    a run folder a cell
//
// The folder comes into being whole, and each cell keeps what Run promises: so a
// grid may be killed at any instant, resumed and moved.
type Grid struct {
	GridManifest
	Runs []*Run // by cell
	dir  string
}

// Dir is the folder.
func (g *Grid) Dir() string { return g.dir }

// DraftGrid puts a grid together without writing anything: one plan a cell.
func DraftGrid(m GridManifest, plans []Plan) (*Grid, error) {
	g := &Grid{GridManifest: m}
	g.Version = GridVersion
	if len(plans) != len(m.Cells) || len(plans)+len(m.Computed) == 0 {
		return nil, fmt.Errorf("lab: a grid of %d cells and %d plans", len(m.Cells), len(plans))
	}
	seen := map[string]bool{}
	for _, c := range m.Computed {
		if !cellName.MatchString(c.Name) || seen[c.Name] {
			return nil, fmt.Errorf("lab: %q is no name for a cell, or two have it", c.Name)
		}
		seen[c.Name] = true
	}
	for _, c := range m.Readings {
		if !cellName.MatchString(c.Name) || seen[c.Name] {
			return nil, fmt.Errorf("lab: %q is no name for a cell, or two have it", c.Name)
		}
		seen[c.Name] = true
	}
	for i, c := range m.Cells {
		if !cellName.MatchString(c.Name) || seen[c.Name] {
			return nil, fmt.Errorf("lab: %q is no name for a cell, or two have it", c.Name)
		}
		seen[c.Name] = true
		run, err := Draft(plans[i])
		if err != nil {
			return nil, fmt.Errorf("cell %s: %w", c.Name, err)
		}
		g.Runs = append(g.Runs, run)
	}
	return g, nil
}

// cellName is what a cell's name, and so its folder's, may look like.
var cellName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,99}$`)

// Create writes the grid's folder, which must be new or empty. It is made under a
// name that nobody else has and gets its own when it is whole.
func (g *Grid) Create(dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return g.occupied(dir)
	}
	if err := g.compute(); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	base := filepath.Base(dir)
	if base == "." || base == ".." {
		return fmt.Errorf("lab: %s cannot become the folder of a grid; name one in it", dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	making, err := os.MkdirTemp(filepath.Dir(dir), "."+base+".new-")
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	defer os.RemoveAll(making) // gone already if all went well
	if err := g.write(making, dir); err != nil {
		return err
	}
	if err := os.Rename(making, dir); err != nil { // over an empty folder, too
		if entries, _ := os.ReadDir(dir); len(entries) > 0 { // somebody was faster
			return g.occupied(dir)
		}
		return fmt.Errorf("lab: %w", err)
	}
	g.dir = dir
	return nil
}

// write writes into a folder what will be in another one.
func (g *Grid) write(making, dir string) error {
	for i, run := range g.Runs {
		if err := run.Create(filepath.Join(making, "cells", g.Cells[i].Name)); err != nil {
			return err
		}
		run.dir = filepath.Join(dir, "cells", g.Cells[i].Name)
	}
	manifest, err := json.MarshalIndent(g.GridManifest, "", "  ")
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	return writeWhole(filepath.Join(making, "grid.json"), append(manifest, '\n'))
}

// occupied says what a folder holds that is not empty.
func (g *Grid) occupied(dir string) error {
	e := &OccupiedError{Dir: dir}
	if old, err := OpenGrid(dir); err == nil {
		e.Run, e.Changes = true, old.Changes(g)
	} else if _, err := Open(dir); err == nil {
		e.Run, e.Changes = true, []string{"it is a single run, and this is the grid " + g.Preset}
	}
	return e
}

// Changes lists in what another grid differs from this one.
func (g *Grid) Changes(other *Grid) (out []string) {
	for _, d := range [][3]string{{"preset", g.Preset, other.Preset}, {"members", g.Members, other.Members}} {
		if d[1] != d[2] {
			out = append(out, fmt.Sprintf("%s: %s there, %s now", d[0], d[1], d[2]))
		}
	}
	if len(g.Runs) != len(other.Runs) {
		return append(out, fmt.Sprintf("cells: %d there, %d now", len(g.Runs), len(other.Runs)))
	}
	out = append(out, g.changedComputed(other)...)
	cells := map[string]int{} // in how many a change is
	for i, run := range g.Runs {
		for _, change := range run.Changes(other.Runs[i]) {
			cells[change]++
			out = append(out, change)
		}
	}
	out = unique(out)
	for i, change := range out {
		if n := cells[change]; n > 0 && n < len(g.Runs) {
			out[i] = fmt.Sprintf("%s (in %d of %d cells)", change, n, len(g.Runs))
		}
	}
	return out
}

// OpenGrid reads a grid's folder.
func OpenGrid(dir string) (*Grid, error) {
	path := filepath.Join(dir, "grid.json")
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("lab: %s: %w", dir, ErrNoRun)
	}
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	g := &Grid{dir: dir}
	if err := json.Unmarshal(b, &g.GridManifest); err != nil {
		return nil, fmt.Errorf("lab: %s: %w", path, err)
	}
	if g.Version < 1 || g.Version > GridVersion {
		return nil, fmt.Errorf("lab: %s: version %d; this program reads up to %d", path, g.Version, GridVersion)
	}
	for _, b := range g.Blank {
		if !cellName.MatchString(b.Name) {
			return nil, fmt.Errorf("lab: %s: %q is no name for a cell", path, b.Name)
		}
	}
	for _, c := range g.Cells {
		if !cellName.MatchString(c.Name) {
			return nil, fmt.Errorf("lab: %s: %q is no name for a cell", path, c.Name)
		}
		run, err := Open(filepath.Join(dir, "cells", c.Name))
		if err != nil {
			return nil, err
		}
		g.Runs = append(g.Runs, run)
	}
	return g, nil
}

// Work works on one cell after another. What Run.Work says holds of every cell.
func (g *Grid) Work(ctx context.Context, o Options) (sum Progress, err error) {
	total := 0
	for _, run := range g.Runs {
		total += run.total()
	}
	show := o.Progress
	before := Progress{Total: total}
	for i, run := range g.Runs {
		o.Progress = func(p Progress) {
			if show != nil {
				sum := before.and(p)
				sum.Cell = g.Cells[i].Name
				show(sum)
			}
		}
		p, err := run.Work(ctx, o)
		before = before.and(p)
		if err != nil {
			return before, fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
	}
	return before, nil
}

// and adds what one cell has come to.
func (p Progress) and(cell Progress) Progress {
	p.Finished += cell.Finished
	p.Failed += cell.Failed
	p.Now += cell.Now
	p.Calls += cell.Calls
	return p
}

// GridVersion is the version of a grid's folder. OpenGrid refuses a later one.
const GridVersion = 1

// Cell is one cell of a grid: a run, what is varied in it, and what a paper says
// of it.
type Cell struct {
	Name    string                   `json:"cell"` // also its folder
	Params  map[string]any           `json:"params"`
	Paper   map[string]report.Figure `json:"paper"`             // by metric; empty: the paper has no such cell
	Assumed []string                 `json:"assumed,omitempty"` // metrics that the members were made to have
}

// Blank is a cell of the paper's that nothing here can fill: no run, no figure.
type Blank struct {
	Cell
	Why string `json:"why"` // with what would fill it
}

// GridManifest says what a grid is, in grid.json.
type GridManifest struct {
	Version int    `json:"version"`
	Program string `json:"program"`
	Preset  string `json:"preset"`
	Source  string `json:"source"`  // the paper and the table
	Members string `json:"members"` // as they were chosen: simulated, embedded, recorded, or a file's name
	Note    string `json:"note"`    // what a reader must know of the members and the questions
	Cells   []Cell `json:"cells"`

	Blank    []Blank    `json:"blank,omitempty"`    // cells without a run
	Computed []Computed `json:"computed,omitempty"` // cells with figures and without a run
	Readings []Reading  `json:"readings,omitempty"` // cells with figures of other cells' runs
}

// Report derives everything from what is on file, cell by cell.
func (g *Grid) Report() (*report.Grid, error) {
	out := &report.Grid{
		Report: report.Report{Version: report.Version, MembersKind: []string{}, Rounds: []metrics.Round{}, Failures: []report.Failure{}},
		Preset: g.Preset, Source: g.Source, Members: g.Members, Note: g.Note,
	}
	if len(g.Runs) > 0 {
		out.Repeat, out.Seed = g.Runs[0].Repeat, g.Runs[0].Seed
	}
	var tasks []string
	for i, run := range g.Runs {
		r, err := run.Report()
		if err != nil {
			return nil, err
		}
		out.Add(report.NewCell(g.Cells[i].Name, g.Cells[i].Params, r, g.Cells[i].Paper, g.Cells[i].Assumed))
		tasks = append(tasks, run.Task)
	}
	read, err := g.read(out.Cells)
	if err != nil {
		return nil, err
	}
	for _, c := range read {
		out.Add(c)
	}
	for _, b := range g.Blank {
		out.Add(report.NewBlank(b.Name, b.Params, b.Paper, b.Why))
	}
	for _, c := range g.Computed {
		out.Add(report.NewComputed(c.Name, c.Params, c.Figures, 0, c.Paper, c.How))
	}
	slices.Sort(tasks)
	if tasks = slices.Compact(tasks); len(tasks) == 1 {
		out.Task = tasks[0]
	}
	return out, nil
}

// Estimate adds up what the cells cost.
func (g *Grid) Estimate(ctx context.Context) (*Estimate, error) {
	sum := &Estimate{}
	for i, run := range g.Runs {
		e, err := run.Estimate(ctx)
		if err != nil {
			return nil, fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
		sum.add(e)
	}
	return sum, nil
}

func (e *Estimate) add(f *Estimate) {
	e.Questions += f.Questions
	for _, a := range [][2]*Amount{{&e.Low, &f.Low}, {&e.Expected, &f.Expected}, {&e.Worst, &f.Worst}} {
		a[0].Calls += a[1].Calls
		a[0].Prompt += a[1].Prompt
		a[0].Completion += a[1].Completion
		a[0].Money = a[0].Money.Plus(a[1].Money)
		a[0].Cost = a[0].Money.Cost()
	}
}

// Computed is a cell without a run: its figures are a function of its parameters,
// worked out once, when the grid's folder is made, and kept in grid.json. A grid
// that is resumed or moved has them already.
type Computed struct {
	Cell
	How     string          `json:"how"` // what was computed, and of what
	Figures *report.Figures `json:"figures"`

	// Of works the figures out. It is a pure function, its chance seeded. Whatever it
	// depends on is said in Params and How, by which Changes tells two grids apart.
	Of func() (*report.Figures, error) `json:"-"`
}

// compute works out the figures of all computed cells.
func (g *Grid) compute() (err error) {
	for i := range g.Computed {
		c := &g.Computed[i]
		if c.Figures, err = c.Of(); err != nil {
			return fmt.Errorf("cell %s: %w", c.Name, err)
		}
	}
	return nil
}

// changedComputed says whether another grid computes other cells.
func (g *Grid) changedComputed(other *Grid) []string {
	if len(g.Computed) != len(other.Computed) {
		return []string{fmt.Sprintf("computed cells: %d there, %d now", len(g.Computed), len(other.Computed))}
	}
	for i, c := range g.Computed {
		if d := other.Computed[i]; c.Name != d.Name || c.How != d.How || !same(c.Params, d.Params) {
			return []string{fmt.Sprintf("computed cells: %s of %s there, %s of %s now", c.Name, c.How, d.Name, d.How)}
		}
	}
	return nil
}

// same compares parameters as they stand on file.
func same(a, b map[string]any) bool {
	return reflect.DeepEqual(onFile(a), onFile(b))
}

func onFile(params map[string]any) (out map[string]any) {
	b, err := json.Marshal(params)
	if err != nil || json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}

// Reading is a cell without a run of its own: its figures are others of another
// cell's, read anew whenever the grid is reported. So one run shows what would have
// come of it under another rule.
type Reading struct {
	Cell
	How   string            `json:"how"` // what is read of what
	Of    string            `json:"of"`  // the cell with the run
	Rates map[string]string `json:"rates"`
}

// read makes the cells that are read of these.
func (g *Grid) read(cells []report.Cell) (out []report.Cell, err error) {
	byName := map[string]report.Cell{}
	for _, c := range cells {
		byName[c.Cell] = c
	}
	for _, r := range g.Readings {
		from, ok := byName[r.Of]
		if !ok {
			return nil, fmt.Errorf("lab: cell %s is read of %s, which is no cell", r.Name, r.Of)
		}
		f := &report.Figures{Rates: map[string]*metrics.Rate{}}
		for name, of := range r.Rates {
			f.Rates[name] = from.Metrics[of]
		}
		c := report.NewComputed(r.Name, r.Params, f, from.Finished, r.Paper, r.How)
		c.MembersKind, c.Task = from.MembersKind, from.Task
		out = append(out, c)
	}
	return out, nil
}
