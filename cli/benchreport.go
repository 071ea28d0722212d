package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/lab"
	"synod.dev/synod/report"
	"synod.dev/synod/report/inspect"
)

type reportFlags struct {
	format, against, versus, out, plots, questions string
}

func benchReport(a *app) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Report a run from its folder",
		Long: `Reads the journals of a run, grades them and prints every figure with its 95 %
interval and N. Nothing is asked of any model, and the folder may have been moved.
Questions that failed or are not finished are in no figure but liveness, and are
counted apart. Adversaries count as wrong members; ties count as votes not won.

--against sets the run against another on the questions that both have finished.
--format html writes one page that needs no other file: figures, plots and the
rounds of every question to read, with their keys. --plots writes the plots into a
folder, each as SVG and PNG with the data behind it as CSV. Of a preset the page
has the cells, the paper's figures with verdicts and every cell folded, with the
rounds of 3 questions.`,
		Example: `  synod bench report runs/first
  synod bench report runs/first --format json
  synod bench report runs/first --format html -o first.html --plots plots
  synod bench report runs/second --against runs/first
  synod bench report runs/t1 --format html --vs paper -o t1.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.benchReport(cmd, args[0], f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "text", strings.Join(report.Formats(), ", "))
	fl.StringVar(&f.against, "against", "", "the `folder` of another run to compare with")
	fl.StringVar(&f.versus, "vs", "", "paper: set a preset's figures beside the paper's, with a verdict")
	fl.StringVarP(&f.out, "output", "o", "-", "write to this `file`; - is stdout")
	fl.StringVar(&f.plots, "plots", "", "write the plots into this `folder` too: SVG, PNG and CSV")
	fl.StringVar(&f.questions, "questions", "1000", "how many questions a page shows, or all; of a preset: of every cell (default 3)")
	return cmd
}

func (a *app) benchReport(cmd *cobra.Command, dir string, f reportFlags) error {
	limit, err := f.check(cmd)
	if err != nil {
		return fail(exitUsage, err)
	}
	if grid, err := lab.OpenGrid(dir); err == nil {
		if f.against != "" {
			return fail(exitUsage, fmt.Errorf("--against compares two runs, and %s holds %d", dir, len(grid.Runs)), "compare two of its cells, such as "+filepath.Join(dir, "cells", "NAME"))
		}
		for _, run := range grid.Runs {
			run.Prices = a.prices
		}
		return f.grid(cmd, grid, limit)
	} else if !errors.Is(err, lab.ErrNoRun) {
		return fail(exitError1, err)
	}
	run, err := lab.Open(dir)
	if err != nil {
		return fail(exitError1, err)
	}
	run.Prices = a.prices
	if f.versus != "" {
		return fail(exitUsage, fmt.Errorf("--vs paper is for presets; %s is a run of task %s, and no paper's figures are known for it", dir, run.Task))
	}
	r, err := f.one(run)
	if err != nil {
		return unreportable(err, dir)
	}
	return f.write(cmd, func(w io.Writer) error {
		if f.format == "html" {
			return r.HTML(w, report.Detail{Questions: run.Views(), Limit: limit, Rest: "the rest: --questions all"})
		}
		return r.Write(w, f.format)
	})
}

// unreportable says what to do about a journal that is not what the run wrote.
func unreportable(err error, dir string) error {
	if lab.Damaged(err) {
		return fail(exitError1, err, "put the file back, or remove it and have the question put again with:\n  synod bench resume "+dir)
	}
	return fail(exitError1, err)
}

// one is the report of a single run; its plots are saved where that is wanted.
func (f *reportFlags) one(run *lab.Run) (*report.Report, error) {
	r, err := run.Report()
	if err != nil {
		return nil, err
	}
	if f.against != "" {
		other, err := lab.Open(f.against)
		if err != nil {
			return nil, err
		}
		if r.Compared, err = lab.Compare(run, other); err != nil {
			return nil, err
		}
	}
	if f.plots != "" {
		return r, report.Save(f.plots, r.Plots())
	}
	return r, nil
}

// check says how many questions a page shows; below 0: all.
func (f *reportFlags) check(cmd *cobra.Command) (limit int, err error) {
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
		return 0, fmt.Errorf("--questions is %q; it must be a number from 0, or all", f.questions)
	}
	return limit, nil
}

func (f *reportFlags) write(cmd *cobra.Command, to func(io.Writer) error) error {
	if f.out == "-" {
		if err := to(cmd.OutOrStdout()); err != nil {
			return fail(exitError1, err)
		}
		return nil
	}
	file, err := os.Create(f.out)
	if err == nil {
		err = errors.Join(to(file), file.Close())
	}
	if err != nil {
		return fail(exitError1, fmt.Errorf("write the report: %w", err))
	}
	return nil
}

func benchExport(a *app) *cobra.Command {
	var toInspect bool
	var out string
	cmd := &cobra.Command{
		Use:   "export DIR --inspect",
		Short: "Write a run as a log that other tools read",
		Long: `Writes a run as an evaluation log of Inspect (inspect_ai): a sample for each
question and repeat with the members' words by round, the grade of the decision and
every figure of the report. Nothing is asked of any model. The log's model is named
with the kinds of the members, so that a simulated council passes for no other.

Without -o the log goes into the working folder under a name that Inspect lists. A
name that ends in .json or .eval says the format; any other is a folder, made if
need be, that takes the log under Inspect's own kind of name, as .json. A log that is there already is replaced. Of
a preset, every cell becomes a log in a folder of its own.`,
		Example: `  synod bench export runs/first --inspect
  synod bench export runs/first --inspect -o logs
  synod bench export runs/first --inspect -o first.eval
  inspect view --log-dir logs`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !toInspect {
				return fail(exitUsage, errors.New("which kind of log? there is one: --inspect"))
			}
			if grid, err := lab.OpenGrid(args[0]); err == nil {
				return a.exportGrid(cmd, grid, out)
			} else if !errors.Is(err, lab.ErrNoRun) {
				return fail(exitError1, err)
			}
			run, err := lab.Open(args[0])
			if err != nil {
				return fail(exitError1, err)
			}
			return a.exportRun(cmd, run, out)
		},
	}
	cmd.Flags().BoolVar(&toInspect, "inspect", false, "a log of inspect_ai")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the log's `file` (.json or .eval), or a folder for it")
	return cmd
}

// exportRun writes one log and names it on stdout.
func (a *app) exportRun(cmd *cobra.Command, run *lab.Run, out string) error {
	path, format, err := logPath(run, out)
	if err != nil {
		return err
	}
	if err := replaceFile(path, func(w io.Writer) error { return run.Inspect(w, format) }); err != nil {
		return fail(exitError1, err)
	}
	if format == inspect.JSON && !listed.MatchString(filepath.Base(path)) {
		a.say(cmd, "inspect opens this log by its name, and lists .json logs only whose names begin with a time; -o FOLDER gives one")
	}
	if !a.quiet {
		fmt.Fprintln(cmd.OutOrStdout(), printable(path))
	}
	return nil
}

// exportGrid writes a log a cell, in a folder a cell.
func (a *app) exportGrid(cmd *cobra.Command, grid *lab.Grid, out string) error {
	if len(grid.Runs) == 0 {
		return fail(exitUsage, fmt.Errorf("every cell of %s is computed: there is no run of which a log could be made", grid.Preset))
	}
	if ext := filepath.Ext(out); ext == inspect.JSON || ext == inspect.Archive {
		return fail(exitUsage, fmt.Errorf("%s holds %d runs; give a folder for their logs with -o", grid.Dir(), len(grid.Runs)))
	}
	for i, run := range grid.Runs {
		folder := filepath.Join(out, grid.Cells[i].Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fail(exitError1, err)
		}
		if err := a.exportRun(cmd, run, folder); err != nil {
			return err
		}
	}
	return nil
}

// listed is how the names of .json logs begin that Inspect lists.
var listed = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}[:-]\d{2}[:-]\d{2}`)

// logPath is where a log goes, and its format.
func logPath(run *lab.Run, out string) (path, format string, err error) {
	switch ext := filepath.Ext(out); {
	case ext == inspect.JSON || ext == inspect.Archive:
		return out, ext, nil
	case ext != "" && !strings.HasSuffix(out, string(filepath.Separator)):
		if info, err := os.Stat(out); err != nil || !info.IsDir() {
			return "", "", fail(exitUsage, fmt.Errorf("-o is %q; it must end in %s or %s, or be a folder", out, inspect.JSON, inspect.Archive))
		}
	case out != "":
		if err := os.MkdirAll(out, 0o755); err != nil {
			return "", "", fail(exitUsage, err)
		}
	}
	name, err := run.InspectName(inspect.JSON)
	if err != nil {
		return "", "", fail(exitError1, err)
	}
	return filepath.Join(out, name), inspect.JSON, nil
}

// replaceFile writes a file that is there whole or not at all.
func replaceFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".synod-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if the rename worked
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
