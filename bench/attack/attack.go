// Package attack measures what adversaries do to a council. It plays the questions of a task without adversaries
// and with each of them, as the cells of one grid, and compares every cell with the first.
//
//	m, err := attack.Spec{Council: "council.yaml", Adversaries: []string{"replay"}, Members: []int{1}}.Manifest()
//	grid, err := m.Draft(manifest.Options{})
//	…
//	table, err := attack.Compute(grid)
package attack

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"
)

// Experiment is the name of the grid of an attack.
const Experiment = "attack"

// All stands for every adversary that applies to the protocol of the council.
const All = "all"

// The rules of Spec.Seats that need no list.
const (
	Worst  = "worst"
	Random = "random"
)

// draws is how many times the rule Random is drawn.
const draws = 3

// Spec says which council is attacked, with what, and on which questions.
type Spec struct {
	Council     string   // path of the council file, which must have no adversaries
	Adversaries []string // names of the catalogue, or All; empty: All
	Members     []int    // how many seats an adversary gets; empty: 1
	Seats       []string // rules such as Worst and Random, or ids of seats, which make one list; empty: Worst
	Task        string   // a task or a file of questions; "": the built-in problems
	Questions   int      // 0: all
	Repeat      int      // how often each is asked; 0: once
	Seed        uint64   // 0: 1
	Defences    []string // names of package defence, or All, each of which is measured on and off
	History     int      // questions from which a council that learns learns before it is measured; 0: 100
}

// baseline is the name of the cell without adversaries.
const baseline = "baseline"

// Manifest returns the experiment of the attack on a council that does not learn; Next those on one that does.
func (s Spec) Manifest() (*manifest.Manifest, error) {
	t, err := s.target()
	if err != nil {
		return nil, err
	}
	cells, err := s.cells(t)
	if err != nil {
		return nil, err
	}
	return s.manifest(t, cells, nil)
}

// target is the council that is attacked.
type target struct {
	path   string
	plan   *plan.Plan // without what it has learned
	learns bool
}

// target reads the council.
func (s Spec) target() (t target, err error) {
	if t.path, err = filepath.Abs(s.Council); err != nil {
		return t, err
	}
	spec, err := plan.Load(t.path)
	if err != nil {
		return t, err
	}
	if t.learns = spec.Learns(); t.learns {
		spec.Trust = plan.Trust{}
	}
	if t.plan, err = plan.New(spec); err != nil {
		return t, err
	}
	if err := Honest(t.plan); err != nil {
		return t, fmt.Errorf("%s: %w", s.Council, err)
	}
	return t, nil
}

// manifest returns the experiment of some cells. where are conditions of the cells that plots draw; nil: all.
func (s Spec) manifest(t target, cells yaml.MapSlice, where map[string]string) (*manifest.Manifest, error) {
	base := map[string]any{"council_file": t.path, "task": cmp.Or(s.Task, "builtin")}
	if task.IsFile(s.Task) {
		file, err := filepath.Abs(s.Task)
		if err != nil {
			return nil, err
		}
		base["task"] = file
	}
	for key, n := range map[string]int{"questions": s.Questions, "repeat": s.Repeat, "seed": int(s.Seed)} {
		if n > 0 {
			base[key] = n
		}
	}
	if t.learns {
		base["trust"] = map[string]any{"file": "", "learn": false}
	}
	text, err := yaml.Marshal(yaml.MapSlice{
		{Key: "experiment", Value: Experiment},
		{Key: "source", Value: filepath.Base(t.path)},
		{Key: "summary", Value: "adversaries against " + filepath.Base(t.path)},
		{Key: "base", Value: base},
		{Key: "axes", Value: map[string]any{"attack": cells}},
		{Key: "name", Value: "$attack"},
		{Key: "plots", Value: plots(len(s.Defences) > 0 && where["phase"] != phaseHistory, where)},
	})
	if err != nil {
		return nil, err
	}
	return manifest.Parse(text, filepath.Dir(t.path))
}

// plots are the figures of every attack. Where defences are measured, each state of one has a panel.
func plots(defences bool, where map[string]string) (all []map[string]any) {
	panels := "seats"
	if defences {
		panels = "council"
	}
	for _, p := range [][3]string{{"capture", "Questions captured", "capture"},
		{"decided", "Questions decided", "agreed"}, {"right", "Decisions that are right", "decision_accuracy"}} {
		all = append(all, map[string]any{"name": p[0], "kind": "bars", "title": p[1], "y": p[2], "x": "adversary",
			"series": "members", "panels": panels, "where": where})
	}
	return all
}

// Honest returns an error if a council seats adversaries itself.
func Honest(p *plan.Plan) error {
	for _, s := range p.Seats() {
		if s.Adversary != "" {
			return fmt.Errorf("it seats the adversary %s itself; remove it: the attack is compared with the council "+
				"without adversaries", s.Adversary)
		}
	}
	return nil
}

// cells returns the overlays of the baseline and of all attacks.
func (s Spec) cells(t target) (yaml.MapSlice, error) {
	attacks, places, err := s.attacks(t)
	if err != nil {
		return nil, err
	}
	cells := yaml.MapSlice{{Key: baseline, Value: map[string]any{
		"params": map[string]any{"adversary": "", "members": 0, "seats": ""}}}}
	for _, a := range attacks {
		cells = append(cells, yaml.MapItem{Key: a.cell(), Value: a.overlay(nil)})
	}
	toggles, err := s.toggles(t.plan)
	return append(cells, toggled(cells, toggles, places)...), err
}

// placed is an adversary at k seats of a place.
type placed struct {
	name string
	k    int
	at   place
}

// attacks returns all adversaries at all places, and how many rules choose the seats.
func (s Spec) attacks(t target) (all []placed, rules int, err error) {
	names, err := Names(t.plan, s.Adversaries, t.learns)
	if err != nil {
		return nil, 0, err
	}
	places, err := s.places(t.plan)
	if err != nil {
		return nil, 0, err
	}
	members := s.Members
	if len(members) == 0 {
		members = []int{1}
	}
	for _, name := range names {
		for _, k := range members {
			if err := enough(t.plan, k, places); err != nil {
				return nil, 0, err
			}
			for _, at := range places {
				if k <= at.most {
					all = append(all, placed{name, k, at})
				}
			}
		}
	}
	return all, len(places), nil
}

// Names returns the names of the adversaries that attack: those listed, or all that apply to the protocol of the plan
// if the list is empty or has All. learns says whether the council does (plan.Spec.Learns), which its plan does not
// know. It fails for a name that is unknown, does not sit in a seat, or needs a setting that the council does not have.
func Names(p *plan.Plan, listed []string, learns bool) ([]string, error) {
	if len(listed) == 0 || slices.Contains(listed, All) {
		return Applicable(p, learns), nil
	}
	for _, name := range listed {
		e, err := adversary.Catalogue.Find(name)
		if err != nil {
			return nil, fmt.Errorf("%w; see: synod list adversaries", err)
		}
		if e.Place != adversary.AtSeat {
			what := "at a link: it attacks nodes, not a council in one process"
			if e.Place == adversary.AtFile {
				what = "in a model file: it attacks those who load the file"
			}
			return nil, fmt.Errorf("%s does not sit in a seat but %s; see: synod explain %s", name, what, name)
		}
		if e.Setting != "" && !learns {
			return nil, fmt.Errorf("%s needs %s: it poisons the answers from which weights are learned, and this "+
				"council learns none (example, with protocol cascade: trust: {file: trust.json, learn: true})", name,
				e.Setting)
		}
	}
	return listed, nil
}

// Applicable returns the names of the adversaries that do more than give a wrong answer or none in the protocol of
// a plan. Other names of an adversary are left out, and those that need parameters, or a council that learns if this
// one does not.
func Applicable(p *plan.Plan, learns bool) (names []string) {
	for _, e := range adversary.Seated(learns) {
		if e.Where.Admits(p.Traits()) {
			names = append(names, e.Name)
		}
	}
	return names
}

// LeftOut says which adversaries are not among All, by the traits that the protocol of the council lacks: in it they do
// no more than give a wrong answer or none. "": all are played, or adversaries are listed.
func (s Spec) LeftOut() (string, error) {
	if len(s.Adversaries) > 0 && !slices.Contains(s.Adversaries, All) {
		return "", nil
	}
	t, err := s.target()
	if err != nil {
		return "", err
	}
	lacking, n := map[string][]string{}, 0
	for _, e := range adversary.Seated(t.learns) {
		if traits := t.plan.Traits(); !e.Where.Admits(traits) {
			n++
			lacks := synod.With(e.Where.Lacks(traits)...).String()
			lacking[lacks] = append(lacking[lacks], e.Name)
		}
	}
	parts := make([]string, 0, len(lacking))
	for _, lacks := range slices.Sorted(maps.Keys(lacking)) {
		parts = append(parts, fmt.Sprintf("%s: %s", lacks, strings.Join(lacking[lacks], ", ")))
	}
	if n == 0 {
		return "", nil
	}
	return fmt.Sprintf("%d adversaries are left out, because protocol %v lacks the traits that they attack. %s", n,
		t.plan.Spec().Protocol["name"], strings.Join(parts, "; ")), nil
}

// place is where adversaries sit.
type place struct {
	name  string // part of the name of the cell
	seats any
	seed  uint64 // of rules that draw
	role  string // only seats with this role; "": all
	most  int    // how many seats there are
}

// cell is the name of its cell.
func (a placed) cell() string { return fmt.Sprintf("%s-%d-%s", a.name, a.k, a.at.name) }

// overlay returns the overlay of its cell. given are parameters of the adversary.
func (a placed) overlay(given map[string]any) map[string]any {
	params := map[string]any{"name": a.name}
	maps.Copy(params, given)
	of := map[string]any{"adversary": params, "members": a.k, "seats": a.at.seats, "seed": a.at.seed}
	if a.at.role != "" {
		of["role"] = a.at.role
	}
	return map[string]any{"adversaries": of,
		"params": map[string]any{"adversary": a.name, "members": a.k, "seats": a.at.name}}
}

// enough returns an error if k members cannot be adversaries at any of the places.
func enough(p *plan.Plan, k int, places []place) error {
	n := len(p.Seats())
	switch {
	case k < 1:
		return fmt.Errorf("--members is %d; it must be at least 1", k)
	case k >= n:
		return fmt.Errorf("%d adversaries among %d members; at least one must be honest (example: --members 1)", k, n)
	case slices.ContainsFunc(places, func(at place) bool { return k <= at.most }):
		return nil
	}
	return fmt.Errorf("no role has %d members; list the seats, as in --seats %s", k, strings.Join(ids(p)[:k], ","))
}

// places returns where adversaries sit. Ids of seats make one list. A rule chooses among the members of each role,
// because many attacks do nothing in one of them: who only judges gives no answer, and who answers judges nobody.
func (s Spec) places(p *plan.Plan) (all []place, err error) {
	rules := s.Seats
	if len(rules) == 0 {
		rules = []string{Worst}
	}
	var listed []any
	for _, name := range rules {
		switch {
		case slices.Contains(ids(p), name):
			listed = append(listed, name)
		case name == Random:
			for i := range uint64(draws) {
				all = append(all, byRole(p, place{name: fmt.Sprintf("random%d", i+1), seats: Random,
					seed: max(s.Seed, 1) + i})...)
			}
		case name == Worst:
			all = append(all, byRole(p, place{name: Worst, seats: Worst})...)
		default:
			return nil, fmt.Errorf("--seats has %q%s; it must be worst, random or the id of a seat: %s", name,
				synod.Hint(name, ids(p)), strings.Join(ids(p), ", "))
		}
	}
	if len(listed) > 0 {
		if slices.Max(append(s.Members, 1)) > len(listed) {
			return nil, errors.New("--members is greater than the number of listed --seats")
		}
		all = append(all, place{name: "listed", seats: listed, most: len(listed)})
	}
	return all, nil
}

// byRole returns a place for each role of the council, or the place itself if there is one role.
func byRole(p *plan.Plan, at place) (all []place) {
	in := map[string]int{}
	for _, x := range p.Seats() {
		in[string(x.Role)]++
	}
	for _, role := range slices.Sorted(maps.Keys(in)) {
		of := at
		if of.most = in[role]; len(in) > 1 {
			of.role = role
			of.name += "-" + role
		}
		all = append(all, of)
	}
	return all
}

func ids(p *plan.Plan) (all []string) {
	for _, s := range p.Seats() {
		all = append(all, s.ID)
	}
	return all
}
