package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/lab"
	"synod.dev/synod/lab/preset"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

func benchCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a council on a task, in a folder that survives anything",
		Long: `Puts the questions of a task to a council, grades what comes of them and reports
it. A run lives in a folder: it can be killed at any instant and goes on where it
was, no reply is asked for twice, and the folder can be moved and reported on
without any model.`,
		Example: `  synod bench run builtin -c council.yaml -n 30 -o runs/first
  synod bench run mine.jsonl --form number -c council.yaml -o runs/mine --dry-run
  synod bench resume runs/first
  synod bench report runs/first --format md`,
	}
	cmd.AddCommand(benchRun(a), benchResume(a), benchReport(a), benchExport(a))
	return cmd
}

type benchFlags struct {
	source   specFlags
	n        int
	out      string
	repeat   int
	seed     uint64
	parallel int
	form     string
	data     string
	pulled   string // where fetched sets lie
	levels   []int
	members  string
	cell     string
	rounds   int
	dryRun   bool
	asJSON   bool
}

func benchRun(a *app) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "run TASK|FILE.jsonl|PRESET",
		Short: "Put the questions of a task to a council, or run an experiment of a paper",
		Long: `Puts the first N questions of a task, or of a file of own questions, to a
council. The file has lines of {"id", "question", "answer", "choices"?}.

A preset (synod list presets) is an experiment of a paper: a grid of cells, each a
run with a council of its own. Its members are simulated, embedded (the model in
the box), recorded, or models that a council file defines.

A seat of the council file may say group: weak or group: strong, which members are
not told and the report tells apart. Simulated members know the keys; whatever
they come to is labelled simulated.

Exit codes: 0 all finished · 1 some failed, or the folder cannot be written · 2
usage · 130 interrupted: what is finished is kept, and the command that goes on is
printed.`,
		Example: `  synod bench run builtin -c council.yaml -n 30 -o runs/first
  synod bench run gsm8k --data ./data -c council.yaml -n 200 --parallel 8 -o runs/gsm8k
  synod bench run sac-table1 --members simulated --repeat 20 -o runs/t1
  synod bench report runs/t1 --vs paper`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.benchRun(cmd, args[0], f) },
	}
	f.source.add(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "number", "n", 0, "how many questions (default: all)")
	fl.StringVarP(&f.out, "out", "o", "", "the run's `folder`; must be new or empty")
	fl.IntVar(&f.repeat, "repeat", 1, "how often every question is put")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of everything that is left to chance")
	fl.IntVar(&f.parallel, "parallel", 1, "questions at once; members keep to their own concurrency limits")
	fl.StringVar(&f.form, "form", "", "how answers to own questions are read: number, choice, bool, math, text or stance (default: guessed line by line)")
	fl.StringVar(&f.data, "data", "", "the task's `file`, or a folder that holds it (default: what synod data pull has fetched)")
	fl.IntSliceVar(&f.levels, "level", nil, "only questions of these levels, such as 4,5")
	fl.StringVar(&f.members, "members", "", "of a preset: simulated, embedded, recorded, or a council `file` that has the models it seats (default simulated)")
	fl.IntVar(&f.rounds, "rounds", 0, "of a preset that plays games: rounds at most (default: the paper's)")
	fl.StringVar(&f.cell, "cell", "", "of a preset: only the cells whose names fit a `pattern`, such as 'sac-*'")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what the run costs at least, probably and at most, and ask nothing")
	fl.BoolVar(&f.asJSON, "json", false, "with --dry-run: print as JSON")
	return cmd
}

func (f *benchFlags) check(cmd *cobra.Command) error {
	switch {
	case f.out == "" && !f.dryRun:
		return errors.New("-o is missing: the folder that the run lives in")
	case f.asJSON && !f.dryRun:
		return errors.New("--json is for --dry-run; what comes of a run says: synod bench report FOLDER --format json")
	case f.repeat < 1 || f.repeat > 100_000:
		return fmt.Errorf("--repeat is %d; it must be between 1 and 100000", f.repeat)
	}
	return errors.Join(f.atOnce(), f.some(cmd))
}

func (f *benchFlags) atOnce() error {
	if f.parallel < 1 || f.parallel > 10_000 {
		return fmt.Errorf("--parallel is %d; it must be between 1 and 10000", f.parallel)
	}
	return nil
}

// some refuses to take no question; -n left out is all of them.
func (f *benchFlags) some(cmd *cobra.Command) error {
	if f.n < 1 && cmd.Flags().Changed("number") {
		return fmt.Errorf("-n is %d; it must be at least 1", f.n)
	}
	return nil
}

func (a *app) benchRun(cmd *cobra.Command, name string, f benchFlags) error {
	if err := f.check(cmd); err != nil {
		return fail(exitUsage, err)
	}
	f.pulled = a.tasks().Dir
	if p, err := preset.Catalogue.Find(name); err == nil {
		return a.presetRun(cmd, p, f)
	}
	if f.members != "" || f.cell != "" || f.rounds != 0 {
		return fail(exitUsage, fmt.Errorf("--members, --cell and --rounds are for presets, and %q is none", name), "see: synod list presets")
	}
	if _, err := task.Catalogue.Find(name); err != nil && !strings.HasSuffix(name, ".jsonl") {
		known := slices.Concat(task.Catalogue.Names(), preset.Catalogue.Names())
		return fail(exitUsage, fmt.Errorf("no task, file of questions or preset is called %q%s", name, synod.Hint(name, known)), "see: synod list tasks, synod list presets; a file of questions ends in .jsonl")
	}
	items, err := f.items(name)
	if err != nil {
		return fail(exitUsage, err)
	}
	spec, err := f.source.load(a)
	if err != nil {
		return configError(err)
	}
	if !f.dryRun {
		if err := a.fetchModels(cmd, spec); err != nil {
			return err
		}
	}
	run, err := lab.Draft(lab.Plan{
		Program: "synod " + release, Task: filepath.Base(name), Form: f.form, Items: items, Repeat: f.repeat, Seed: f.seed, Spec: spec, Env: a.env(),
	})
	if err != nil {
		return configError(err)
	}
	if f.dryRun {
		return printEstimate(cmd, cmd.OutOrStdout(), run, f.asJSON)
	}
	if err := run.Create(f.out); err != nil {
		return occupied(err, f.out)
	}
	return a.benchWork(cmd, run, f.parallel)
}

// items are the questions that are wanted.
func (f *benchFlags) items(name string) ([]task.Item, error) {
	set, err := f.open(name)
	if err != nil {
		return nil, err
	}
	items, err := set.Items()
	if err != nil {
		return nil, err
	}
	if f.n > len(items) {
		return nil, fmt.Errorf("-n is %d, and %s has %d questions", f.n, name, len(items))
	}
	if f.n > 0 {
		items = items[:f.n]
	}
	return items, nil
}

func (f *benchFlags) open(name string) (task.Set, error) {
	if !strings.HasSuffix(name, ".jsonl") {
		if f.form != "" {
			return nil, fmt.Errorf("--form is for a file of own questions; %s has its own", name)
		}
		return task.Open(name, task.Options{
			Data: f.data, Pulled: f.pulled, Levels: f.levels, Seed: f.seed,
			Number: f.n, // the built-in task makes as many problems as are wanted
		})
	}
	if f.data != "" || len(f.levels) > 0 {
		return nil, errors.New("--data and --level are for tasks of the catalogue (synod list tasks)")
	}
	return task.OpenFile(name, synod.Form(f.form))
}

// occupied says what to do about a folder that holds something.
func occupied(err error, dir string) error {
	var e *lab.OccupiedError
	if !errors.As(err, &e) {
		return fail(exitError1, err)
	}
	if e.Run && len(e.Changes) == 0 {
		return fail(exitUsage, err, "go on with it:\n  synod bench resume "+dir)
	}
	return fail(exitUsage, err, "give another folder with -o")
}

func benchResume(a *app) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "resume DIR",
		Short: "Go on with a run",
		Long: `Goes on with a run: questions that are finished stay, one that was cut off goes
on with the replies it had, and one that failed is tried again. The council is the
run's own. With -c, --set or --model it is compared with the one they make, and the
run does not go on if they differ.`,
		Example: "  synod bench resume runs/first --parallel 8",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.atOnce(); err != nil {
				return fail(exitUsage, err)
			}
			if grid, err := lab.OpenGrid(args[0]); err == nil {
				return a.benchWork(cmd, grid, f.parallel)
			} else if !errors.Is(err, lab.ErrNoRun) {
				return fail(exitError1, err)
			}
			run, err := lab.Open(args[0])
			if err != nil {
				return fail(exitError1, err)
			}
			if err := a.sameCouncil(cmd, run, &f.source); err != nil {
				return err
			}
			return a.benchWork(cmd, run, f.parallel)
		},
	}
	f.source.add(cmd)
	cmd.Flags().IntVar(&f.parallel, "parallel", 1, "questions at once; members keep to their own concurrency limits")
	return cmd
}

// sameCouncil refuses a council given on the command line that is not the run's.
func (a *app) sameCouncil(cmd *cobra.Command, run *lab.Run, source *specFlags) error {
	if !cmd.Flags().Changed("council") && !cmd.Flags().Changed("set") && !cmd.Flags().Changed("model") {
		return nil
	}
	spec, err := source.load(a)
	if err != nil {
		return configError(err)
	}
	changes, err := run.ChangedCouncil(spec, a.env())
	if err != nil {
		return configError(err)
	}
	if len(changes) > 0 {
		return fail(exitUsage, &lab.ChangedError{Changes: changes}, "make a new run for it with: synod bench run … -o FOLDER")
	}
	return nil
}

// bench is what can be worked on: a run, or a grid of runs.
type bench interface {
	Dir() string
	Work(context.Context, lab.Options) (lab.Progress, error)
	Estimate(context.Context) (*lab.Estimate, error)
}

// benchWork works on a run and says what came of it.
func (a *app) benchWork(cmd *cobra.Command, run bench, parallel int) error {
	show := a.benchProgress(cmd)
	done, err := run.Work(cmd.Context(), lab.Options{Env: a.env(), Parallel: parallel, Program: "synod " + release, Progress: show.at})
	show.done()
	resume := "synod bench resume " + run.Dir()
	var changed *lab.ChangedError
	switch {
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, nil, fmt.Sprintf("interrupted: %d of %d questions are finished, and every reply is kept. Go on with:\n  %s", done.Finished, done.Total, resume))
	case errors.As(err, &changed):
		return fail(exitUsage, err, "make a new run for it with: synod bench run … -o FOLDER")
	case err != nil && done.Total == 0: // it was not begun
		return fail(exitError1, err)
	case err != nil:
		return fail(exitError1, err, fmt.Sprintf("%d of %d questions are finished and kept. When that is mended, go on with:\n  %s", done.Finished, done.Total, resume))
	}
	if !a.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d questions finished · %d calls now · see: synod bench report %s\n", done.Finished, done.Total, done.Calls, run.Dir())
	}
	if done.Failed > 0 {
		return fail(exitError1, fmt.Errorf("%d of %d questions failed", done.Failed, done.Total), "why: synod bench report "+run.Dir()+"; try them again with:\n  "+resume)
	}
	return nil
}

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
