package bench

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
)

func compareCommand(a *app.App) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "compare DIR DIR…",
		Short: "Compare runs, or grids, on the questions that all have finished",
		Long: `Compares two or more runs, or every later grid with the first. Of runs, the first table has the
setting and the figures of each run; the second the paired difference of every two runs, with 95 % intervals and with p-values
corrected by Holm's method. Councils of the same name are told apart by what differs.
Of grids, cells of the same name are compared, on the questions that both have finished.
FOLDER/cells/PATTERN is every cell of a grid whose name matches, so that the cells of one grid
are compared with one another. No model is asked.`,
		Example: `  synod bench compare runs/sac runs/majority runs/debate
  synod bench compare runs/* --format html -o compare.html --plots plots
  synod bench compare runs/before runs/after --format md -o difference.md
  synod bench compare 'runs/t1/cells/*-merg-*'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && !cellPattern(args[0]) {
				return app.Fail(app.ExitUsage, fmt.Errorf("only %s is given, and a comparison needs two runs or more",
					args[0]),
					"name the folder of another run, such as: synod bench compare "+app.ShellWord(args[0])+
						" runs/OTHER\none run alone: synod bench report "+app.ShellWord(args[0]))
			}
			return cobra.MinimumNArgs(1)(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return compare(a, cmd, args, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "text", strings.Join(report.Formats(), ", "))
	fl.BoolVar(&f.asJSON, "json", false, "the same as --format json")
	cmd.MarkFlagsMutuallyExclusive("format", "json")
	fl.StringVarP(&f.out, "output", "o", "-", "output `file`; - is stdout")
	fl.StringVar(&f.plots, "plots", "", "also write the plot into this `folder` as SVG, PNG and CSV")
	return cmd
}

// compare compares the runs or the grids of some folders.
func compare(a *app.App, cmd *cobra.Command, dirs []string, f reportFlags) error {
	if f.asJSON {
		f.format = "json"
	}
	if !slices.Contains(report.Formats(), f.format) {
		return app.Fail(app.ExitUsage, fmt.Errorf("--format is %q; it must be one of %s", f.format,
			strings.Join(report.Formats(), ", ")))
	}
	dirs, err := cellsIn(dirs)
	if err != nil {
		return err
	}
	var runs []*bench.Run
	var grids []*bench.Grid
	for _, dir := range dirs {
		run, grid, err := openBench(dir)
		if err != nil {
			return err
		}
		if grid != nil {
			grids = append(grids, grid)
			runs = append(runs, grid.Runs...)
		} else {
			runs = append(runs, run)
		}
	}
	for _, run := range runs {
		run.Prices = a.Prices
	}
	switch len(grids) {
	case 0:
		return f.compareRuns(cmd, runs)
	case len(dirs):
		return f.compareGrids(cmd, grids)
	}
	return app.Fail(app.ExitUsage, fmt.Errorf("%s is a grid of %d runs, and others are single runs; name some of its "+
		"cells, such as %s/cells/NAME", grids[0].Dir(), len(grids[0].Runs), grids[0].Dir()))
}

// cellPattern reports whether a name is FOLDER/cells/PATTERN. No such folder exists, so a shell leaves it as it is.
func cellPattern(name string) bool {
	return filepath.Base(filepath.Dir(name)) == "cells" && strings.ContainsAny(filepath.Base(name), "*?[")
}

// cellsIn replaces every pattern by the names of the cells that match it, in the order of the grid.
func cellsIn(names []string) (all []string, err error) {
	for _, name := range names {
		if !cellPattern(name) {
			all = append(all, name)
			continue
		}
		grid, err := openGrid(filepath.Dir(filepath.Dir(name)))
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, run := range grid.Runs {
			if ok, err := filepath.Match(filepath.Base(name), filepath.Base(run.Dir())); err != nil {
				return nil, app.Fail(app.ExitUsage, fmt.Errorf("%s: %w (examples: cells/sac-*, cells/*-merg-?)", name,
					err))
			} else if ok {
				all = append(all, run.Dir())
			}
		}
		if len(all)-before < 2 && len(names) == 1 {
			return nil, app.Fail(app.ExitUsage, fmt.Errorf("%s matches %s of %s, and a comparison needs two", name,
				app.Count(len(all)-before, "cell"), grid.Dir()), "see the names with: synod bench report "+
				app.ShellWord(grid.Dir()))
		}
	}
	return all, nil
}

// compareRuns writes how every two runs differ.
func (f *reportFlags) compareRuns(cmd *cobra.Command, runs []*bench.Run) error {
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

// compareGrids writes how the cells of grids differ that have the same name.
func (f *reportFlags) compareGrids(cmd *cobra.Command, grids []*bench.Grid) error {
	if f.format == "html" || f.plots != "" {
		return app.Fail(app.ExitUsage, errors.New("a comparison of grids has no page and no plots; give --format "+
			"text, json, csv or md, or compare cells, such as FOLDER/cells/NAME"))
	}
	c, err := bench.CompareGrids(grids)
	if err != nil {
		return unreportable(err)
	}
	return f.write(cmd, func(w io.Writer) error { return c.Write(w, f.format) })
}
