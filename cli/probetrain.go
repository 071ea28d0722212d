package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/lab/probing"
	"synod.dev/synod/probe"
	"synod.dev/synod/probe/draw"
)

type trainFlags struct {
	collect    collectFlags
	task       string
	out        string
	components []int
	c          float64
	asJSON     bool
}

func probeTrain(a *app) *cobra.Command {
	var f trainFlags
	defaults := probe.Defaults()
	cmd := &cobra.Command{
		Use:   "train DIR",
		Short: "Train a probe on collected answers, and measure it",
		Long: `Trains PCA, z-score and logistic regression on what "synod probe collect" has kept
in DIR, sweeping over layers and positions. Questions are split by the seed: six
tenths train, two choose among the sweep, two are looked at once, at the end. With
--collect TASK it collects first, so that one command does everything.

It writes probe.json, report.json and the plots layers.svg/.png (the sweep) and
reliability.svg/.png into DIR. Beside the probe stand the confidence that the
model states and the mean log-probability of its tokens, on the same answers.

Exit codes: 0, also where the probe does not beat chance: the report says so · 1 ·
2 usage · 130 interrupted while collecting.`,
		Example: `  synod probe train runs/arc
  synod probe train runs/arc --collect arc-easy --data ./data -n 500
  synod probe train runs/arc --components 16,64,256 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.train(cmd, args[0], f) },
	}
	f.collect.add(cmd)
	cmd.Flags().StringVar(&f.task, "collect", "", "first collect answers to this `task`, or go on with that; the flags are those of probe collect")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the probe to this `file` (default: probe.json in DIR)")
	cmd.Flags().IntSliceVar(&f.components, "components", defaults.Components, "numbers of principal components to choose from")
	cmd.Flags().Float64Var(&f.c, "c", defaults.C, "inverse strength of the L2 penalty")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (a *app) train(cmd *cobra.Command, dir string, f trainFlags) error {
	config := probe.Config{Seed: f.collect.source.seed, Components: f.components, C: f.c}
	if err := config.Validate(); err != nil { // before anything is collected
		return fail(exitUsage, err)
	}
	if f.task != "" {
		if _, err := a.collect(cmd, f.task, dir, f.collect); err != nil {
			return err
		}
	}
	data, left, err := collectedData(dir)
	if err != nil {
		return err
	}
	show, at := a.steps(cmd, "layers and positions")
	config.Progress = at
	report, p, err := probe.Train(data, config)
	show.done()
	if err != nil {
		return fail(exitError1, err)
	}
	text, err := p.Encode()
	if err != nil {
		return err
	}
	file := cmp.Or(f.out, filepath.Join(dir, "probe.json"))
	if err := errors.Join(writeWhole(file, text), saveReport(dir, report)); err != nil {
		return fail(exitError1, err)
	}
	if f.asJSON {
		return writeJSON(cmd.OutOrStdout(), report)
	}
	if err := printTraining(cmd.OutOrStdout(), report, left); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nsaved: %s; plots and report in %s\nuse it: models: {m: {provider: embedded, model: %s, probe: %s}}\n", file, dir, oneLine(p.Subject.Model), file)
	return nil
}

// collectedData are the usable answers in a folder.
func collectedData(dir string) (probe.Data, probing.Left, error) {
	folder, err := probing.Open(dir)
	if err != nil {
		hint := ""
		if errors.Is(err, probing.ErrNoFolder) {
			hint = "collect some: synod probe collect TASK -o " + dir
		}
		return probe.Data{}, probing.Left{}, fail(exitError1, err, hint)
	}
	data, left, err := folder.Data()
	if err != nil {
		return data, left, fail(exitError1, err)
	}
	return data, left, nil
}

// saveReport writes the report and draws it.
func saveReport(dir string, r probe.Report) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	errs := []error{writeWhole(filepath.Join(dir, "report.json"), append(text, '\n'))}
	for _, format := range draw.Formats() {
		for _, d := range []struct {
			name string
			draw func(probe.Report, string) ([]byte, error)
		}{{"layers", draw.Layers}, {"reliability", draw.Reliability}} {
			picture, err := d.draw(r, format)
			if err == nil {
				err = writeWhole(filepath.Join(dir, d.name+"."+format), picture)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func probeEval(*app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "eval FILE DIR",
		Short: "Measure a probe on answers that it was not trained on",
		Long: `Measures a saved probe on what "synod probe collect" has kept in DIR. Of the task
that it was trained on only the held-out questions count, of another all. A probe
of another model, engine or way of answering is refused.

Exit codes: 0 · 1 · 2 the probe does not fit the answers.`,
		Example: "  synod probe eval runs/arc/probe.json runs/openbookqa",
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
				return fail(exitUsage, fmt.Errorf("%s on %s: %w", args[0], args[1], err))
			}
			report, err := probe.Evaluate(p, data)
			if err != nil {
				return fail(exitError1, err)
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), report)
			}
			return printMeasured(cmd.OutOrStdout(), report, left)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
