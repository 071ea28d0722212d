package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
)

func figuresCommand(a *app.App) *cobra.Command {
	var f figureFlags
	cmd := &cobra.Command{
		Use:   "figures DIR…",
		Short: "Draw the figures that the manifests of grids ask for",
		Long: `Draws the figures in the plots of a manifest, beside those of the paper where it has
some, as SVG, PDF and PNG, with their data as CSV. A folder of "bench run all" has the
grids of all presets. The figures of an experiment are in a folder of its name; no
model is asked. --layout paper draws them for print: 3.4 or 7 inches wide, with texts of 7 and
8 points and without titles. Colours are told apart by colour-blind readers. All other plots: synod bench report DIR --plots FOLDER.`,
		Example: `  synod bench figures runs/mine
  synod bench figures runs/all -o figures
  synod bench figures runs/t2 --layout paper -o figures`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.layout != "" && f.layout != "paper" {
				return app.Fail(app.ExitUsage, fmt.Errorf("--layout is %q; it must be paper", f.layout))
			}
			grids, err := gridsIn(args)
			if err != nil {
				return err
			}
			return drawFigures(a, cmd, grids, f)
		},
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "figures", "`folder` that gets a folder for each experiment")
	cmd.Flags().StringVar(&f.layout, "layout", "", "\"paper\" draws the figures for print")
	return cmd
}

type figureFlags struct{ out, layout string }

// gridsIn opens grids and the grids in folders of bench run all.
func gridsIn(dirs []string) (grids []*bench.Grid, err error) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, app.Fail(app.ExitUsage, err)
		}
		var inside []*bench.Grid
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			grid, err := bench.OpenGrid(filepath.Join(dir, e.Name()))
			if err == nil {
				inside = append(inside, grid)
			} else if !errors.Is(err, bench.ErrNoRun) {
				return nil, unreportable(err)
			}
		}
		if len(inside) == 0 {
			grid, err := openGrid(dir)
			if err != nil {
				return nil, err
			}
			inside = []*bench.Grid{grid}
		}
		grids = append(grids, inside...)
	}
	return grids, nil
}

// drawFigures writes the figures of every grid and prints the names of the SVG files.
func drawFigures(a *app.App, cmd *cobra.Command, grids []*bench.Grid, f figureFlags) error {
	of := map[string]string{}
	for _, grid := range grids {
		if other, twice := of[grid.Preset]; twice {
			return app.Fail(app.ExitUsage, fmt.Errorf("%s and %s are both of experiment %s, so their figures would "+
				"have the same names", other, grid.Dir(), grid.Preset),
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
			a.Say(cmd, fmt.Sprintf("%s: no figures: its manifest has no plots, or none with results yet · see: synod "+
				"bench report %s --plots FOLDER", grid.Preset, app.ShellWord(grid.Dir())))
			continue
		}
		if f.layout != "" {
			plots = g.Print(plots)
		}
		dir := filepath.Join(f.out, grid.Preset)
		if err := report.Save(dir, plots); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		for _, p := range plots {
			fmt.Fprintln(cmd.OutOrStdout(), app.Printable(filepath.Join(dir, p.Name+".svg")))
		}
	}
	return nil
}
