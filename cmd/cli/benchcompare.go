package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
)

func benchCompare(a *app.App) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "compare DIR DIR…",
		Short: "Compare runs on the questions that all have finished",
		Long: `Compares two or more runs. The first table has the setting and the figures of each run;
the second the paired difference of every two runs, with 95 % intervals and with p-values
corrected by Holm's method. Councils of the same name are told apart by what differs.
No model is asked.`,
		Example: `  synod bench compare runs/sac runs/majority runs/debate
  synod bench compare runs/* --format html -o compare.html --plots plots`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return app.Fail(app.ExitUsage, fmt.Errorf("only %s is given, and a comparison needs two runs or more",
					args[0]),
					"name the folder of another run, such as: synod bench compare "+council.ShellWord(args[0])+
						" runs/OTHER\none run alone: synod bench report "+council.ShellWord(args[0]))
			}
			return cobra.MinimumNArgs(2)(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return compareRuns(a, cmd, args, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "text", strings.Join(report.Formats(), ", "))
	fl.BoolVar(&f.asJSON, "json", false, "the same as --format json")
	cmd.MarkFlagsMutuallyExclusive("format", "json")
	fl.StringVarP(&f.out, "output", "o", "-", "output `file`; - is stdout")
	fl.StringVar(&f.plots, "plots", "", "also write the plot into this `folder` as SVG, PNG and CSV")
	return cmd
}

// compareRuns compares the runs of some folders.
func compareRuns(a *app.App, cmd *cobra.Command, dirs []string, f reportFlags) error {
	if f.asJSON {
		f.format = "json"
	}
	if !slices.Contains(report.Formats(), f.format) {
		return app.Fail(app.ExitUsage, fmt.Errorf("--format is %q; it must be one of %s", f.format,
			strings.Join(report.Formats(), ", ")))
	}
	var runs []*bench.Run
	for _, dir := range dirs {
		run, grid, err := openBench(dir)
		if err != nil {
			return err
		}
		if grid != nil {
			return app.Fail(app.ExitUsage, fmt.Errorf("%s is a preset of %d runs; name some of its cells, such as "+
				"%s/cells/NAME", dir, len(grid.Runs), dir))
		}
		run.Prices = a.Prices
		runs = append(runs, run)
	}
	c, err := bench.CompareAll(runs)
	if err != nil {
		return unreportable(err)
	}
	if f.plots != "" {
		if err := report.Save(f.plots, c.Plots()); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	return f.write(cmd, func(w io.Writer) error { return c.Write(w, f.format) })
}
