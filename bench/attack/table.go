package attack

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// Version is the version of the JSON format of Table.
const Version = 1

// Table is what adversaries did to a council. A figure that does not exist is null.
type Table struct {
	Version     int         `json:"version"`
	Council     string      `json:"council"`
	Protocol    string      `json:"protocol"`
	MembersKind []string    `json:"members_kind"`      // endpoint, embedded, recorded, simulated
	Fooling     string      `json:"fooling,omitempty"` // what fools simulated members, which is an assumption; "": nothing does
	Judging     string      `json:"judging,omitempty"` // how simulated members judge; "": none is simulated
	Questions   int         `json:"questions"`         // of each cell, with repeats
	Baseline    CellFigures `json:"baseline"`
	Attacks     []Attack    `json:"attacks"`

	// Defences are the baseline and the attacks again, each with one defence in the state that the council does not
	// have; [] unless defences are measured.
	Defences []DefenceMeasurement `json:"defences"`
}

// CellFigures is how a council did in one cell.
type CellFigures struct {
	Finished int           `json:"finished"` // questions; others are in no figure
	Accuracy *metrics.Rate `json:"accuracy"` // questions with a right decision, of those with a key
	Liveness *metrics.Rate `json:"liveness"` // questions with a decision
	Calls    int           `json:"calls"`
	Tokens   int           `json:"tokens"`
}

// Attack is one adversary at its seats, compared with the baseline on the questions that both have finished.
type Attack struct {
	Adversary string   `json:"adversary"`
	Members   int      `json:"members"`
	Rule      string   `json:"rule"` // by which the seats were chosen
	Seats     []string `json:"seats"`
	Defence   string   `json:"defence"`      // on: those of the council file
	Name      string   `json:"defence_name"` // "": all of them; single ones are in Table.Defences

	Capture *metrics.Rate `json:"capture"` // questions with a wrong decision that an adversary held
	CellFigures
	AccuracyLost *metrics.Rate `json:"accuracy_lost"` // accuracy of the baseline minus this one, paired by question
	LivenessLost *metrics.Rate `json:"liveness_lost"`
	CostFactor   *float64      `json:"cost_factor"` // tokens over those of the baseline; calls where no member counts tokens
	Evidence     int           `json:"evidence"`    // questions whose record proves that a member signed two values

	// Past compares it with what it does without a history; null: the council does not learn.
	Past *HistoryEffect `json:"past"`
}

// errNoAttack is returned for a grid that another experiment made.
var errNoAttack = errors.New("attack: the folder is a grid of another experiment; make one with: synod attack -c " +
	"FILE -o FOLDER")

// Compute computes the table from the files of a grid.
func Compute(g *bench.Grid) (*Table, error) {
	if g.Preset != Experiment {
		return nil, errNoAttack
	}
	r, err := g.Report()
	if err != nil {
		return nil, err
	}
	t := &Table{Version: Version, MembersKind: r.MembersKind, Attacks: []Attack{}, Defences: []DefenceMeasurement{}}
	var honest *bench.Run
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Cell == baseline {
			honest = g.Runs[i]
			t.Council, t.Protocol, t.Questions, t.Baseline = g.Source, c.Protocol, c.Questions, effect(c.Report)
			if _, err := t.Baseline.grade(honest, honest); err != nil {
				return nil, err
			}
		}
	}
	if honest == nil {
		return nil, errNoAttack
	}
	t.Fooling, t.Judging = fooling(r.Cells), r.Judging()
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Cell == baseline || toggledOf(c) != "" || !measuredIn(c) {
			continue
		}
		a := Attack{Adversary: fmt.Sprint(c.Params["adversary"]), Rule: fmt.Sprint(c.Params["seats"]), Defence: "on",
			Capture: c.Report.Metrics.Capture, CellFigures: effect(c.Report), Evidence: c.Report.Evidence}
		for _, s := range c.Report.Seats {
			if s.Adversary != "" {
				a.Seats = append(a.Seats, s.ID)
			}
		}
		a.Members = len(a.Seats)
		if err := a.compare(g.Runs[i], honest, &t.Baseline); err != nil {
			return nil, err
		}
		if err := a.recall(g, r, i); err != nil {
			return nil, err
		}
		t.Attacks = append(t.Attacks, a)
	}
	return t, t.measure(g, r)
}

// fooling returns what is assumed to fool the simulated members, from the cell that says most: the baseline does not
// say what derivations of adversaries do.
func fooling(cells []report.Cell) (most string) {
	for _, c := range cells {
		var all []string
		for _, s := range c.Report.Seats {
			if s.Fooling != "" && !slices.Contains(all, s.Fooling) {
				all = append(all, s.Fooling)
			}
		}
		if s := strings.Join(all, "; "); len(s) > len(most) {
			most = s
		}
	}
	return most
}

// effect returns the figures of a cell.
func effect(r *report.Report) CellFigures {
	return CellFigures{Finished: r.Finished, Liveness: r.Metrics.Agreed, Calls: r.Calls.Made,
		Tokens: r.Tokens.Prompt + r.Tokens.Completion}
}

// grade fills in the accuracy, and returns the comparison with the baseline; nil if nothing can be compared.
func (e *CellFigures) grade(run, honest *bench.Run) (*report.Compared, error) {
	if e.Finished == 0 {
		return nil, nil
	}
	c, err := bench.Compare(run, honest)
	if errors.Is(err, bench.ErrNothingCommon) {
		return nil, nil
	}
	if err == nil {
		e.Accuracy = c.Pairs.After()
	}
	return c, err
}

// compare fills in what the attack cost.
func (a *Attack) compare(attacked, honest *bench.Run, before *CellFigures) error {
	c, err := a.grade(attacked, honest)
	if c == nil {
		return err
	}
	a.AccuracyLost, a.LivenessLost = negative(c.Decision), negative(c.Agreed)
	a.CostFactor = factorOf(&a.CellFigures, before)
	return nil
}

// negative returns the rate with the other sign.
func negative(r *metrics.Rate) *metrics.Rate {
	if r == nil {
		return nil
	}
	n := *r
	n.Value, n.Low, n.High = 0-r.Value, 0-r.High, 0-r.Low
	return &n
}

// Captured returns the attacks whose capture rate is greater than most, which is a share in [0,1].
func (t *Table) Captured(most float64) (all []Attack) {
	for _, a := range t.Attacks {
		if a.Capture != nil && a.Capture.Value > most {
			all = append(all, a)
		}
	}
	return all
}
