package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
)

type reportFlags struct {
	format, against, versus, out, plots, questions string

	asJSON bool
}

func reportCommand(a *app.App) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Report the results of a run",
		Long: `Reads and grades the journals of a run and prints each figure with its 95 % interval
and N. No model is asked, and the folder may have been moved. Failed and unfinished
questions count only for liveness and are listed separately. Adversaries count as
wrong members; a tie counts as a lost vote.

--against compares the run with another one on the questions that both finished.
--format html writes one self-contained page with figures, plots and the rounds of
every question with its key. --plots writes each plot into a folder as SVG,
PDF and PNG with its data as CSV. The page of a preset contains the cells, the figures of the
paper, its claims with verdicts, and the rounds of 3 questions of each cell.`,
		Example: `  synod bench report runs/first
  synod bench report runs/first --format json
  synod bench report runs/first --format html -o first.html --plots plots
  synod bench report runs/second --against runs/first
  synod bench report runs/t1 --format html --vs paper -o t1.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return reportBench(a, cmd, args[0], f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "text", strings.Join(report.Formats(), ", "))
	fl.BoolVar(&f.asJSON, "json", false, "the same as --format json")
	cmd.MarkFlagsMutuallyExclusive("format", "json")
	fl.StringVar(&f.against, "against", "", "`folder` of another run to compare with")
	fl.StringVar(&f.versus, "vs", "", "presets only: \"paper\" compares the figures with those of the paper")
	fl.StringVarP(&f.out, "out", "o", "-", "output `file`; - is stdout")
	fl.StringVar(&f.plots, "plots", "", "also write the plots into this `folder` as SVG, PDF, PNG and CSV")
	fl.StringVar(&f.questions, "questions", "1000",
		"number of questions that the page shows, or all; for presets: of each cell (default 3)")
	return cmd
}

func reportBench(a *app.App, cmd *cobra.Command, dir string, f reportFlags) error {
	defer collectLess()()
	limit, err := f.check(cmd)
	if err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	run, grid, err := openBench(dir)
	if err != nil {
		return err
	}
	if grid != nil {
		if f.against != "" {
			return app.Fail(app.ExitUsage, fmt.Errorf("--against compares two runs; %s contains %d", dir, len(
				grid.Runs)),
				"compare two of its cells, such as "+filepath.Join(dir, "cells", "NAME"))
		}
		for _, run := range grid.Runs {
			run.Prices = a.Prices
		}
		return f.grid(cmd, grid, limit)
	}
	run.Prices = a.Prices
	if f.versus != "" {
		return app.Fail(app.ExitUsage, fmt.Errorf("--vs paper is for presets; %s is a run of task %s, which has no "+
			"figures of a paper", dir, run.Task))
	}
	r, err := f.one(run)
	if err != nil {
		return unreportable(err)
	}
	return f.write(cmd, func(w io.Writer) error {
		if f.format == "html" {
			return r.HTML(w, report.Detail{Questions: run.Views(limit), Limit: limit,
				Rest: "the rest: --questions all"})
		}
		return r.Write(w, f.format)
	})
}

// cellQuestions is the default number of questions for each cell in the HTML report of
// a grid.
const cellQuestions = 3

// grid prints the report of a grid and saves its plots if --plots is given.
func (f *reportFlags) grid(cmd *cobra.Command, grid *bench.Grid, limit int) error {
	g, err := grid.Report()
	if err != nil {
		return unreportable(err)
	}
	if f.plots != "" {
		if err := report.Save(f.plots, g.Plots()); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	if !cmd.Flags().Changed("questions") {
		limit = cellQuestions
	}
	return f.write(cmd, func(w io.Writer) error {
		if f.format != "html" {
			return g.Write(w, f.format, f.versus != "")
		}
		return g.HTML(w, f.versus != "", func(cell int) report.Detail { // cells with runs come first
			run := grid.Reported(cell)
			if run == nil {
				return report.Detail{}
			}
			rest := fmt.Sprintf("the rest: synod bench report FOLDER/cells/%s --format html --questions all",
				grid.Cells[cell].Name)
			return report.Detail{Questions: run.Views(limit), Limit: limit, Rest: rest}
		})
	})
}

// unreportable adds a hint to the error about a journal that was changed after the run.
func unreportable(err error) error {
	if bench.Damaged(err) {
		return app.Fail(app.ExitFailure, err, "restore the file from a copy, or start a new run")
	}
	return app.Fail(app.ExitFailure, err)
}

// one returns the report of a single run and saves its plots if --plots is given.
func (f *reportFlags) one(run *bench.Run) (*report.Report, error) {
	r, err := run.Report()
	if err != nil {
		return nil, err
	}
	if f.against != "" {
		other, err := bench.Open(f.against)
		if err != nil {
			return nil, err
		}
		if r.Compared, err = bench.Compare(run, other); err != nil {
			return nil, err
		}
	}
	if f.plots != "" {
		return r, report.Save(f.plots, r.Plots())
	}
	return r, nil
}

// check validates the flags and returns how many questions the page shows; -1: all.
func (f *reportFlags) check(cmd *cobra.Command) (limit int, err error) {
	if f.asJSON {
		f.format = "json"
	}
	switch {
	case !slices.Contains(report.Formats(), f.format):
		return 0, fmt.Errorf("--format is %q; it must be one of %s", f.format, strings.Join(report.Formats(), ", "))
	case f.versus != "" && f.versus != "paper":
		return 0, fmt.Errorf("--vs is %q; it must be paper", f.versus)
	case f.format != "html" && cmd.Flags().Changed("questions"):
		return 0, fmt.Errorf("--questions is for --format html")
	case f.questions == "all":
		return -1, nil
	}
	if limit, err = strconv.Atoi(f.questions); err != nil || limit < 0 {
		return 0, fmt.Errorf("--questions is %q; it must be 0 or more, or all", f.questions)
	}
	return limit, nil
}

func (f *reportFlags) write(cmd *cobra.Command, to func(io.Writer) error) error {
	if f.out == "-" {
		if err := to(cmd.OutOrStdout()); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		return nil
	}
	file, err := os.Create(f.out)
	if err == nil {
		text := app.NewScreen(file) // people read the file in a terminal too
		err = to(text)
		text.Flush()
		err = errors.Join(err, text.Err(), file.Close())
	}
	if err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("write the report: %w", err))
	}
	return nil
}
