package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/lab"
	"synod.dev/synod/lab/preset"
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
