package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"synod.dev/synod/lab"
	"synod.dev/synod/report"
)

func benchReport(a *app) *cobra.Command {
	var format, against, versus string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Report a run from its folder",
		Long: `Reads the journals of a run, grades them and prints every figure with its 95 %
interval and N. Nothing is asked of any model, and the folder may have been moved.
Questions that failed or are not finished are in no figure but liveness, and are
counted apart. Adversaries count as wrong members; ties count as votes not won.

--against sets the run against another on the questions that both have finished.`,
		Example: "  synod bench report runs/first\n  synod bench report runs/first --format json\n  synod bench report runs/second --against runs/first",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(report.Formats(), format) {
				return fail(exitUsage, fmt.Errorf("--format is %q; it must be one of %s", format, strings.Join(report.Formats(), ", ")))
			}
			if versus != "" && versus != "paper" {
				return fail(exitUsage, fmt.Errorf("--vs is %q; it must be paper", versus))
			}
			if grid, err := lab.OpenGrid(args[0]); err == nil {
				for _, run := range grid.Runs {
					run.Prices = a.prices
				}
				return gridReport(cmd, grid, format, versus)
			} else if !errors.Is(err, lab.ErrNoRun) {
				return fail(exitError1, err)
			}
			run, err := lab.Open(args[0])
			if err != nil {
				return fail(exitError1, err)
			}
			run.Prices = a.prices
			if versus != "" {
				return fail(exitUsage, fmt.Errorf("--vs paper is for presets; %s is a run of task %s, and no paper's figures are known for it", args[0], run.Task))
			}
			r, err := run.Report()
			if err != nil {
				return fail(exitError1, err)
			}
			if against != "" {
				other, err := lab.Open(against)
				if err != nil {
					return fail(exitError1, err)
				}
				if r.Compared, err = lab.Compare(run, other); err != nil {
					return fail(exitError1, err)
				}
			}
			if err := r.Write(cmd.OutOrStdout(), format); err != nil {
				return fail(exitError1, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", strings.Join(report.Formats(), ", "))
	cmd.Flags().StringVar(&versus, "vs", "", "paper: set a preset's figures beside the paper's, with a verdict")
	cmd.Flags().StringVar(&against, "against", "", "the `folder` of another run to compare with")
	return cmd
}

// printEstimate says what a run would cost.
func printEstimate(cmd *cobra.Command, run bench, asJSON bool) error {
	e, err := run.Estimate(cmd.Context())
	if err != nil {
		return configError(err)
	}
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), struct {
			Version int `json:"version"`
			*lab.Estimate
		}{1, e})
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%d questions; nothing is asked in a dry run\n\n", e.Questions)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tcalls\tprompt tokens\tcompletion tokens\tcost\t")
	for _, row := range []struct {
		name string
		lab.Amount
	}{{"low", e.Low}, {"expected", e.Expected}, {"worst", e.Worst}} {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t\n", row.name, row.Calls, row.Prompt, row.Completion, oneLine(row.Money.String()))
	}
	if err := t.Flush(); err != nil {
		return fail(exitError1, err)
	}
	fmt.Fprint(out, `
low: all of one mind from the start; expected: members right in 70 of 100 questions,
played on up to 20 of these; worst: every planned call, the longest prompt and
replies of 1000 tokens. Four letters count as a token. Retries are not counted.
Prices are list prices of the dates named; your own: --prices FILE.
`)
	return nil
}
