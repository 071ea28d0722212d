package attack

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/adversary"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/plan"
)

// usualHistory is how many questions a council that learns learns from before it is measured.
const usualHistory = 100

// The values of the parameter "phase" of the cells of an attack on a council that learns.
const (
	phaseHistory   = "history"   // every member answers, with the adversary in place, and weights are learned
	phaseAttack    = "attack"    // measured, with the weights of the history
	phaseNew       = "new"       // the same adversary without a history: all weights are equal
	phasePlurality = "plurality" // the same adversary against a plurality
)

// historyOf is the name of the cell with the history of another cell.
func historyOf(cell string) string { return phaseHistory + "-" + cell }

// Learns reports whether the council learns from its members' answers, so that it is attacked by way of its history.
func (s Spec) Learns() (bool, error) {
	t, err := s.target()
	return t.learns, err
}

// Next returns the next experiment of an attack on a council that learns. before is the grid of the last one, whose
// questions are finished; nil: there was none. The first has the history without adversaries. The second has the
// histories with each adversary, who know from the first which member is best. The last has these and what is
// measured on later questions with the weights that each history gives the members; only then is last true.
//
// What the adversaries do in a history and after it are parameters in the cells, as are the weights, so a cell is
// played again without the others.
func (s Spec) Next(before *bench.Grid) (m *manifest.Manifest, last bool, err error) {
	t, err := s.target()
	if err != nil {
		return nil, false, err
	}
	if !t.learns {
		return nil, false, errors.New("the council does not learn")
	}
	l, err := s.learning(t)
	if err != nil {
		return nil, false, err
	}
	if before == nil {
		m, err = s.manifest(t, l.first(), map[string]string{"phase": phaseHistory})
		return m, false, err
	}
	if l.learned, err = learnedIn(before); err != nil {
		return nil, false, err
	}
	if last = len(before.Cells) > 1 || len(l.attacks) == 0; last {
		m, err = l.all()
		return m, true, err
	}
	cells, err := l.histories()
	if err != nil {
		return nil, false, err
	}
	m, err = s.manifest(t, cells, map[string]string{"phase": phaseHistory})
	return m, false, err
}

// Planned returns the last experiment of Next before anything is learned: it has the same cells, which cost as much if
// weights change nothing.
func (s Spec) Planned() (*manifest.Manifest, error) {
	t, err := s.target()
	if err != nil {
		return nil, err
	}
	l, err := s.learning(t)
	if err != nil {
		return nil, err
	}
	l.learned = map[string]map[string]any{historyOf(baseline): {}}
	for _, a := range l.attacks {
		l.learned[historyOf(a.cell())] = map[string]any{}
	}
	return l.all()
}

// Learned returns the parameters of a protocol with what answers say about the seats of a plan.
func Learned(p *plan.Plan, seen []reliability.Observation) map[string]any {
	o := map[string]any{}
	weights, together := plan.Learned(p, seen)
	if len(weights) > 0 {
		o["weights"] = weights
	}
	if len(together) > 0 {
		o["together"] = together
	}
	return o
}

// learnedIn returns what the histories of a grid say, by cell.
func learnedIn(g *bench.Grid) (map[string]map[string]any, error) {
	all := map[string]map[string]any{}
	for i, c := range g.Cells {
		if c.Params["phase"] != phaseHistory {
			continue
		}
		run := g.Runs[i]
		spec, err := run.Spec()
		if err != nil {
			return nil, err
		}
		plan, err := plan.New(spec)
		if err != nil {
			return nil, err
		}
		seen, err := run.Observations(false)
		if err != nil {
			return nil, err
		}
		all[c.Name] = Learned(plan, seen)
	}
	return all, nil
}

// learning returns what the cells are made from.
func (s Spec) learning(t target) (l learning, err error) {
	l = learning{spec: s, target: t, history: cmp.Or(s.History, usualHistory)}
	l.attacks, l.rules, err = s.attacks(t)
	return l, err
}

// learning makes the cells of an attack on a council that learns.
type learning struct {
	spec    Spec
	target  target
	history int // questions
	attacks []placed
	rules   int
	learned map[string]map[string]any // parameters of the protocol, by cell of a history
}

// first returns the history without adversaries.
func (l *learning) first() yaml.MapSlice {
	return yaml.MapSlice{{Key: historyOf(baseline), Value: l.past(map[string]any{
		"params": map[string]any{"adversary": "", "members": 0, "seats": ""}})}}
}

// all returns the experiment that plays every history and then every measured question.
func (l *learning) all() (*manifest.Manifest, error) {
	cells, err := l.histories()
	if err != nil {
		return nil, err
	}
	measured, err := l.measured()
	if err != nil {
		return nil, err
	}
	return l.spec.manifest(l.target, append(cells, measured...), map[string]string{"phase": phaseAttack})
}

// past makes an overlay that of a history, in which every member is asked, as in an audit.
func (l *learning) past(overlay map[string]any) map[string]any {
	overlay["protocol"], overlay["questions"] = map[string]any{"audit": 1}, l.history
	overlay["params"].(map[string]any)["phase"] = phaseHistory
	return overlay
}

// histories returns the histories without and with adversaries.
func (l *learning) histories() (yaml.MapSlice, error) {
	cells := l.first()
	for _, a := range l.attacks {
		given, err := l.given(a, false)
		if err != nil {
			return nil, err
		}
		cells = append(cells, yaml.MapItem{Key: historyOf(a.cell()), Value: l.past(a.overlay(given))})
	}
	return cells, nil
}

// measured returns the baseline and the attacks, each with the weights of its own history, without any, and as a
// plurality.
func (l *learning) measured() (yaml.MapSlice, error) {
	cells := yaml.MapSlice{{Key: baseline, Value: map[string]any{
		"params": map[string]any{"adversary": "", "members": 0, "seats": ""}}}}
	for _, a := range l.attacks {
		given, err := l.given(a, true)
		if err != nil {
			return nil, err
		}
		cells = append(cells, yaml.MapItem{Key: a.cell(), Value: a.overlay(given)})
	}
	var others yaml.MapSlice
	for i, c := range cells {
		overlay, name := c.Value.(map[string]any), c.Key.(string)
		learned, played := l.learned[historyOf(name)]
		if !played {
			return nil, fmt.Errorf("the history of %s was not played", name)
		}
		overlay["skip"] = l.history
		if i > 0 {
			others = append(others, l.other(c, phaseNew, nil), l.other(c, phasePlurality, map[string]any{
				"protocol": map[string]any{"name": "majority"},
				"rule":     map[string]any{"name": string(plan.Plurality)}}))
		}
		if len(learned) > 0 {
			overlay["protocol"] = learned
		}
		overlay["params"].(map[string]any)["phase"] = phaseAttack
		overlay["params"].(map[string]any)["history"] = l.history
	}
	toggles, err := l.spec.toggles(l.target.plan)
	if err != nil {
		return nil, err
	}
	return slices.Concat(cells, others, toggled(cells, toggles, l.rules)), nil
}

// other returns a cell that is compared with an attack.
func (l *learning) other(c yaml.MapItem, phase string, with map[string]any) yaml.MapItem {
	overlay := maps.Clone(c.Value.(map[string]any))
	params := maps.Clone(overlay["params"].(map[string]any))
	params["phase"] = phase
	overlay["params"] = params
	maps.Copy(overlay, with)
	return yaml.MapItem{Key: fmt.Sprintf("%s-%s", c.Key, phase), Value: overlay}
}

// given returns the parameters of an adversary that tell it whether it is measured, and whom to copy.
func (l *learning) given(a placed, measured bool) (map[string]any, error) {
	e, err := adversary.Catalogue.Find(a.name)
	if err != nil || e.Params == nil {
		return nil, err
	}
	given := map[string]any{}
	if slices.ContainsFunc(param.Fields(e.Params()), func(f param.Field) bool { return f.Key == "copies" }) {
		if given["copies"], err = l.best(a); err != nil {
			return nil, err
		}
	}
	SetPhase(a.name, given, measured)
	return given, nil
}

// PhaseKeys are the parameters by which an adversary is told whether the history is over, or still lasts.
var PhaseKeys = []string{"defects", "block"}

// SetPhase sets those of PhaseKeys that an adversary has.
func SetPhase(name string, params map[string]any, over bool) {
	e, err := adversary.Catalogue.Find(name)
	if err != nil || e.Params == nil {
		return
	}
	for _, f := range param.Fields(e.Params()) {
		if slices.Contains(PhaseKeys, f.Key) {
			if params[f.Key] = 0; over {
				params[f.Key] = 1
			}
		}
	}
}

// best returns the seat without the adversary that has the largest weights in the history without adversaries.
func (l *learning) best(a placed) (string, error) {
	k := a.k
	at, err := plan.PlaceAdversaries(l.target.plan.Graph().Built, l.target.plan.Seats(), plan.Adversaries{
		Members: &k, Seats: a.at.seats, Role: a.at.role, Seed: a.at.seed})
	if err != nil {
		return "", err
	}
	best, most := "", -1.0
	for i, s := range l.target.plan.Seats() {
		sum := 0.0
		weights, _ := l.learned[historyOf(baseline)]["weights"].(map[string][]float64)
		for _, w := range weights {
			sum += w[i]
		}
		if sum > most && !slices.Contains(at, i) {
			best, most = s.ID, sum
		}
	}
	return best, nil
}
