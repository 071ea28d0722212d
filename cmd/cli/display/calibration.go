package display

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/seating"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
)

// Unmeasured is a model that could not be asked.
type Unmeasured struct {
	Model  string `json:"model"`
	Reason string `json:"reason"`
}

// CalibrationVersion is the version of calibration.json, which is also the JSON of "synod calibrate".
const CalibrationVersion = 1

// Calibration is the result of a calibration.
type Calibration struct {
	Version     int                 `json:"version"`
	Council     string              `json:"council"`
	Task        string              `json:"task"`
	Seed        uint64              `json:"seed"`
	Created     string              `json:"created"`
	Questions   int                 `json:"questions"`
	Finished    int                 `json:"finished"`
	MembersKind []string            `json:"members_kind"`
	Members     []CalibratedModel   `json:"members"`
	Pairs       []seating.Pair      `json:"pairs"`
	Seats       []string            `json:"seats"`           // the models of the council as it is, by seat
	Votes       *metrics.Rate       `json:"effective_votes"` // of these seats; null: not known
	Suggestion  *seating.Suggestion `json:"suggestion"`      // null: see why_none
	WhyNone     string              `json:"why_none,omitempty"`
	Choices     []Choice            `json:"choices"` // what is recommended; empty: there are too few questions
	Unmeasured  []Unmeasured        `json:"unmeasured"`
	Measured    *seating.Measured   `json:"measured"` // from which all figures follow
}

// CalibratedModel is what was measured of a model.
type CalibratedModel struct {
	Model    string           `json:"model"`
	Kind     string           `json:"kind"`
	Served   string           `json:"served,omitempty"`
	Accuracy *metrics.Rate    `json:"accuracy"` // null: it answered no question
	Silent   int              `json:"unreadable"`
	Failed   int              `json:"failed"` // calls that failed; they are no wrong answers
	Latency  *metrics.Latency `json:"latency"`
	USD      *float64         `json:"usd"`   // of a question; null: unknown
	Money    llm.Money        `json:"money"` // of all questions
}

// CalibrationFile is the name of the result in the folder of the run.
const CalibrationFile = "calibration.json"

// maxCalibration bounds the file that is read, in bytes.
const maxCalibration = 64 << 20

// CalibrationDir is the folder in which synod ask looks for the calibrations of a council, one folder a task.
func CalibrationDir(a *app.App, name string) string {
	return filepath.Join(a.Dirs.State, "calibrations", FolderName(name))
}

// FolderName makes a name of a folder from the name of a council or a task.
func FolderName(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return r
		}
		return '-'
	}, name)
	return plain[:min(len(plain), 100)]
}

// ReadCalibration reads the result in a folder.
func ReadCalibration(dir string) (*Calibration, error) {
	path := filepath.Join(dir, CalibrationFile)
	b, err := durable.ReadFile(path, maxCalibration)
	if err != nil {
		return nil, err
	}
	r := &Calibration{}
	if _, err := durable.DecodeSealed(b, r); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w; the synod calibrate command that made it makes it again",
			path, err)
	}
	if r.Version != CalibrationVersion || r.Measured == nil {
		return nil, fmt.Errorf("%s has version %d; this program reads version %d", path, r.Version, CalibrationVersion)
	}
	for _, q := range r.Measured.Asked {
		if len(q.Marks) != len(r.Measured.Columns) {
			return nil, fmt.Errorf("%s: question %q has %d marks for %d members", path, q.ID, len(q.Marks),
				len(r.Measured.Columns))
		}
	}
	return r, nil
}

// Print prints the result as text: models, pairs of models, effective votes, and the suggested council.
func (r *Calibration) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d of %d questions of %s", r.Finished, r.Questions, app.OneLine(r.Task))
	if slices.ContainsFunc(r.MembersKind, func(k string) bool { return k != string(llm.Endpoint) }) {
		fmt.Fprintf(w, " · members: %s", strings.Join(r.MembersKind, ", "))
	}
	fmt.Fprint(w, "\n\n")
	t := table.Table{Head: []string{"model", "kind", "right, %", "95 %", "N", "unreadable", "failed", "median s",
		"p95 s", "USD a question"}, Align: "llrrrrrrrr"}
	for _, m := range r.Members {
		share, interval, n := "–", "–", 0
		if m.Accuracy != nil {
			share, interval, n = inPercent(m.Accuracy.Value), ends(m.Accuracy, inPercent), m.Accuracy.N
		}
		median, p95, usd := "–", "–", "unknown"
		if m.Latency != nil {
			median, p95 = fmt.Sprintf("%.2f", m.Latency.Median), fmt.Sprintf("%.2f", m.Latency.P95)
		}
		if m.Kind != string(llm.Endpoint) {
			usd = "0"
		} else if m.USD != nil {
			usd = fmt.Sprintf("%.6f", *m.USD)
		}
		t.Add(app.OneLine(m.Model), m.Kind, share, interval, n, m.Silent, m.Failed, median, p95, usd)
	}
	if err := t.Write(w, "text"); err != nil {
		return err
	}
	for _, u := range r.Unmeasured {
		fmt.Fprintf(w, "%s was not measured: %s\n", app.OneLine(u.Model), app.OneLine(u.Reason))
	}
	if err := r.printPairs(w); err != nil {
		return err
	}
	app.PrintLine(w, "\neffective votes: "+VotesText(r.Votes, len(r.Seats)))
	r.printSuggestion(w)
	r.printChoices(w)
	return nil
}

func (r *Calibration) printPairs(w io.Writer) error {
	if len(r.Pairs) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := table.Table{Head: []string{"errors of", "and", "both wrong", "of", "correlation", "95 %"}, Align: "llrrrr"}
	for _, p := range r.Pairs {
		if p.Questions == 0 {
			continue
		}
		rho, interval := "–", "–"
		if c := p.Correlation; c != nil {
			within := metrics.Rate{Low: max(c.Low, -1), High: min(c.High, 1)}
			rho, interval = decimals(c.Value), ends(&within, decimals)
		}
		other := app.OneLine(p.B)
		if p.A == p.B {
			other = "its copy"
		}
		t.Add(app.OneLine(p.A), other, p.BothWrong, p.Questions, rho, interval)
	}
	return t.Write(w, "text")
}

func (r *Calibration) printSuggestion(w io.Writer) {
	s := r.Suggestion
	if s == nil {
		fmt.Fprintf(w, "no suggestion: %s\n", r.WhyNone)
		return
	}
	var names []string
	for _, name := range s.Models {
		names = append(names, app.OneLine(name))
	}
	fmt.Fprintf(w, "\nsuggested: %s · one seat each, F=%d on the complete graph\n", strings.Join(names, ", "), s.F)
	fmt.Fprintf(w, "  more than half right: %s %% of %d questions, each decided by those whom the rule chooses by "+
		"other questions\n  (95 %% %s); %s %% for these models, which is too high, because they were chosen by it\n",
		inPercent(s.HeldOut.Value), s.HeldOut.N, ends(s.HeldOut, inPercent), inPercent(s.Right.Value))
	fmt.Fprintf(w, "  effective votes: %s\n", VotesText(s.Votes, len(s.Models)))
	for _, c := range s.Against {
		fmt.Fprintf(w, "  against %s (%s %%): %+.1f points (95 %% %s), p=%.2g: %s\n", c.With, inPercent(c.Right.Value),
			100*c.Difference.Value, ends(c.Difference, inPercent), c.P, meaning(&c))
	}
	if s.Against[0].Difference.Value < 0 {
		fmt.Fprintln(w, "  on these questions one model alone is right more often: such a council protects against "+
			"members that are\n  faulty or hostile, and does not answer better")
	}
}

// meaning says whether a difference was shown, and what would show it.
func meaning(c *seating.Comparison) string {
	switch {
	case c.Needed == 0:
		return "no difference"
	case c.P < 0.05:
		return "shown"
	}
	return fmt.Sprintf("not shown; about %d questions would show a difference of this size (power 80 %%)", c.Needed)
}

func inPercent(v float64) string { return fmt.Sprintf("%.1f", 100*v) }

func decimals(v float64) string { return fmt.Sprintf("%.2f", v) }

func ends(r *metrics.Rate, as func(float64) string) string { return as(r.Low) + " to " + as(r.High) }

// VotesText describes effective votes of a number of seats.
func VotesText(r *metrics.Rate, seats int) string {
	if r == nil {
		return "not known: a member was not measured, or there were too few errors"
	}
	return fmt.Sprintf("%.1f of %d (95 %% %.1f to %.1f, %d questions)", r.Value, seats, r.Low, r.High, r.N)
}

// KnownVotes returns the effective votes of a council's seats from its latest calibration: nil if there is none, or if
// a member has changed since.
func KnownVotes(a *app.App, name string, seats []plan.Seat) (votes *metrics.Rate, from *Calibration) {
	all, _ := filepath.Glob(filepath.Join(CalibrationDir(a, name), "*", CalibrationFile)) // the pattern is a valid one
	for _, path := range all {
		r, err := ReadCalibration(filepath.Dir(path))
		if err != nil || from != nil && from.Created >= r.Created { // synod calibrate reports a broken one
			continue
		}
		if v := r.votesOf(seats); v != nil {
			votes, from = v, r
		}
	}
	return votes, from
}

// votesOf returns the effective votes of seats; nil if one has a member that was not measured.
func (r *Calibration) votesOf(seats []plan.Seat) *metrics.Rate {
	var models []string
	for _, s := range seats {
		same := func(c seating.Column) bool { return c.Model == s.Model && c.Identity == s.Identity }
		if s.Adversary != "" || !slices.ContainsFunc(r.Measured.Columns, same) {
			return nil
		}
		models = append(models, s.Model)
	}
	return r.Measured.Votes(models)
}
