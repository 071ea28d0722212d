package bench

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/report/inspectai"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
)

// decision is the name of the only scorer of an exported log, which grades the decision
// of the council.
const decision = "decision"

// Inspect writes the run as a log of Inspect in a format of package inspect. A failed
// question is a sample with an error; an unfinished question has no sample.
func (r *Run) Inspect(w io.Writer, format string) error {
	journals, err := r.read()
	if err != nil {
		return err
	}
	defer journals.close()
	x, err := journals.export()
	if err != nil {
		return err
	}
	log, err := x.log()
	if err != nil {
		return err
	}
	return inspectai.Write(w, format, log, x.samples)
}

// InspectName returns a file name for a log of the run. It begins with a time, because
// Inspect lists only such names.
func (r *Run) InspectName(format string) (string, error) {
	created, err := r.created()
	if err != nil {
		return "", err
	}
	id, err := r.exportID()
	if err != nil {
		return "", err
	}
	name := notPlain.ReplaceAllString(task.WithoutEnding(r.Task), "-")
	return fmt.Sprintf("%s_%.60s_%s%s", created.Format("2006-01-02T15-04-05+00-00"), name, id, format), nil
}

// notPlain matches the characters of a task's name that its file name does not have.
var notPlain = regexp.MustCompile(`[^0-9A-Za-z]`)

// export collects what is needed to write a run as a log.
type export struct {
	*reader
	report  *report.Report
	past    map[job]history
	stopped bool     // the owner interrupted it, and nothing came later
	model   string   // model name of the council, with the kinds of its members
	models  []string // model name of each seat
}

func (r *reader) export() (*export, error) {
	x := &export{reader: r, model: fmt.Sprintf("council/%s (%s)", legible(r.Name), strings.Join(r.kinds(), ", "))}
	for _, s := range r.Seats {
		x.models = append(x.models, string(s.Kind)+"/"+legible(s.Model))
	}
	var err error
	if x.report, err = r.summarize(); err != nil {
		return nil, err
	}
	if x.past, err = r.histories(); err != nil {
		return nil, err
	}
	x.stopped, err = r.interrupted()
	return x, err
}

// log returns the log without its samples.
func (x *export) log() (*inspectai.Log, error) {
	created, err := x.created()
	if err != nil {
		return nil, err
	}
	id, err := x.exportID()
	if err != nil {
		return nil, err
	}
	step := map[string]any{"council": x.Name, "exact": x.Exact, "rule": x.Rule.Name, "support": x.Rule.Support,
		"planned_calls": x.Planned}
	log := &inspectai.Log{
		Version: inspectai.Version, Status: x.status(),
		Eval: inspectai.Eval{
			EvalID: id, RunID: id, TaskID: id, Created: stamp(created), Task: legible(x.Task),
			TaskArgs: map[string]any{"n": x.N, "repeat": x.Repeat, "seed": x.Seed, "form": x.Form},
			Solver:   x.Protocol, SolverArgs: step, Tags: x.kinds(),
			Dataset: inspectai.Dataset{Name: legible(x.Task), Samples: x.N},
			Model:   x.model, ModelRoles: map[string]inspectai.Model{},
			Config:   inspectai.Config{Epochs: x.Repeat, LogSamples: true},
			Packages: map[string]string{}, Scorers: []inspectai.Scorer{{Name: decision}},
			Metadata: map[string]any{"members_kind": x.kinds(), "council": x.RunManifest.Council, "seats": x.Seats,
				"digest": x.report.Digest},
		},
		Plan:    inspectai.Plan{Name: "plan", Steps: []inspectai.Step{{Solver: x.Protocol, Params: step}}},
		Results: x.results(),
	}
	if name, version, ok := strings.Cut(x.Program, " "); ok {
		log.Eval.Packages[name] = version
	}
	for _, it := range x.Run.Items {
		log.Eval.Dataset.SampleIDs = append(log.Eval.Dataset.SampleIDs, it.Question.ID)
	}
	for i, s := range x.Seats {
		log.Eval.ModelRoles[s.Model] = inspectai.Model{Model: x.models[i],
			Args: map[string]any{"identity": s.Identity, "kind": s.Kind}}
	}
	if log.Status == inspectai.Failed {
		log.Error = &inspectai.Error{Message: fmt.Sprintf("%d of %d questions failed", x.report.Failed,
			x.report.Questions)}
	}
	return log, nil
}

// results returns the figures of the report. A missing figure is left out, because the
// format has no null there. A sample without a score is neither right nor wrong.
func (x *export) results() *inspectai.Results {
	logged := x.report.Finished + x.report.Failed
	f := inspectai.Figures{
		Name: decision, Scorer: decision, Unscored: logged, Metrics: map[string]inspectai.Metric{},
		Metadata: map[string]any{"members_kind": x.kinds(), "ties": x.report.Ties,
			"unscored_answers": x.report.Unscored, "calls": x.report.Calls, "unfinished": x.report.Unfinished},
	}
	for _, g := range x.report.Rates() {
		if g.Rate == nil {
			continue
		}
		f.Metrics[g.Name] = inspectai.Metric{Name: g.Name, Value: g.Rate.Value,
			Metadata: map[string]any{"n": g.Rate.N, "low": g.Rate.Low, "high": g.Rate.High, "says": g.Label}}
		if g.Rate == x.report.Metrics.Decision {
			f.Scored, f.Unscored = g.Rate.N, logged-g.Rate.N
		}
	}
	return &inspectai.Results{Total: x.report.Questions, Completed: x.report.Finished, Logged: logged,
		Scores: []inspectai.Figures{f}}
}

// status is error where all has been tried and something failed. A run that is not
// finished was cancelled if the last that is known of it is that its owner
// interrupted it; else it is going on or was killed.
func (x *export) status() string {
	if x.report.Unfinished > 0 {
		if x.stopped {
			return inspectai.Cancelled
		}
		return inspectai.Started
	}
	if x.report.Failed > 0 {
		return inspectai.Failed
	}
	return inspectai.Success
}

// last is the last attempt at a question, as far as there is one.
func (x *export) last(j job) store.Attempt {
	return x.past[j].last
}

// created returns when the run was created: for old folders without this time, when
// the database was written.
func (r *Run) created() (time.Time, error) {
	if !r.Created.IsZero() {
		return r.Created.UTC(), nil
	}
	info, err := os.Stat(filepath.Join(r.dir, store.File))
	if err != nil {
		return time.Time{}, fmt.Errorf("bench: %w", err)
	}
	return info.ModTime().UTC(), nil
}

// exportID returns an id of the run that does not depend on the place of its folder.
func (m *RunManifest) exportID() (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("bench: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:11]), nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000+00:00")
}

// legible removes control characters from a name, because Inspect prints it on a
// terminal.
func legible(s string) string {
	return cmp.Or(strings.Map(func(c rune) rune {
		if unicode.In(c, unicode.C, unicode.Zl, unicode.Zp) {
			return -1
		}
		return c
	}, s), "unnamed")
}
