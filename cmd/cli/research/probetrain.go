package research

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/collect"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
	"synod.dev/synod/llm/probe"
	"synod.dev/synod/llm/probe/draw"
)

type trainFlags struct {
	collect    collectFlags
	task       string
	out        string
	components []int
	c          float64
	asJSON     bool
}

func probeTrain(a *app.App) *cobra.Command {
	var f trainFlags
	defaults := probe.Defaults()
	cmd := &cobra.Command{
		Use:   "train DIR",
		Short: "Train a probe on collected answers and measure it",
		Long: `Trains PCA, z-score and logistic regression on the answers that "synod research probe collect"
wrote into DIR, for every layer and position. Questions are split by the seed: 60 % are
for training, 20 % for choosing layer and position, and 20 % for the final figures.
With --collect TASK, answers are collected first.

The command writes probe.json, report.json and the plots layers.svg/.pdf/.png (sweep)
and reliability.svg/.pdf/.png into DIR. The report compares the probe with the confidence that
the model states and with the mean log-probability of its tokens, on the same answers.

Exit codes: 0 ok, even if the probe is not better than chance (see the report) · 1
error · 2 usage · 130 interrupted while collecting.`,
		Example: `  synod research probe train runs/arc
  synod research probe train runs/arc --collect arc-easy --data ./data -n 500
  synod research probe train runs/arc --components 16,64,256 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return trainProbe(a, cmd, args[0], f) },
	}
	f.collect.add(cmd)
	cmd.Flags().StringVar(&f.task, "collect", "", "first collect answers to this `task`, with the flags of probe "+
		"collect")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`file` for the probe (default: probe.json in DIR)")
	cmd.Flags().IntSliceVar(&f.components, "components", defaults.Components,
		"candidate numbers of principal components")
	cmd.Flags().Float64Var(&f.c, "c", defaults.C, "inverse strength of the L2 penalty")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	return cmd
}

func trainProbe(a *app.App, cmd *cobra.Command, dir string, f trainFlags) error {
	config := probe.Config{Seed: f.collect.source.Seed, Components: f.components, C: f.c}
	if err := config.Validate(); err != nil { // before collecting
		return app.Fail(app.ExitUsage, err)
	}
	if f.task != "" {
		if _, err := collectAnswers(a, cmd, f.task, dir, f.collect); err != nil {
			return err
		}
	}
	data, left, err := collectedData(dir)
	if err != nil {
		return err
	}
	show, at := a.Steps(cmd, "layers and positions")
	config.Progress = at
	report, p, err := probe.Train(data, config)
	show.Done()
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	text, err := p.Encode()
	if err != nil {
		return err
	}
	file := cmp.Or(f.out, filepath.Join(dir, "probe.json"))
	if err := errors.Join(app.WriteBytes(file, text), saveReport(dir, report)); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if f.asJSON {
		return app.WriteJSON(cmd.OutOrStdout(), report)
	}
	if err := printTraining(cmd.OutOrStdout(), report, left); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nsaved: %s; plots and report in %s\nuse it: models: {m: {provider: %s, "+
		"model: %s, probe: %s}}\n", file, dir, providerOf(p.Subject), app.OneLine(p.Subject.Model), file)
	return nil
}

// providerOf returns the provider of the models that a probe is for.
func providerOf(s probe.Subject) string {
	if strings.HasPrefix(s.Engine, "llama.cpp ") {
		return "embedded"
	}
	return "hidden"
}

// collectedData returns the usable answers in a folder.
func collectedData(dir string) (probe.Data, collect.Left, error) {
	folder, err := collect.Open(dir)
	if err != nil {
		hint := ""
		if errors.Is(err, collect.ErrNoFolder) {
			hint = "collect answers with: synod research probe collect TASK -o " + app.ShellWord(dir)
		}
		return probe.Data{}, collect.Left{}, app.Fail(app.ExitFailure, err, hint)
	}
	data, left, err := folder.Data()
	if err != nil {
		return data, left, app.Fail(app.ExitFailure, err)
	}
	return data, left, nil
}

// saveReport writes the report and its plots.
func saveReport(dir string, r probe.Report) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	errs := []error{app.WriteBytes(filepath.Join(dir, "report.json"), append(text, '\n'))}
	for _, format := range draw.Formats() {
		for _, d := range []struct {
			name string
			draw func(probe.Report, string) ([]byte, error)
		}{{"layers", draw.Layers}, {"reliability", draw.Reliability}} {
			picture, err := d.draw(r, format)
			if err == nil {
				err = app.WriteBytes(filepath.Join(dir, d.name+"."+format), picture)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func probeEval(*app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "eval FILE DIR",
		Short: "Measure a probe on answers that it was not trained on",
		Long: `Measures a saved probe on the answers that "synod research probe collect" wrote into DIR. For
the task that it was trained on, only held-out questions are used. The probe must be
for the same model, engine and way of answering.

Exit codes: 0 ok · 1 error · 2 the probe does not fit the answers.`,
		Example: "  synod research probe eval runs/arc/probe.json runs/openbookqa",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readProbe(args[0])
			if err != nil {
				return err
			}
			data, left, err := collectedData(args[1])
			if err != nil {
				return err
			}
			if err := p.Fits(data.Subject); err != nil {
				return app.Fail(app.ExitUsage, fmt.Errorf("%s on %s: %w", args[0], args[1], err))
			}
			report, err := probe.Evaluate(p, data)
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), report)
			}
			return printMeasured(cmd.OutOrStdout(), report, left)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// column has the figures of one source of confidence.
type column struct {
	name    string
	figures probe.Metrics
	behind  *probe.Figure
	missing int
}

// printTraining prints the sweep and the figures on held-out questions.
func printTraining(w io.Writer, r probe.Report, left collect.Left) error {
	printSubject(w, r.Subject)
	fmt.Fprintf(w, "answers     %s; left out: %d unreadable, %d without tokens\nsplit       by question, seed %d: ",
		app.OneLine(r.Task), left.Unreadable, left.Empty, r.Seed)
	for i, p := range []struct {
		name string
		c    probe.Count
	}{{"training", r.Training}, {"validation", r.Validation}, {"test", r.Test}} {
		if i > 0 {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, "%s %d (%d right)", p.name, p.c.Answers, p.c.Right)
	}
	fmt.Fprint(w, "\n\nsweep, on the validation answers:\n")
	t := table.Table{Head: []string{"layer", "position", "components", "training AUC", "AUC", "accuracy", "precision",
		"F1", "Brier"}, Align: "r"}
	for _, c := range r.Sweep {
		mark := ""
		if c.Layer == r.Chosen.Layer && c.Position == r.Chosen.Position && c.Components == r.Chosen.Components {
			mark = "chosen"
		}
		t.Add(c.Layer, c.Position, c.Components, plain(c.Train), plain(c.AUC), plain(c.Accuracy), plain(c.Precision),
			plain(c.F1), plain(c.Brier), mark)
	}
	if err := t.Write(w, "text"); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return printHeldOut(w, r)
}

// printMeasured prints the figures of a probe on other answers.
func printMeasured(w io.Writer, r probe.Report, left collect.Left) error {
	printSubject(w, r.Subject)
	fmt.Fprintf(w, "answers     %s: %d (%d right); left out: %d unreadable, %d without tokens\n\n", app.OneLine(r.Task),
		r.Test.Answers, r.Test.Right, left.Unreadable, left.Empty)
	return printHeldOut(w, r)
}

// printHeldOut prints the figures on held-out questions, beside those of the rivals.
func printHeldOut(w io.Writer, r probe.Report) error {
	fmt.Fprintf(w, "layer %d, %s, on %d answers to %d questions that were not used for training or selection:\n",
		r.Chosen.Layer, r.Chosen.Position, r.Test.Answers, r.Test.Questions)
	list := []column{{"probe", r.Probe, nil, 0}}
	for _, x := range r.Rivals {
		list = append(list, column{x.Name, x.Figures, x.Behind, x.Unreadable})
	}
	if err := printFigures(w, list); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s.\n", r.Verdict)
	return err
}

// printFigures prints columns of figures with their 95 % intervals.
func printFigures(w io.Writer, list []column) error {
	t := table.Table{Head: []string{""}}
	for _, n := range list {
		t.Head = append(t.Head, n.name)
	}
	row := func(name string, of func(column) string) {
		cells := []any{name}
		for _, n := range list {
			cells = append(cells, of(n))
		}
		t.Add(cells...)
	}
	for _, f := range []struct {
		name string
		of   func(*probe.Metrics) *probe.Figure
	}{
		{"AUC", func(f *probe.Metrics) *probe.Figure { return f.AUC }},
		{"accuracy at 0.5", func(f *probe.Metrics) *probe.Figure { return f.Accuracy }},
		{"precision", func(f *probe.Metrics) *probe.Figure { return f.Precision }},
		{"recall", func(f *probe.Metrics) *probe.Figure { return f.Recall }},
		{"F1", func(f *probe.Metrics) *probe.Figure { return f.F1 }},
		{"Brier", func(f *probe.Metrics) *probe.Figure { return f.Brier }},
		{"calibration error", func(f *probe.Metrics) *probe.Figure { return f.ECE }},
	} {
		row(f.name, func(c column) string { return interval(f.of(&c.figures)) })
	}
	if len(list) > 1 {
		row("AUC behind the probe", func(c column) string { return interval(c.behind) })
		row("answers without it (count as 0)", func(c column) string { return strconv.Itoa(c.missing) })
	}
	return t.Write(w, "text")
}

// interval formats a figure with its interval; a dash if there is none.
func interval(f *probe.Figure) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", f.Value, f.Low, f.High)
}

// plain formats a value; a dash if there is none.
func plain(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *v)
}
