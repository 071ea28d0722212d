package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// cell is a cell of the grid before its questions are read.
type cell struct {
	name     string
	vars     map[string]any // axes, parameters, members, and what the command line gives
	params   map[string]any // of reports
	layers   []layer
	settings Settings
	spec     plan.Spec
	assumed  report.Assumptions
	notes    []string // of the overlays
	remark   string
	placed   []int // the seats of settings.Replace

	of            combination
	control, base string // of an extra cell: the name of its control and of the cell that it stands in for
}

// cells returns the cells of the manifest with these options, without those that are left out.
func (m *Manifest) cells(o Options) (cells []*cell, err error) {
	if err := m.countCombinations(); err != nil {
		return nil, err
	}
	first, err := m.firstLayers(o)
	if err != nil {
		return nil, err
	}
	last, err := m.lastLayers(o)
	if err != nil {
		return nil, err
	}
	known, used := map[string]bool{}, map[string]bool{}
	for _, of := range combinations(m.axes) {
		c := m.layered(of, o, first, nil, last)
		for name := range c.vars {
			known[name] = true
		}
		if m.leavesOut(c) {
			continue
		}
		if err := c.resolve(m, of, o, used); err != nil {
			return nil, err
		}
		cells = append(cells, c)
	}
	if err := errors.Join(m.checkKnown(known), m.checkUsed(used)); err != nil {
		return cells, err
	}
	twins, err := m.controls(cells, func(base *cell, k *Control) (*cell, error) {
		c := m.layered(base.of, o, first, []layer{{"control " + k.Name, k.Set, m.dir}}, last)
		c.control, c.base = k.Name, base.name
		return c, c.resolve(m, base.of, o, used)
	})
	return append(cells, twins...), err
}

// layered returns a cell with its layers and variables. between are those before the ones of the command line.
func (m *Manifest) layered(of combination, o Options, first, between, last []layer) *cell {
	c := &cell{vars: map[string]any{"members": o.kind()}, params: map[string]any{}, of: of}
	for _, l := range first {
		c.add(l)
	}
	for i, v := range of {
		c.take(&m.axes[i], v, m.dir)
	}
	for i := range m.Cases {
		if meets(m.Cases[i].Where, c.vars) {
			c.add(layer{fmt.Sprintf("cases[%d]", i), m.Cases[i].Set, m.dir})
		}
	}
	for _, l := range slices.Concat(between, last) {
		c.add(l)
	}
	if _, attacked := c.vars[adversaryAxis]; attacked {
		c.vars[admitted] = c.admits()
	}
	return c
}

// firstLayers are the overlays before the axes.
func (m *Manifest) firstLayers(o Options) (all []layer, err error) {
	all = []layer{{"base", m.Base, m.dir}}
	if len(m.Members) > 0 && o.builtin() {
		chosen, ok := m.Members[o.Members]
		if !ok {
			return nil, fmt.Errorf("the experiment has no %s members; use %s, or --members FILE with its models",
				o.Members, m.memberKinds())
		}
		all = append(all, layer{"members." + o.Members, chosen, m.dir})
	}
	if !o.builtin() {
		file, err := plan.Load(o.Members)
		if err != nil {
			return nil, fmt.Errorf("members are %q, which is none of %s and not a council file: %w", o.Members,
				m.memberKinds(), err)
		}
		if m.embeds(file) { // its replies need the settings of embedded members
			rest := maps.Clone(m.Members["embedded"])
			delete(rest, "models")
			all = append(all, layer{"members.embedded", rest, m.dir})
		}
		models := map[string]any{}
		for name, model := range file.Models {
			models[name] = map[string]any(model)
		}
		for name, other := range m.instead() {
			if model, ok := models[other]; ok && models[name] == nil {
				models[name] = model
			}
		}
		all = append(all, layer{"models of " + o.Members, map[string]any{"models": models}, ""},
			layer{"members.file", m.Members[fileMembers], m.dir})
	}
	return all, nil
}

// instead returns the models that may take the place of others which a file of members lacks.
func (m *Manifest) instead() map[string]string {
	all := map[string]string{}
	of, _ := m.Members[fileMembers]["instead"].(map[string]any)
	for name, other := range of {
		all[name] = fmt.Sprint(other)
	}
	return all
}

// embeds reports whether the models of a file that the experiment names are embedded.
func (m *Manifest) embeds(file plan.Spec) bool {
	wanted, _ := m.Members["embedded"]["models"].(map[string]any)
	for name := range wanted {
		if file.Models[name]["provider"] == "embedded" {
			return true
		}
	}
	return false
}

// lastLayers are the overlays after axes and cases: those of the command line.
func (m *Manifest) lastLayers(o Options) (all []layer, err error) {
	if o.Full {
		all = append(all, layer{"full", m.Full, m.dir})
	}
	if len(o.Set) > 0 {
		tree, err := plan.Assign(setLayer, o.Set)
		if err != nil {
			return nil, err
		}
		if err := checkKeys(setLayer, tree); err != nil {
			return nil, err
		}
		dir, err := filepath.Abs(".")
		if err != nil {
			return nil, err
		}
		all = append(all, layer{setLayer, tree, dir})
	}
	return all, nil
}

const setLayer = "--set"

// add adds an overlay to the layers, and its parameters to those of the cell.
func (c *cell) add(l layer) {
	if len(l.tree) == 0 {
		return
	}
	c.layers = append(c.layers, l)
	params, _ := l.tree["params"].(map[string]any)
	for name, v := range params {
		c.params[name], c.vars[name] = v, v
	}
	vars, _ := l.tree["vars"].(map[string]any)
	maps.Copy(c.vars, vars)
	for _, key := range []string{"task", "seed", "questions", "repeat", "f", "exact", "prompts"} {
		if v, ok := l.tree[key]; ok {
			c.vars[key] = v
		}
	}
}

// take adds the value of an axis, whose paths start from a folder.
func (c *cell) take(a *axis, v value, dir string) {
	c.vars[a.name] = v.what
	if _, own := v.overlay["params"]; !own {
		c.params[a.name] = v.what
	}
	c.add(layer{name: "axes." + a.name + "." + v.name, tree: v.overlay, dir: dir})
}

// leavesOut reports whether the conditions of the manifest leave a cell out.
func (m *Manifest) leavesOut(c *cell) bool {
	met := func(conditions []map[string]any) bool {
		return slices.ContainsFunc(conditions, func(w map[string]any) bool { return meets(w, c.vars) })
	}
	return len(m.Only) > 0 && !met(m.Only) || met(m.Exclude)
}

// checkKnown reports conditions on something that no cell has.
func (m *Manifest) checkKnown(known map[string]bool) error {
	names := slices.Sorted(maps.Keys(known))
	var wheres []map[string]any
	for _, c := range m.Cases {
		wheres = append(wheres, c.Where)
	}
	return errors.Join(checkConditions("cases", wheres, names), checkConditions("only", m.Only, names),
		checkConditions("exclude", m.Exclude, names))
}

// checkUsed reports an axis that is only a variable and that nothing uses.
func (m *Manifest) checkUsed(used map[string]bool) error {
	for _, c := range m.Cases {
		for name := range c.Where {
			used[name] = true
		}
	}
	for _, a := range m.axes {
		if a.values[0].overlay == nil && !used[a.name] {
			return fmt.Errorf("axes.%s: this is not a key of an overlay%s, and nothing uses $%s; the keys with short "+
				"names are %s", a.name, synod.Hint(a.name, slices.Concat(councilKeys, settingKeys)), a.name,
				strings.Join(slices.Sorted(maps.Keys(shortAxes)), ", "))
		}
	}
	return nil
}

// resolve gives variables their values, and reads council and settings.
func (c *cell) resolve(m *Manifest, of combination, o Options, used map[string]bool) error {
	c.vars["seed"] = cmp.Or(o.Seed, seedOf(c.vars["seed"]), 1)
	if err := c.setName(m, of, used); err != nil {
		return err
	}
	if c.control != "" {
		c.name = c.control + "." + c.name
	}
	if err := c.merge(o, used); err != nil {
		return fmt.Errorf("cell %s: %w", c.name, err)
	}
	return nil
}

func seedOf(v any) uint64 {
	seed, _ := v.(uint64)
	return seed
}

// setName sets the name of the cell.
func (c *cell) setName(m *Manifest, of combination, used map[string]bool) error {
	if m.Name == "" {
		var parts []string
		for _, v := range of {
			parts = append(parts, v.name)
		}
		c.name = cmp.Or(strings.Join(parts, "-"), m.Experiment)
		return nil
	}
	names := maps.Clone(c.vars)
	for i, v := range of {
		names[m.axes[i].name] = v.name
	}
	text, err := fill(m.Name, names, used)
	if err != nil {
		return fmt.Errorf("name: %w", err)
	}
	c.name = cellPart(text)
	return nil
}

// merge merges the layers into the council and the settings.
func (c *cell) merge(o Options, used map[string]bool) error {
	settings := map[string]any{}
	var councils []plan.Layer
	var overlays []map[string]any
	for _, l := range c.layers {
		filled, err := fill(l.tree, c.vars, used)
		if err == nil {
			filled, err = traced(filled, o)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		l.tree = filled.(map[string]any)
		overlays = append(overlays, l.tree)
		of, err := c.apply(l, settings)
		if err != nil {
			return err
		}
		councils = append(councils, of...)
	}
	if err := param.Decode(settings, &c.settings); err != nil {
		return err
	}
	if err := param.Verify(&c.settings); err != nil {
		return err
	}
	if missing, wanted := absent(overlays); missing != "" && !o.builtin() {
		if c.settings.Absent == "" {
			if other := c.settings.Instead[missing]; other != "" {
				return fmt.Errorf("%s has neither a model %q nor one for all such members, %q", o.Members, missing,
					other)
			}
			return fmt.Errorf("%s has no model %q; the experiment needs models %s", o.Members, missing,
				strings.Join(wanted, " and "))
		}
		c.settings.Blank = c.settings.Absent
	}
	params, err := fill(c.params, c.vars, used)
	if err != nil {
		return fmt.Errorf("params: %w", err)
	}
	c.params = params.(map[string]any)
	return c.settle(councils)
}

// apply adds the settings of an overlay to settings, and returns its layers of a council file: those of the file that
// it names, and its own.
func (c *cell) apply(l layer, settings map[string]any) (councils []plan.Layer, err error) {
	of, own := l.split()
	if file, ok := own["council_file"].(string); ok {
		from, err := plan.File(under(l.dir, file))
		if err != nil {
			return nil, fmt.Errorf("%s: council_file: %w", l.name, err)
		}
		councils = append(councils, from)
	}
	locate(own, l.dir)
	c.assume(own)
	if note, ok := own["note"].(string); ok {
		c.notes = append(c.notes, note)
	}
	mergeTrees(settings, own)
	if len(of) > 0 {
		from, err := plan.Tree(l.name, of, l.dir)
		if err != nil {
			return nil, err
		}
		councils = append(councils, from)
	}
	return councils, nil
}

// settle sets the council of a cell that runs, and, if possible, that of a blank one.
func (c *cell) settle(councils []plan.Layer) error {
	switch {
	case c.settings.runs():
		return c.convene(councils)
	case c.settings.Blank != "":
		why := c.settings.Blank
		if err := c.convene(councils); err != nil { // the council is only described
			c.spec = plan.Spec{}
		}
		c.settings.Blank = why
	}
	return nil
}

// locate puts the folder of an overlay in front of the files that its settings name.
func locate(settings map[string]any, dir string) {
	if file, ok := settings["task"].(string); ok && task.IsFile(file) {
		settings["task"] = under(dir, file)
	}
	if answered, ok := settings["answered"].(map[string]any); ok {
		if p, ok := answered["path"].(string); ok {
			answered["path"] = under(dir, p)
		}
	}
	replace, _ := settings["replace"].(map[string]any)
	seat, _ := replace["seat"].(map[string]any)
	if a, ok := seat["adversary"].(map[string]any); ok {
		if p, ok := a["tape"].(string); ok {
			a["tape"] = under(dir, p)
		}
	}
}

// runs reports whether the cell has a run of its own.
func (s *Settings) runs() bool { return s.Compute == nil && s.Reads.Of == "" && s.Blank == "" }

// assume adds the reasons of an overlay, which replace earlier ones; an empty one removes them.
func (c *cell) assume(settings map[string]any) {
	reasons, _ := settings["assumed"].(map[string]any)
	for _, names := range slices.Sorted(maps.Keys(reasons)) {
		for _, metric := range strings.Fields(names) {
			c.assumed = report.Assume(fmt.Sprint(reasons[names]), metric).And(c.assumed)
		}
	}
	maps.DeleteFunc(c.assumed, func(_, reason string) bool { return reason == "" })
}

// convene makes the council of the cell, with its replaced seats.
func (c *cell) convene(layers []plan.Layer) error {
	spec, origin, err := plan.Merge(layers...)
	if err != nil {
		return err
	}
	if _, named := origin["council"]; !named {
		spec.Council = c.name
	}
	if c.settings.Needs != "" {
		c.settings.Blank = unprobed(&spec)
	}
	if err := seatJudges(&spec, c.settings.Judges); err != nil {
		return fmt.Errorf("judges: %w", err)
	}
	c.spec = spec
	if c.settings.Replace.none() {
		return nil
	}
	plan, err := plan.New(spec)
	if err != nil {
		if c.settings.Blank != "" {
			return nil
		}
		return err
	}
	c.placed, err = c.settings.Replace.places(plan, c.vars["seed"].(uint64))
	if err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	c.spec.Seats, err = c.settings.Replace.seated(plan.Seats(), spec.Seats, c.placed)
	return err
}

// seatJudges sets how the simulated members of a council judge.
func seatJudges(spec *plan.Spec, as llm.Judge) error {
	if as == (llm.Judge{}) {
		return nil
	}
	some := false
	for _, name := range slices.Sorted(maps.Keys(spec.Models)) {
		with, simulated, err := as.In(spec.Models[name])
		if err != nil {
			return fmt.Errorf("model %s: %w", name, err)
		}
		spec.Models[name], some = with, some || simulated
	}
	if !some {
		return errors.New("no member is simulated, and how real models judge cannot be set; reports measure it " +
			"(AUC φ)")
	}
	return nil
}

// absent returns the first model that the seats of some overlays name and that none of them has, and all that
// the seats name.
func absent(overlays []map[string]any) (missing string, wanted []string) {
	models := map[string]bool{}
	for _, o := range overlays {
		of, _ := o["models"].(map[string]any)
		for name := range of {
			models[name] = true
		}
		switch seats := o["seats"].(type) {
		case []any: // replaces the seats so far
			wanted = nil
			for _, s := range seats {
				wanted = append(wanted, modelOf(s))
			}
		case map[string]any: // changes some of them
			for _, s := range seats {
				wanted = append(wanted, modelOf(s))
			}
		}
		replace, _ := o["replace"].(map[string]any)
		wanted = append(wanted, modelOf(replace["seat"]))
	}
	slices.Sort(wanted)
	wanted = slices.DeleteFunc(slices.Compact(wanted), func(name string) bool { return name == "" })
	for _, name := range wanted {
		if !models[name] {
			return name, wanted
		}
	}
	return "", wanted
}

func modelOf(seat any) string {
	keys, _ := seat.(map[string]any)
	name, _ := keys["model"].(string)
	return name
}
