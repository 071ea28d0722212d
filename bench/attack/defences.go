package attack

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/council/plan"
)

// toggle is a defence that is measured: the council without it if the council has it, else with it.
type toggle struct {
	name    string
	state   string         // in the council with the overlay: on | off
	overlay map[string]any // of a council file
}

// toggles returns the defences that Spec.Defences names; All stands for every one that can be switched in this council.
func (s Spec) toggles(p *plan.Plan) (all []toggle, err error) {
	names, every := s.Defences, slices.Contains(s.Defences, All)
	if every {
		names = nil
		for _, d := range plan.Defences(p) {
			names = append(names, d.Name)
		}
	}
	for _, name := range names {
		overlay, on, err := plan.Toggle(p, name)
		switch {
		case err != nil && every:
			continue // such as co-error where no pair is known
		case err != nil:
			return nil, fmt.Errorf("--defences: %w", err)
		}
		t := toggle{name: name, state: defence.On, overlay: overlay}
		if on {
			t.state = defence.Off
		}
		all = append(all, t)
	}
	return all, nil
}

// asItIs is the parameter "council" of the cells whose council is that of the file.
const asItIs = "as in the file"

// panel returns the parameter "council" of a cell, by which plots have panels. Where several rules choose the seats, it
// names the rule too.
func panel(state string, params map[string]any, places int) string {
	if at := fmt.Sprint(params["seats"]); at != "" && places > 1 {
		return state + ", " + at
	}
	return state
}

// toggled returns the cells once more for each defence, with that defence in its other state. places is the number of
// rules that choose the seats.
func toggled(cells yaml.MapSlice, toggles []toggle, places int) (all yaml.MapSlice) {
	for _, c := range cells {
		if len(toggles) > 0 {
			params := c.Value.(map[string]any)["params"].(map[string]any)
			params["council"] = panel(asItIs, params, places)
		}
	}
	for _, t := range toggles {
		for _, c := range cells {
			overlay := maps.Clone(t.overlay)
			maps.Copy(overlay, c.Value.(map[string]any))
			if learned, ok := overlay["protocol"].(map[string]any); ok { // beside what the defence sets
				own, _ := t.overlay["protocol"].(map[string]any)
				overlay["protocol"] = maps.Clone(learned)
				maps.Copy(overlay["protocol"].(map[string]any), own)
			}
			params := maps.Clone(overlay["params"].(map[string]any))
			params["defence"], params["defence_name"] = t.state, t.name
			params["council"] = panel(t.name+" "+t.state, params, places)
			overlay["params"] = params
			all = append(all, yaml.MapItem{Key: fmt.Sprintf("%s-%s-%s", c.Key, t.name, t.state), Value: overlay})
		}
	}
	return all
}

// DefenceMeasurement is what a council does with a defence in the state that it does not have in the council file,
// without adversaries or under one attack, and what the defence changes.
type DefenceMeasurement struct {
	Adversary string   `json:"adversary"` // "": none
	Members   int      `json:"members"`
	Rule      string   `json:"rule"` // by which the seats were chosen
	Seats     []string `json:"seats"`
	Name      string   `json:"defence_name"`
	Defence   string   `json:"defence"` // the state in this row: on | off

	Capture *metrics.Rate `json:"capture"` // null without adversaries
	CellFigures
	Change DefenceChange `json:"change"`
}

// DefenceChange is what a defence does: the figures with it minus those without it, paired by question.
type DefenceChange struct {
	Capture  *metrics.Rate `json:"capture"`
	Accuracy *metrics.Rate `json:"accuracy"`
	Liveness *metrics.Rate `json:"liveness"`
	// tokens with it over those without; calls where no member counts tokens
	CostFactor *float64 `json:"cost_factor"`
}

// measure adds the rows of the cells in which a defence is toggled.
func (t *Table) measure(g *bench.Grid, r *report.Grid) error {
	base := map[string]int{}
	for i := range r.Cells {
		if of := toggledOf(&r.Cells[i]); of == "" {
			base[r.Cells[i].Cell] = i
		}
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		name := toggledOf(c)
		if name == "" {
			continue
		}
		m := DefenceMeasurement{Name: name, Defence: fmt.Sprint(c.Params["defence"]),
			Adversary: fmt.Sprint(c.Params["adversary"]), Rule: fmt.Sprint(c.Params["seats"]),
			Capture: c.Report.Metrics.Capture, CellFigures: effect(c.Report), Seats: []string{}}
		for _, s := range c.Report.Seats {
			if s.Adversary != "" {
				m.Seats = append(m.Seats, s.ID)
			}
		}
		m.Members = len(m.Seats)
		of, ok := base[strings.TrimSuffix(c.Cell, fmt.Sprintf("-%s-%s", name, m.Defence))]
		if !ok {
			return errNoAttack
		}
		if err := m.compare(g.Runs[i], g.Runs[of], effect(r.Cells[of].Report)); err != nil {
			return err
		}
		t.Defences = append(t.Defences, m)
	}
	return nil
}

// toggledOf returns the defence that a cell toggles; "" if it toggles none.
func toggledOf(c *report.Cell) string {
	name, _ := c.Params["defence_name"].(string)
	return name
}

// compare fills in what the defence changes. kept is the run of the same attack with the council as its file has it.
func (m *DefenceMeasurement) compare(toggled, kept *bench.Run, as CellFigures) error {
	if m.Finished == 0 || as.Finished == 0 {
		return nil
	}
	c, err := bench.Compare(toggled, kept)
	if errors.Is(err, bench.ErrNothingCommon) {
		return nil
	}
	if err != nil {
		return err
	}
	m.Accuracy = c.Pairs.After()
	m.Change = DefenceChange{Capture: c.Capture, Accuracy: c.Decision, Liveness: c.Agreed,
		CostFactor: factorOf(&m.CellFigures, &as)}
	if m.Adversary == "" {
		m.Capture, m.Change.Capture = nil, nil
	}
	if m.Defence == defence.Off {
		x := &m.Change
		x.Capture, x.Accuracy, x.Liveness = negative(x.Capture), negative(x.Accuracy), negative(x.Liveness)
		x.CostFactor = factorOf(&as, &m.CellFigures)
	}
	return nil
}

// factorOf returns what a question of one cell costs over one of another; nil if that is not known.
func factorOf(a, b *CellFigures) *float64 {
	is, was := a.Tokens, b.Tokens
	if was == 0 {
		is, was = a.Calls, b.Calls
	}
	if was == 0 || a.Finished == 0 || b.Finished == 0 {
		return nil
	}
	factor := float64(is) / float64(a.Finished) / (float64(was) / float64(b.Finished))
	return &factor
}
