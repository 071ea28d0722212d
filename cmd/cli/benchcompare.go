package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/lab"
	"synod.dev/synod/bench/report"
	counciloutcome "synod.dev/synod/council/outcome"
)

func benchCompare(a *app) *cobra.Command {
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
				return fail(exitUsage, fmt.Errorf("only %s is given, and a comparison needs two runs or more", args[0]),
					"name the folder of another run, such as: synod bench compare "+counciloutcome.ShellWord(args[0])+
						" runs/OTHER\none run alone: synod bench report "+counciloutcome.ShellWord(args[0]))
			}
			return cobra.MinimumNArgs(2)(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.compare(cmd, args, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "text", strings.Join(report.Formats(), ", "))
	fl.BoolVar(&f.asJSON, "json", false, "the same as --format json")
	cmd.MarkFlagsMutuallyExclusive("format", "json")
	fl.StringVarP(&f.out, "output", "o", "-", "output `file`; - is stdout")
	fl.StringVar(&f.plots, "plots", "", "also write the plot into this `folder` as SVG, PNG and CSV")
	return cmd
}

// compare compares the runs of some folders.
func (a *app) compare(cmd *cobra.Command, dirs []string, f reportFlags) error {
	if f.asJSON {
		f.format = "json"
	}
	if !slices.Contains(report.Formats(), f.format) {
		return fail(exitUsage, fmt.Errorf("--format is %q; it must be one of %s", f.format,
			strings.Join(report.Formats(), ", ")))
	}
	var runs []*lab.Run
	for _, dir := range dirs {
		run, grid, err := openBench(dir)
		if err != nil {
			return err
		}
		if grid != nil {
			return fail(exitUsage, fmt.Errorf("%s is a preset of %d runs; name some of its cells, such as "+
				"%s/cells/NAME", dir, len(grid.Runs), dir))
		}
		run.Prices = a.prices
		runs = append(runs, run)
	}
	c, err := lab.CompareAll(runs)
	if err != nil {
		return unreportable(err)
	}
	if f.plots != "" {
		if err := report.Save(f.plots, c.Plots()); err != nil {
			return fail(exitError1, err)
		}
	}
	return f.write(cmd, func(w io.Writer) error { return c.Write(w, f.format) })
}
