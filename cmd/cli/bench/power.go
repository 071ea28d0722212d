package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
)

// powerFlags are the assumptions of a study, in percent and points.
type powerFlags struct {
	detect, base, differ, power float64
	comparisons, repeat, n      int
	alike                       float64
	from                        []string
	format, out                 string
}

func powerCommand(a *app.App) *cobra.Command {
	f := powerFlags{}
	cmd := &cobra.Command{
		Use:   "power",
		Short: "Compute how many questions show a difference of two councils",
		Long: `Computes before a run how many questions it needs: to show, with a power of 80 %, that one
council decides more questions rightly than another. In a paired study both answer the same
questions, as synod bench compare wants it. It needs fewer the fewer questions only one of
them decides rightly. Without --differ or --from, three assumptions are shown.

--from takes these shares from earlier runs: of one, the share of right decisions and how much
repeats of a question differ; of two, the share of questions that only one of them decides
rightly. -n shows which difference a study of that size can show. No model is asked.`,
		Example: `  synod bench power --detect 5
  synod bench power --detect 5 --base 75 --differ 20 --comparisons 6
  synod bench power --detect 3 --from runs/sac --from runs/debate
  synod bench power --detect 5 -n 300 --repeat 4 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return powerOf(a, cmd, f) },
	}
	fl := cmd.Flags()
	fl.Float64Var(&f.detect, "detect", 5, "the difference to show, in `points`")
	fl.Float64Var(&f.base, "base", 70, "right decisions of the one council, in `percent`")
	fl.Float64Var(&f.differ, "differ", 0, "questions that only one council decides rightly, in `percent` (default: "+
		"three assumptions)")
	fl.Float64Var(&f.power, "power", 80, "chance of the study to show the difference, in `percent`")
	fl.IntVar(&f.comparisons, "comparisons", 1, "how many comparisons the report will have (Holm's correction)")
	fl.IntVar(&f.repeat, "repeat", 1, "how often each question is asked")
	fl.Float64Var(&f.alike, "alike", 0.5, "with --repeat: correlation of the differences of a question's repeats, "+
		"0 to 1")
	fl.IntVarP(&f.n, "number", "n", 0, "questions of the study, to show which difference it can show")
	fl.StringArrayVar(&f.from, "from", nil, "`folder` of an earlier run, at most two")
	fl.StringVar(&f.format, "format", "text", strings.Join(powerFormats, ", "))
	fl.BoolFunc("json", "the same as --format json", func(string) error { f.format = "json"; return nil })
	fl.StringVarP(&f.out, "out", "o", "-", "output `file`; - is stdout")
	return cmd
}

var powerFormats = []string{"text", "json", "csv", "md", "html", "latex"}

func powerOf(a *app.App, cmd *cobra.Command, f powerFlags) error {
	p := report.Power{Detect: f.detect / 100, Base: f.base / 100, Differ: f.differ / 100, Power: f.power / 100,
		Comparisons: f.comparisons, Repeat: f.repeat, N: f.n}
	if f.repeat > 1 {
		p.Alike = f.alike
	}
	if len(f.from) > 0 {
		if err := f.measured(cmd, &p); err != nil {
			return err
		}
	}
	plan, err := bench.Power(p)
	if err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	r := reportFlags{out: f.out}
	return r.write(cmd, func(w io.Writer) error { return plan.Write(w, f.format) })
}

// measured takes assumptions from earlier runs, except those that flags give.
func (f *powerFlags) measured(cmd *cobra.Command, p *report.Power) error {
	if len(f.from) > 2 {
		return app.Fail(app.ExitUsage, errors.New("--from is given more than twice; it takes one run, or two to "+
			"compare"))
	}
	var runs []*bench.Run
	for _, dir := range f.from {
		run, grid, err := openBench(dir)
		if err != nil {
			return err
		}
		if grid != nil {
			return app.Fail(app.ExitUsage, fmt.Errorf("%s contains %d runs", dir, len(grid.Runs)),
				"name one of its cells, such as "+dir+"/cells/NAME")
		}
		runs = append(runs, run)
	}
	base, differ, alike, err := bench.PowerFrom(runs)
	if err != nil {
		return unreportable(err)
	}
	flags := cmd.Flags()
	if p.From = "measured in " + strings.Join(f.from, " and "); !flags.Changed("base") {
		p.Base = base
	}
	if !flags.Changed("differ") && !math.IsNaN(differ) {
		p.Differ = max(differ, p.Detect)
	}
	if !flags.Changed("alike") && p.Repeat > 1 && !math.IsNaN(alike) {
		p.Alike = max(alike, 0.01)
	}
	return nil
}

// showPower prints how many questions a study needs after the estimate of a run.
func (f *benchFlags) showPower(cmd *cobra.Command, questions, repeats int) error {
	if f.detect == 0 {
		return nil
	}
	plan, err := bench.Power(report.Power{Detect: f.detect / 100, N: questions, Repeat: repeats})
	if err != nil {
		return app.Fail(app.ExitUsage, err, "more assumptions: synod bench power --help")
	}
	fmt.Fprintln(cmd.OutOrStdout())
	return plan.Write(cmd.OutOrStdout(), "text")
}
