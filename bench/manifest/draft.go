package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/computed"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/council/plan"
)

// memberKinds names the kinds of members that a manifest has.
func (m *Manifest) memberKinds() string {
	names := slices.DeleteFunc(Kinds(), func(k string) bool { return m.Members[k] == nil })
	if len(names) == 0 {
		return "the models of the manifest"
	}
	return strings.Join(names, ", ")
}

// Draft prepares the grid of a manifest. It opens the models but asks none.
func (m *Manifest) Draft(o Options) (*bench.Grid, error) {
	grid, err := m.draft(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Experiment, err)
	}
	return grid, nil
}

func (m *Manifest) draft(o Options) (*bench.Grid, error) {
	if o.Members == "" && len(m.Members) > 0 {
		o.Members = simulatedMembers
	}
	if isKind(o.Members) && len(m.Members) == 0 {
		return nil, fmt.Errorf("--members is %s, and the manifest names its own models; give a council file, whose "+
			"models replace those of the same names", o.Members)
	}
	if o.Members == "recorded" && o.Repeat > 1 {
		return nil, fmt.Errorf("recorded members answered every question once: --repeat 1, not %d", o.Repeat)
	}
	cells, err := m.cells(o)
	if err != nil {
		return nil, err
	}
	all := cells
	if cells, err = chosen(cells, o.Only); err != nil {
		return nil, err
	}
	claims, err := m.claimed(all, cells)
	if err != nil {
		return nil, err
	}
	cells = slices.DeleteFunc(cells, func(c *cell) bool { return c.control != "" && !controls(claims, c.name) })
	paper, err := m.Paper.read(m.dir)
	if err != nil {
		return nil, err
	}
	text, err := m.withoutQueries(all)
	if err != nil {
		return nil, err
	}
	d := drafting{manifest: m, options: o, paper: paper, sets: sets{}, work: computed.NewWork()}
	d.grid = bench.GridManifest{Program: o.Program, Preset: m.Experiment, Source: m.Source,
		Members: cmp.Or(o.Members, "of the manifest"), Manifest: text, Budget: m.Budget, Plots: m.Plots,
		Tables: m.Tables, Claims: claims}
	if !o.builtin() {
		d.grid.Members = filepath.Base(o.Members)
	}
	for _, c := range cells {
		if err := d.add(c); err != nil {
			return nil, fmt.Errorf("cell %s: %w", c.name, err)
		}
	}
	return d.finish()
}

// withoutQueries returns the manifest's text as it may be kept and archived: the URLs of models have no query, which
// may contain a key. It fails if an axis has one, because names and tables of cells have the values of axes.
func (m *Manifest) withoutQueries(cells []*cell) (string, error) {
	text := string(m.text)
	for _, c := range cells {
		for _, query := range c.spec.Queries() { // which one goes first does not matter
			for name, value := range c.params {
				if s, _ := value.(string); strings.Contains(s, "?"+query) {
					return "", fmt.Errorf("axes: %s: a URL has a query, which names and tables would show; put the "+
						"query into an environment variable and name that as query_env", name)
				}
			}
			text = strings.ReplaceAll(text, "?"+query, "")
		}
	}
	return text, nil
}

// chosen returns the cells whose names match a pattern. It fails if there are none.
func chosen(cells []*cell, pattern string) (kept []*cell, err error) {
	var names []string
	for _, c := range cells {
		ok, err := filepath.Match(cmp.Or(pattern, "*"), cmp.Or(c.base, c.name))
		if err != nil {
			return nil, fmt.Errorf("the pattern %q of cells: %w", pattern, err)
		}
		if ok {
			kept = append(kept, c)
		}
		if c.base == "" {
			names = append(names, c.name)
		}
	}
	switch {
	case len(cells) == 0:
		return nil, errors.New("only and exclude leave no cell")
	case len(kept) == 0:
		return nil, fmt.Errorf("no cell matches %q%s; %s", pattern, synod.Hint(pattern, names), someOf(names))
	}
	return kept, nil
}

// mostNames is how many cells an error names.
const mostNames = 12

// someOf names the cells, or the first and how to see all.
func someOf(names []string) string {
	if len(names) <= mostNames {
		return "the cells are: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("there are %d cells, such as %s; --dry-run without --cell lists all", len(names),
		strings.Join(names[:mostNames], ", "))
}

// drafting collects the parts of a grid.
type drafting struct {
	manifest *Manifest
	options  Options
	paper    []paperRow
	sets     sets
	work     *computed.Work

	grid  bench.GridManifest
	plans []bench.RunPlan
	notes []string // of all cells
}

func (d *drafting) note(text string) {
	if text = strings.TrimSpace(text); text != "" && !slices.Contains(d.notes, text) {
		d.notes = append(d.notes, text)
	}
}

// add adds a cell to the grid.
func (d *drafting) add(c *cell) error {
	s := &c.settings
	s.Questions = cmp.Or(d.options.N, s.Questions)
	s.Repeat = max(cmp.Or(d.options.Repeat, s.Repeat), 1)
	for _, note := range c.notes {
		d.note(note)
	}
	seed := c.vars["seed"].(uint64)
	of := bench.Cell{Name: c.name, Params: c.params, Assumed: c.assumed, Remark: s.Remark, Control: c.control}
	var q asked
	if s.Compute == nil && s.Task != "" || s.runs() {
		var err error
		if q, err = d.sets.questions(s, d.options, seed); err != nil {
			return err
		}
		if err := d.substituted(c, &q); err != nil {
			return err
		}
		c.params["task"] = q.task
		if s.Needs != "" && s.Blank == "" {
			s.Blank = unfit(&c.spec, s.Task, q.items)
		}
	}
	if len(c.spec.Seats) > 0 {
		c.describe()
		of.Remark = c.remark
	}
	values := maps.Clone(c.vars)
	maps.Copy(values, c.params)
	if c.control == "" {
		of.Paper = figuresOf(d.paper, values)
	} else {
		of.Params["control"] = c.control
	}
	if !s.runs() {
		return d.withoutRun(s, of, seed)
	}
	d.note(q.note)
	d.grid.Cells = append(d.grid.Cells, of)
	d.plans = append(d.plans, bench.RunPlan{
		Program: d.options.Program, Task: q.task, Form: s.Form, Items: q.items, Repeat: q.times * s.Repeat, Seed: seed,
		Spec: c.spec, Env: d.options.Env, Mark: d.options.Mark,
	})
	return nil
}

// withoutRun adds a cell that is blank, is computed, or takes its figures from other cells.
func (d *drafting) withoutRun(s *Settings, of bench.Cell, seed uint64) error {
	switch {
	case s.Blank != "":
		d.grid.Blank = append(d.grid.Blank, bench.Blank{Cell: of, Why: s.Blank})
	case s.Compute != nil:
		how, compute, err := d.work.Figures(s.Compute,
			computed.Trials{Number: s.Questions, Repeat: s.Repeat, Seed: seed})
		if err != nil {
			return fmt.Errorf("compute: %w", err)
		}
		d.grid.Computed = append(d.grid.Computed, bench.Computed{Cell: of, How: how, Of: compute})
	default:
		d.grid.Readings = append(d.grid.Readings, bench.Reading{Cell: of, How: s.Reads.How, Of: s.Reads.Of,
			Rates: s.Reads.Rates})
	}
	return nil
}

// substituted fails if real models would be asked other questions than the manifest says, unless that is wanted. Then
// the grid has no verdicts.
func (d *drafting) substituted(c *cell, q *asked) error {
	of := &c.settings.Answered
	switch others := q.missing != nil || of.Benchmark != "" && of.Path == ""; {
	case !others || !c.asksModels():
		return nil
	case !d.options.Substitute:
		return fmt.Errorf("%w; or ask other questions in their place, without verdicts: --substitute", q.missing)
	}
	d.grid.NoVerdict = "real models were asked other questions than the paper's (--substitute)"
	return nil
}

// asksModels reports whether a seat of the cell has a model that is neither simulated nor recorded.
func (c *cell) asksModels() bool {
	return c.settings.Blank == "" && slices.ContainsFunc(c.spec.Seats, func(s plan.SeatSpec) bool {
		provider := c.spec.Models[s.Model]["provider"]
		return provider != "simulated" && provider != "recorded"
	})
}

// finish drafts the grid.
func (d *drafting) finish() (*bench.Grid, error) {
	m := &d.grid
	if len(d.plans) == 0 {
		m.Members = "none"
	}
	if len(d.plans)+len(m.Computed) == 0 {
		if len(m.Blank) > 0 {
			return nil, fmt.Errorf("none of these cells can be run: %s", m.Blank[0].Why)
		}
		return nil, fmt.Errorf("cell %s takes its figures from cell %s, which must be selected too", m.Readings[0].Name,
			m.Readings[0].Of)
	}
	if d.options.Only == "" { // else a figure may have none of its cells
		if err := checkPlots(m); err != nil {
			return nil, err
		}
	}
	notes := append([]string{strings.TrimSpace(d.manifest.Note)}, d.notes...)
	m.Note = strings.TrimSpace(strings.Join(notes, " "))
	return bench.DraftGrid(*m, d.plans)
}

// describe adds the parameters that follow from the council, where the manifest gives no others.
func (c *cell) describe() {
	set := func(name string, v any) {
		if _, given := c.params[name]; !given {
			c.params[name] = v
		}
	}
	set("protocol", c.spec.Protocol["name"])
	if family, ok := c.spec.Graph["family"]; ok {
		set("graph", family)
	}
	set("f", c.spec.F)
	if rounds, ok := c.spec.Protocol["rounds"]; ok {
		set("rounds", rounds)
	}
	set("exact", c.spec.Exact)
	plan, err := plan.Read(c.spec)
	if err != nil {
		return // the run reports it
	}
	seats := plan.Seats()
	byzantine, weak, labelled := 0, 0, false
	var names []string
	for i, s := range seats {
		labelled = labelled || s.Group != ""
		switch {
		case s.Adversary != "":
			byzantine++
			names = append(names, s.Adversary)
		case slices.Contains(c.placed, i):
			byzantine++
		case s.Group == "weak":
			weak++
		}
	}
	set("n", len(seats))
	set("b", byzantine)
	if labelled {
		set("w", weak)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 0 {
		set("adversary", strings.Join(names, "+"))
	}
	c.remark = strings.TrimSpace(c.settings.Remark + " " + harm(plan))
}

// harm says what the seats of adversaries do to the graph, and which honest members never hear
// one.
func harm(plan *plan.Plan) string {
	h := plan.Harm()
	if h == nil {
		return ""
	}
	return h.String() + "; " + h.Reach()
}

// Model returns a model of the manifest for a kind of members, or that of a council file.
func (m *Manifest) Model(members, name string) (plan.Params, error) {
	o := Options{Members: cmp.Or(members, simulatedMembers)}
	layers, err := m.firstLayers(o)
	if err != nil {
		return nil, err
	}
	var found plan.Params
	for _, l := range layers {
		models, _ := l.tree["models"].(map[string]any)
		if model, ok := models[name].(map[string]any); ok {
			found = model
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s has no model %q; the experiment needs it", o.Members, name)
	}
	return found, nil
}

// checkPlots fails if a table or a figure needs a parameter that no cell has, or if a figure would draw two cells at
// one place.
func checkPlots(m *bench.GridManifest) error {
	cells := slices.DeleteFunc(slices.Clone(m.Cells), func(c bench.Cell) bool { return c.Control != "" })
	for _, c := range m.Computed {
		cells = append(cells, c.Cell)
	}
	for _, c := range m.Readings {
		cells = append(cells, c.Cell)
	}
	known := map[string]bool{}
	for _, c := range cells {
		for name := range c.Params {
			known[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, t := range m.Tables {
		for _, name := range t.Params() {
			if !known[name] {
				return fmt.Errorf("tables: %s: no cell has the parameter %q%s; they have %s", t.Name, name,
					synod.Hint(name, names), strings.Join(names, ", "))
			}
		}
	}
	for _, p := range m.Plots {
		for _, name := range slices.Concat(p.Params(), slices.Collect(maps.Keys(p.Where))) {
			if !known[name] {
				return fmt.Errorf("plots: %s: no cell has the parameter %q%s; they have %s", p.Name, name,
					synod.Hint(name, names), strings.Join(names, ", "))
			}
		}
		if err := checkPlaces(&p, cells); err != nil {
			return fmt.Errorf("plots: %s: %w", p.Name, err)
		}
	}
	return nil
}

// checkPlaces fails if two cells have one place in a figure, or if a cell has a text where its axis needs a number.
func checkPlaces(p *report.PlotSpec, cells []bench.Cell) error {
	drawn := map[string]string{}
	for _, c := range cells {
		place := p.Place(func(name string) string {
			if v, ok := c.Params[name]; ok {
				return fmt.Sprint(v)
			}
			return ""
		})
		if place == "" {
			continue
		}
		for _, name := range p.Numbers() {
			if _, err := strconv.ParseFloat(fmt.Sprint(c.Params[name]), 64); err != nil {
				return fmt.Errorf("kind %s needs a number as x, but %s of cell %s is %v; use kind: bars", p.Kind, name,
					c.Name, c.Params[name])
			}
		}
		if other, twice := drawn[place]; twice && !p.Many() {
			return fmt.Errorf("cells %s and %s would be drawn at one place, %s; add series, panels or where", other,
				c.Name, place)
		}
		drawn[place] = c.Name
	}
	return nil
}
