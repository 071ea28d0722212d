package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/lab"
	"synod.dev/synod/bench/report"
	counciloutcome "synod.dev/synod/council/outcome"
)

func labFigures(a *app) *cobra.Command {
	out := "figures"
	cmd := &cobra.Command{
		Use:   "figures DIR…",
		Short: "Draw the figures that the manifests of grids ask for",
		Long: `Draws the figures in the plots of a manifest, beside those of the paper where it has
some, as SVG, PDF and PNG, with their data as CSV. A folder of "lab run all" has the
grids of all presets. The figures of an experiment are in a folder of its name; no
model is asked. All other plots: synod bench report DIR --plots FOLDER.`,
		Example: `  synod lab figures runs/mine
  synod lab figures runs/all -o figures`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			grids, err := gridsIn(args)
			if err != nil {
				return err
			}
			return a.drawFigures(cmd, grids, out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", out, "`folder` that gets a folder for each experiment")
	return cmd
}

// gridsIn opens grids and the grids in folders of lab run all.
func gridsIn(dirs []string) (grids []*lab.Grid, err error) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fail(exitUsage, err)
		}
		var inside []*lab.Grid
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			grid, err := lab.OpenGrid(filepath.Join(dir, e.Name()))
			if err == nil {
				inside = append(inside, grid)
			} else if !errors.Is(err, lab.ErrNoRun) {
				return nil, unreportable(err)
			}
		}
		if len(inside) == 0 {
			grid, err := openGrid(dir)
			if err != nil {
				return nil, err
			}
			inside = []*lab.Grid{grid}
		}
		grids = append(grids, inside...)
	}
	return grids, nil
}

// drawFigures writes the figures of every grid and prints the names of the SVG files.
func (a *app) drawFigures(cmd *cobra.Command, grids []*lab.Grid, out string) error {
	of := map[string]string{}
	for _, grid := range grids {
		if other, twice := of[grid.Preset]; twice {
			return fail(exitUsage, fmt.Errorf("%s and %s are both of experiment %s, so their figures would have "+
				"the same names", other, grid.Dir(), grid.Preset),
				"draw them one after the other, each with its own -o")
		}
		of[grid.Preset] = grid.Dir()
	}
	for _, grid := range grids {
		g, err := grid.Report()
		if err != nil {
			return unreportable(err)
		}
		plots := g.Specified()
		if len(plots) == 0 {
			a.say(cmd, fmt.Sprintf("%s: no figures: its manifest has no plots, or none with results yet · see: synod "+
				"bench report %s --plots FOLDER", grid.Preset, counciloutcome.ShellWord(grid.Dir())))
			continue
		}
		dir := filepath.Join(out, grid.Preset)
		if err := report.Save(dir, plots); err != nil {
			return fail(exitError1, err)
		}
		for _, p := range plots {
			fmt.Fprintln(cmd.OutOrStdout(), printable(filepath.Join(dir, p.Name+".svg")))
		}
	}
	return nil
}
