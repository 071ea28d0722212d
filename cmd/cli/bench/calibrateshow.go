package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council/seating"
	"synod.dev/synod/council/trust"
)

// showFlags are the flags of "synod calibrate show".
type showFlags struct {
	source          app.CouncilFlags
	out, aim, svg   string
	trust, feedback string
	asJSON          bool

	trustFile string // with newer graded questions
}

func calibrateShowCommand(a *app.App) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show [TASK|FILE]",
		Short: "Draw how well the probabilities of a calibration hold, and test them with newer labels",
		Long: `Reads what synod calibrate has kept, and asks no model. It prints the reliability diagram of the
recommended council: how often its decisions were right, by the probability that was stated. Every
question is predicted by a fit to other questions. Labels that are newer than the calibration are
tested against the stated probabilities, with a warning if these promise too much: graded questions
that the trust file has learned since, and feedback from a gateway (synod serve labels export).

Without TASK it is the latest calibration of the council.`,
		Example: `  synod calibrate show
  synod calibrate show mine.jsonl -c council.yaml --svg reliability.svg
  synod serve labels export team > labels.jsonl && synod calibrate show -c team.yaml --feedback labels.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.ContainsFunc(aims, func(a recommendation) bool { return a.name == f.aim }) {
				return app.Fail(app.ExitUsage, unknownAim(f.aim))
			}
			if err := f.find(a, args); err != nil {
				return err
			}
			return f.show(cmd)
		},
	}
	f.source.Add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the calibration, where synod calibrate was given one")
	fl.StringVar(&f.aim, "choose", "cheapest", "which recommended council: cheapest, \"most right\" or "+
		"\"withstands one\"")
	fl.StringVar(&f.trust, "trust", "", "trust `file` with newer graded questions (default: the council's, else "+
		"the user's)")
	fl.StringVar(&f.feedback, "feedback", "", "`file` with newer labels that a gateway has exported")
	fl.StringVar(&f.svg, "svg", "", "also draw the diagram into this `file`, as SVG")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// find finds the folder of the calibration and the trust file.
func (f *showFlags) find(a *app.App, args []string) error {
	f.trustFile = a.TrustPath()
	spec, err := f.source.Load(a)
	if err != nil {
		return app.ConfigError(err)
	}
	if spec.Trust.File != "" {
		f.trustFile = spec.Trust.File
	}
	if f.trust != "" {
		f.trustFile = f.trust
	}
	if f.out != "" {
		return nil
	}
	dir := display.CalibrationDir(a, spec.Council)
	if len(args) > 0 {
		f.out = filepath.Join(dir, display.FolderName(task.WithoutEnding(filepath.Base(args[0]))))
		return nil
	}
	if f.out = latest(dir); f.out == "" {
		return app.Fail(app.ExitUsage, fmt.Errorf("the council %s is not calibrated", app.OneLine(spec.Council)),
			"measure it with synod calibrate")
	}
	return nil
}

// latest returns the folder of the latest calibration of a council; "": there is none.
func latest(dir string) (folder string) {
	all, _ := filepath.Glob(filepath.Join(dir, "*", display.CalibrationFile)) // the pattern is a valid one
	created := ""
	for _, path := range all {
		if r, err := display.ReadCalibration(filepath.Dir(path)); err == nil && r.Created > created {
			folder, created = filepath.Dir(path), r.Created
		}
	}
	return folder
}

// show prints what the folder of a calibration says.
func (f *showFlags) show(cmd *cobra.Command) error {
	known, err := display.ReadCalibration(f.out)
	if errors.Is(err, os.ErrNotExist) {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s has no calibration", app.OneLine(f.out)),
			"measure the council with synod calibrate")
	}
	var run *bench.Run
	if err == nil {
		run, err = bench.Open(f.out)
	}
	if err != nil {
		return unreportable(err)
	}
	i := slices.IndexFunc(known.Choices, func(c display.Choice) bool { return c.Aim == f.aim })
	if i < 0 {
		return app.Fail(app.ExitFailure, fmt.Errorf("the calibration recommends no council as %q, so there are no "+
			"probabilities to show", f.aim), fewQuestions())
	}
	s, err := f.shown(known, &known.Choices[i], run)
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if err := f.draw(s); err != nil {
		return err
	}
	if f.asJSON {
		return app.WriteJSON(cmd.OutOrStdout(), s)
	}
	return s.Print(cmd.OutOrStdout())
}

// shown computes the figures of a recommended council.
func (f *showFlags) shown(known *display.Calibration, c *display.Choice, run *bench.Run) (*display.Shown, error) {
	models, questions, err := bench.Labelled(run)
	if err != nil {
		return nil, err
	}
	sample := &seating.Sample{Models: models, Questions: questions}
	tiers, err := tiersOf(c, models)
	if err != nil {
		return nil, err
	}
	s := &display.Shown{Version: display.ShownVersion, Council: known.Council, Task: known.Task,
		Created: known.Created, Aim: c.Aim, Tiers: c.Tiers, P: c.P, F: c.F, Tests: []display.DriftTest{},
		Labels:  []display.LabelSource{{Source: "calibration", From: known.Task, N: len(questions)}},
		Decided: metrics.NewStated(sample.Forecasts(tiers, known.Seed), known.Seed)}
	if err := f.graded(s, run, sample, tiers); err != nil {
		return nil, err
	}
	return s, f.marked(s)
}

// tiersOf returns a recommended council by the places of its models among those that were measured.
func tiersOf(c *display.Choice, models []string) (seating.Tiers, error) {
	t := seating.Tiers{Stop: c.P, F: c.F}
	for _, tier := range c.Tiers {
		var some []int
		for _, m := range tier {
			i := slices.Index(models, m)
			if i < 0 {
				return t, fmt.Errorf("the recommended model %s was not measured; calibrate again", app.OneLine(m))
			}
			some = append(some, i)
		}
		t.Tiers = append(t.Tiers, some)
	}
	if len(t.Tiers) == 0 || slices.ContainsFunc(t.Tiers, func(tier []int) bool { return len(tier) == 0 }) {
		return t, errors.New("the recommended council has a tier without models; calibrate again")
	}
	return t, nil
}

// graded tests the probabilities with graded questions that the trust file has learned since.
func (f *showFlags) graded(s *display.Shown, run *bench.Run, sample *seating.Sample, tiers seating.Tiers) error {
	h, err := trust.Load(f.trustFile)
	if err != nil {
		return err
	}
	if f.trust != "" && len(h.Questions) == 0 {
		return fmt.Errorf("%s has no questions", app.OneLine(f.trust))
	}
	only, seats := sample.Only(tiers)
	newer, err := bench.LabelledSince(run, h, only.Models)
	if err != nil || len(newer) == 0 {
		return err
	}
	var later []metrics.Later
	for _, x := range only.Foretell(seats, newer) {
		later = append(later, metrics.Later{Forecast: x})
	}
	s.Add(display.LabelSource{Source: "graded since", From: f.trustFile, N: len(newer)}, later)
	return nil
}

// marked tests the probabilities with feedback of users that is newer than the calibration.
func (f *showFlags) marked(s *display.Shown) error {
	if f.feedback == "" {
		return nil
	}
	made, err := time.Parse(time.RFC3339, s.Created)
	if err != nil {
		return fmt.Errorf("the calibration has no time: %w", err)
	}
	all, err := trust.ReadMarks(f.feedback)
	if err != nil {
		return err
	}
	newer := slices.DeleteFunc(all, func(m trust.Mark) bool { return m.At.Before(made) })
	s.Add(display.LabelSource{Source: "feedback", From: f.feedback, N: len(newer)}, metrics.Marked(newer))
	return nil
}

// draw writes the diagram into the file that the user wants.
func (f *showFlags) draw(s *display.Shown) error {
	if f.svg == "" {
		return nil
	}
	if s.Decided == nil {
		return app.Fail(app.ExitFailure, errors.New("the council decides none of the questions; there is no diagram"))
	}
	svg, err := report.ReliabilityDiagram("Right answers by stated probability: "+s.Council, s.Decided)
	if err == nil {
		err = app.WriteBytes(f.svg, svg)
	}
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return nil
}
