package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/lab"
	"synod.dev/synod/lab/preset"
	"synod.dev/synod/report"
)

// presetRun makes the grid of a preset and works on it.
func (a *app) presetRun(cmd *cobra.Command, p preset.Preset, f benchFlags) error {
	for _, name := range []string{"council", "set", "model", "form", "level"} {
		if cmd.Flags().Changed(name) {
			return fail(exitUsage, fmt.Errorf("--%s is for a task; a preset has councils of its own and takes --members", name))
		}
	}
	grid, err := p.Draft(preset.Options{
		Members: f.members, Data: f.data, Pulled: f.pulled, N: f.n, Repeat: f.repeat, Seed: f.seed, Only: f.cell, Rounds: f.rounds, Program: "synod " + release, Env: a.env(),
	})
	if err != nil {
		return configError(err)
	}
	if f.dryRun {
		return printEstimate(cmd, cmd.OutOrStdout(), grid, f.asJSON)
	}
	if err := a.fetchGrid(cmd, grid); err != nil {
		return err
	}
	if err := grid.Create(f.out); err != nil {
		return occupied(err, f.out)
	}
	if !a.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), strings.TrimSpace(fmt.Sprintf("%d cells. %s", len(grid.Cells)+len(grid.Computed)+len(grid.Readings), grid.Note)))
	}
	if len(grid.Cells) == 0 {
		if !a.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "computed; no member was asked · see: synod bench report %s\n", grid.Dir())
		}
		return nil
	}
	return a.benchWork(cmd, grid, f.parallel)
}

// fetchGrid fetches the models that the cells' embedded seats need.
func (a *app) fetchGrid(cmd *cobra.Command, grid *lab.Grid) error {
	for _, run := range grid.Runs {
		spec, err := run.Spec()
		if err != nil {
			return fail(exitError1, err)
		}
		if err := a.fetchModels(cmd, spec); err != nil {
			return err
		}
	}
	return nil
}

// cellQuestions is how many questions of a cell a grid's page shows unless more are
// wanted.
const cellQuestions = 3

// grid prints a grid in a format, and saves its plots where that is wanted.
func (f *reportFlags) grid(cmd *cobra.Command, grid *lab.Grid, limit int) error {
	g, err := grid.Report()
	if err != nil {
		return unreportable(err, grid.Dir())
	}
	if f.plots != "" {
		if err := report.Save(f.plots, g.Plots()); err != nil {
			return fail(exitError1, err)
		}
	}
	if !cmd.Flags().Changed("questions") {
		limit = cellQuestions
	}
	return f.write(cmd, func(w io.Writer) error {
		if f.format != "html" {
			return g.Write(w, f.format, f.versus != "")
		}
		return g.HTML(w, f.versus != "", func(cell int) report.Detail { // runs come first among the cells
			if cell >= len(grid.Runs) {
				return report.Detail{}
			}
			rest := fmt.Sprintf("the rest: synod bench report FOLDER/cells/%s --format html --questions all", grid.Cells[cell].Name)
			return report.Detail{Questions: grid.Runs[cell].Views(), Limit: limit, Rest: rest}
		})
	})
}
