package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"time"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/durable"
)

// Grid is a folder of runs that are reported together. Its results.db has the grid's manifest, with the cells, their
// parameters and the figures of a paper, and the run of every cell. FOLDER/cells/NAME names the run of a cell,
// for Open and in commands; there is no such folder.
//
// The folder is created atomically. Like a run, a grid may be killed at any time,
// resumed and moved.
type Grid struct {
	GridManifest
	Runs []*Run // by cell
	dir  string
}

// Dir returns the folder of the grid; "" before Create.
func (g *Grid) Dir() string { return g.dir }

// DraftGrid prepares a grid without writing anything. There is one plan for each cell.
func DraftGrid(m GridManifest, plans []RunPlan) (*Grid, error) {
	g := &Grid{GridManifest: m}
	g.Version = GridVersion
	if len(plans) != len(m.Cells) || len(plans)+len(m.Computed) == 0 {
		return nil, fmt.Errorf("bench: a grid of %d cells and %d plans", len(m.Cells), len(plans))
	}
	if err := m.checkNames(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	for i, c := range m.Cells {
		if plans[i].Spec.Trust.Learn {
			return nil, fmt.Errorf("cell %s: trust.learn is true: cells would learn from one another in the order in "+
				"which they end, so figures would depend on it; leave it out, and run synod operate trust "+
				"learn FOLDER when the experiment is over", c.Name)
		}
		run, err := Draft(plans[i])
		if err != nil {
			return nil, fmt.Errorf("cell %s: %w", c.Name, err)
		}
		g.Runs = append(g.Runs, run)
	}
	return g, nil
}

// cellName matches valid names of cells, which are also names of folders.
var cellName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,99}$`)

// checkNames fails if the experiment, a cell or a figure has an invalid name, or if two cells have one name.
func (m *GridManifest) checkNames() error {
	var names []string
	for _, c := range m.Cells {
		names = append(names, c.Name)
	}
	for _, c := range m.Computed {
		names = append(names, c.Name)
	}
	for _, c := range m.Readings {
		names = append(names, c.Name)
	}
	for _, c := range m.Blank {
		names = append(names, c.Name)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if !cellName.MatchString(name) || seen[name] {
			return fmt.Errorf("%q is not a valid name of a cell, or two cells have it", name)
		}
		seen[name] = true
	}
	if m.Preset != "" && !cellName.MatchString(m.Preset) {
		return fmt.Errorf("%q is not a valid name of an experiment", m.Preset)
	}
	for _, p := range m.Plots { // their names are names of files
		if err := p.Check(); err != nil {
			return fmt.Errorf("plots: %w", err)
		}
	}
	for _, t := range m.Tables {
		if err := t.Check(); err != nil {
			return fmt.Errorf("tables: %w", err)
		}
	}
	return nil
}

// Create writes the folder of the grid, which must be new or empty. It is written under
// a temporary name and renamed when it is complete.
func (g *Grid) Create(dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return g.occupied(dir)
	}
	dir = filepath.Clean(dir)
	base := filepath.Base(dir)
	if base == "." || base == ".." {
		return fmt.Errorf("bench: %s cannot be the folder of a grid; use a subfolder", dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	clearKilled(filepath.Join(filepath.Dir(dir), "."+base+".new-*"))
	making, err := os.MkdirTemp(filepath.Dir(dir), "."+base+".new-")
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer os.RemoveAll(making) // does nothing after the rename
	held, err := lock(making)
	if err != nil {
		return err
	}
	defer held.Close()
	if err := g.write(making); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 { // Rename replaces no folder
		if err := os.Remove(dir); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
	}
	if err := os.Rename(making, dir); err != nil {
		if entries, _ := os.ReadDir(dir); len(entries) > 0 { // another process was faster
			return g.occupied(dir)
		}
		return fmt.Errorf("bench: %w", err)
	}
	if err := durable.SyncDir(filepath.Dir(dir)); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	g.place(dir)
	return nil
}

// killedAfter is how old what a creation has left must be, so that one that has not locked its folder yet is not met.
const killedAfter = time.Minute

// clearKilled removes the folders of creations that were killed, which nobody has locked. What cannot be removed is in
// nobody's way.
func clearKilled(pattern string) {
	left, _ := filepath.Glob(pattern) // a name with special characters leaves them there
	for _, dir := range left {
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < killedAfter {
			continue
		}
		if held, err := lock(dir); err == nil {
			_ = os.RemoveAll(dir)
			_ = held.Close()
		}
	}
}

// place says where the runs of the grid are.
func (g *Grid) place(dir string) {
	g.dir = dir
	for i, run := range g.Runs {
		run.dir, run.name = dir, g.Cells[i].Name
	}
}

// write writes the store of the grid to a folder.
func (g *Grid) write(dir string) error {
	cells := make([]*store.Cell, len(g.Runs))
	for i, run := range g.Runs {
		c, err := run.draftCell(g.Cells[i].Name)
		if err != nil {
			return fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
		cells[i], g.Cells[i].Hash = c, c.Hash
	}
	manifest, err := seal(g.GridManifest, nil)
	if err != nil {
		return err
	}
	if err := store.Create(dir, map[string]string{gridKey: string(manifest)}, cells); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for i, c := range cells {
		g.Runs[i].cell, g.Runs[i].sealed = c.ID, c.Manifest
	}
	return nil
}

// occupied describes the content of a folder that is not empty.
func (g *Grid) occupied(dir string) error {
	e := &OccupiedError{Dir: dir}
	if old, err := OpenGrid(dir); err == nil {
		e.Run, e.Changes = true, old.Changes(g)
	} else if _, err := Open(dir); err == nil {
		e.Run, e.Changes = true, []string{"it is a single run, not the grid " + g.Preset}
	}
	return e
}

// Changes describes the differences of other, the new grid, to g, the existing one.
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
	cells := map[string]int{} // number of cells with a change
	for i, run := range g.Runs {
		for _, change := range run.Changes(&other.Runs[i].RunManifest) {
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

// OpenGrid reads the folder of a grid.
func OpenGrid(dir string) (*Grid, error) {
	s, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	g, err := readGrid(s)
	if err != nil {
		return nil, err
	}
	cells, err := s.Cells()
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	lists := map[string][]task.Keyed{}
	for _, c := range g.Cells {
		at := slices.IndexFunc(cells, func(of store.Cell) bool { return of.Name == c.Name })
		if at < 0 || cells[at].Hash != c.Hash {
			return nil, fmt.Errorf("bench: %s: the table cells does not match the manifest of the grid: %w",
				filepath.Join(dir, store.File), journal.ErrChanged)
		}
		run, err := openRun(s, &cells[at], lists)
		if err != nil {
			return nil, err
		}
		g.Runs = append(g.Runs, run)
	}
	return g, nil
}

// IsGrid reports whether a folder has a grid, and not a single run or something else.
func IsGrid(dir string) bool {
	s, err := openStore(dir)
	if err != nil {
		return false
	}
	defer s.Close()
	text, err := s.Meta(gridKey)
	return err == nil && text != ""
}

// readGrid reads the manifest of a grid.
func readGrid(s *store.Store) (*Grid, error) {
	text, err := s.Meta(gridKey)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	if text == "" {
		return nil, fmt.Errorf("bench: %s: %w", s.Dir(), ErrNoRun)
	}
	path := filepath.Join(s.Dir(), store.File)
	g := &Grid{dir: s.Dir()}
	if err := checkVersion([]byte(text), GridVersion); err != nil {
		return nil, fmt.Errorf("bench: %s: %w", path, err)
	}
	if _, _, err := unseal([]byte(text), &g.GridManifest); err != nil {
		return nil, fmt.Errorf("bench: %s: the manifest of the grid: %w", path, err)
	}
	if err := g.checkNames(); err != nil {
		return nil, fmt.Errorf("bench: %s: %w", path, err)
	}
	return g, nil
}

// Work computes the cells without a run, and then works on one cell after another, each like Run.Work.
func (g *Grid) Work(ctx context.Context, o Options) (sum Progress, err error) {
	w, err := g.Write()
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := g.compute(ctx, w, o.Progress); err != nil {
		return sum, err
	}
	total := 0
	for _, run := range g.Runs {
		total += run.total()
	}
	if o.meter, err = w.meter(g.Budget); err != nil {
		return sum, err
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
		p, err := run.work(ctx, o, w)
		before = before.and(p)
		if err != nil {
			return before, fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
	}
	return before, nil
}

// and returns p plus the progress of one cell.
func (p Progress) and(cell Progress) Progress {
	p.Finished += cell.Finished
	p.Failed += cell.Failed
	p.Now += cell.Now
	p.Calls += cell.Calls
	p.Again, p.Waiting = cell.Again, cell.Waiting
	return p
}

// GridVersion is the version of a grid's manifest. OpenGrid fails for any other one.
const GridVersion = 3

// Cell is one cell of a grid: its parameters and the figures of a paper.
type Cell struct {
	Name   string                   `json:"cell"` // as in FOLDER/cells/NAME
	Params map[string]any           `json:"params"`
	Paper  map[string]report.Figure `json:"paper"` // by metric; empty if the paper has no such cell
	// figures that the experiment was built to have, with the reasons
	Assumed report.Assumptions `json:"assumed,omitempty"`
	Remark  string             `json:"remark,omitempty"`  // what readers must know about this cell
	Hash    string             `json:"hash,omitempty"`    // of its run; see Run.Hash
	Control string             `json:"control,omitempty"` // name of the control of claims that the cell is only for
}

// Blank is a cell of the paper that cannot be run with the chosen members.
type Blank struct {
	Cell
	Why string `json:"why"` // why, and what would be needed
}

// GridManifest describes a grid. It is stored in results.db.
type GridManifest struct {
	Version int    `json:"version"`
	Program string `json:"program"`
	Preset  string `json:"preset"`
	Source  string `json:"source"`  // paper and table
	Members string `json:"members"` // simulated, embedded, recorded, or the name of a council file
	Note    string `json:"note"`    // what readers must know about the members and the questions
	Cells   []Cell `json:"cells"`

	Blank    []Blank    `json:"blank,omitempty"`    // cells without a run
	Computed []Computed `json:"computed,omitempty"` // cells whose figures are computed without a run
	Readings []Reading  `json:"readings,omitempty"` // cells whose figures are taken from runs of other cells

	Manifest string             `json:"manifest,omitempty"` // the text that the grid was made from
	Budget   Budget             `json:"budget,omitzero"`
	Plots    []report.PlotSpec  `json:"plots,omitempty"`  // figures beside those that every report has
	Tables   []report.TableSpec `json:"tables,omitempty"` // tables in the layout of the paper

	Claims    []report.PaperClaim `json:"claims,omitempty"`     // of the paper's text
	NoVerdict string              `json:"no_verdict,omitempty"` // why nothing is compared with the paper; "": it is
}

// Report computes the reports of all cells from the files of the grid.
func (g *Grid) Report() (*report.Grid, error) {
	out := &report.Grid{
		Report: report.Report{Version: report.Version, MembersKind: []string{}, Rounds: []metrics.Round{},
			Failures: []report.Failure{}},
		Preset: g.Preset, Source: g.Source, Members: g.Members, Note: g.Note, Specs: g.Plots, Tables: g.Tables,
		NoVerdict: g.NoVerdict,
	}
	if len(g.Runs) > 0 {
		out.Repeat, out.Seed = g.Runs[0].Repeat, g.Runs[0].Seed
	}
	runs, err := g.reports()
	if err != nil {
		return nil, err
	}
	var tasks []string
	for i, run := range g.Runs {
		tasks = append(tasks, run.Task)
		if g.Cells[i].Control != "" {
			out.AddControl(runs[i])
		} else {
			out.Add(runs[i])
		}
	}
	for _, c := range g.Computed {
		out.Add(report.NewComputed(c.Name, c.Params, c.Figures, 0, c.Paper, c.How, c.Assumed))
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
	slices.Sort(tasks)
	if tasks = slices.Compact(tasks); len(tasks) == 1 {
		out.Task = tasks[0]
	}
	out.Judge(g.Claims)
	return out, nil
}

// Reported returns the run of a cell of the report, by its index; nil if it has none. Cells with runs come first, and
// controls are not among them.
func (g *Grid) Reported(cell int) *Run {
	if cell >= len(g.Runs) || g.Cells[cell].Control != "" {
		return nil
	}
	return g.Runs[cell]
}

// reports returns the reports of the cells with runs.
func (g *Grid) reports() ([]report.Cell, error) {
	if len(g.Runs) == 0 {
		return nil, nil
	}
	s, err := openStore(g.dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all := make([]report.Cell, len(g.Runs))
	for i, run := range g.Runs {
		x, err := readFrom(run, s)
		if err != nil {
			return nil, err
		}
		e := newEach(x, g.Claims)
		r, err := x.summarize(e.add)
		if err != nil {
			return nil, err
		}
		c := &g.Cells[i]
		all[i] = report.NewCell(c.Name, c.Params, r, c.Paper, c.Assumed)
		if all[i].Remark = c.Remark; g.NoVerdict != "" {
			clear(all[i].Verdict)
		}
		all[i].ByQuestion(e.values())
	}
	return all, nil
}

// Estimate returns the sum of the estimates of all cells.
func (g *Grid) Estimate(ctx context.Context) (*CostEstimate, error) {
	sum := &CostEstimate{}
	for i, run := range g.Runs {
		e, err := run.Estimate(ctx)
		if err != nil {
			return nil, fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
		sum.add(e)
	}
	return sum, nil
}

func (e *CostEstimate) add(f *CostEstimate) {
	e.Questions += f.Questions
	for _, a := range [][2]*Amount{{&e.Low, &f.Low}, {&e.Expected, &f.Expected}, {&e.Worst, &f.Worst}} {
		a[0].Calls += a[1].Calls
		a[0].Prompt += a[1].Prompt
		a[0].Completion += a[1].Completion
		a[0].Money = a[0].Money.Plus(a[1].Money)
		a[0].Cost = a[0].Money.Cost()
	}
}

// same reports whether two sets of parameters are equal when encoded as JSON.
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

// Reading is a cell without a run of its own. Its figures are taken from the run of
// another cell whenever the grid is reported, so that one run can show what another rule
// would decide. With a pattern in Of they are pooled over the runs of several cells, as a paper
// does that prints one figure for several conditions.
type Reading struct {
	Cell
	How   string            `json:"how"` // description of what is taken from where
	Of    string            `json:"of"`  // name of the cell with the run, or a pattern of names with *
	Rates map[string]string `json:"rates"`
}

// read returns the cells whose figures are taken from the given ones.
func (g *Grid) read(cells []report.Cell) (out []report.Cell, err error) {
	for _, r := range g.Readings {
		var from []report.Cell
		for _, c := range cells {
			if ok, err := path.Match(r.Of, c.Cell); err != nil {
				return nil, fmt.Errorf("bench: cell %s: the pattern %q: %w", r.Name, r.Of, err)
			} else if ok {
				from = append(from, c)
			}
		}
		if len(from) == 0 {
			return nil, fmt.Errorf("bench: cell %s takes its figures from the unknown cell %s", r.Name, r.Of)
		}
		f, finished := &report.Figures{Rates: map[string]*metrics.Rate{}}, 0
		for name, of := range r.Rates {
			f.Rates[name] = pooled(from, of)
		}
		for _, c := range from {
			finished += c.Finished
		}
		c := report.NewComputed(r.Name, r.Params, f, finished, r.Paper, r.How, r.Assumed)
		c.Derive(from, r.Rates)
		out = append(out, c)
	}
	return out, nil
}

// pooled returns a figure of a cell, or the share over all observations of several cells; nil if none has it.
func pooled(cells []report.Cell, name string) *metrics.Rate {
	if len(cells) == 1 {
		return cells[0].Metrics[name]
	}
	hits, n := 0, 0
	for _, c := range cells {
		if r := c.Metrics[name]; r != nil && !r.Count {
			hits, n = hits+int(math.Round(r.Value*float64(r.N))), n+r.N
		}
	}
	if n == 0 {
		return nil
	}
	return metrics.Share(hits, n)
}
