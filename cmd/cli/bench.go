package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod/bench/lab"
	"synod.dev/synod/bench/lab/manifest"
	"synod.dev/synod/bench/task"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

func benchCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a council on a task",
		Long: `Asks a council the questions of a task, grades the answers and reports the results.
A run is kept in a folder. It can be killed at any time and resumed without asking
for a reply twice. The folder can be moved, and a report needs no model.`,
		Example: `  synod bench run builtin -c council.yaml -n 30 -o runs/first
  synod bench run mine.jsonl --form number -c council.yaml -o runs/mine --dry-run
  synod bench resume runs/first
  synod bench report runs/first --format md`,
	}
	cmd.AddCommand(benchRun(a), benchResume(a), benchReport(a), benchCompare(a), benchExport(a))
	return cmd
}

type benchFlags struct {
	source   specFlags
	n        int
	out      string
	repeat   int
	seed     uint64
	parallel int
	outage   time.Duration
	noCheck  bool
	form     string
	schema   string
	tools    string
	data     string
	pulled   string // folder of fetched data sets
	levels   []int
	members  string
	trust    bool
	cell     string
	rounds   int
	dryRun   bool
	asJSON   bool
	budget   lab.Budget
	detect   float64 // points; 0: not asked for
	again    string  // the command that goes on with a run; "": synod bench resume
}

func benchRun(a *app) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "run TASK|FILE|PRESET",
		Short: "Ask a council a task, or run an experiment of a paper",
		Long: `Asks a council the first N questions of a task or of a file of your own questions:
JSON lines {"question", "answer", "id"?, "choices"?}, CSV or TSV with such headings,
JSON, YAML, promptfoo's tests or Inspect's samples (docs/measure/bench.md).

A preset (synod list presets) is an experiment of a paper: a grid of cells, each a
run with its own council. Its members are simulated, embedded (the embedded model),
recorded, or models that a council file defines.

A seat of the council file may have group: weak or group: strong. Members do not see
it; the report shows both groups separately. Simulated members know the keys; their
results are labelled simulated.

Exit codes: 0 all finished · 1 some failed, or the folder cannot be written · 2
usage · 130 interrupted: finished questions are kept, and the command that resumes
the run is printed.`,
		Example: `  synod bench run builtin -c council.yaml -n 30 -o runs/first
  synod bench run gsm8k --data ./data -c council.yaml -n 200 --parallel 8 -o runs/gsm8k
  synod bench run sac-table1 --members simulated --repeat 20 -o runs/t1
  synod bench report runs/t1 --vs paper`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.benchRun(cmd, args[0], f) },
	}
	f.addRun(cmd)
	return cmd
}

// addRun adds the flags of "bench run".
func (f *benchFlags) addRun(cmd *cobra.Command) {
	f.source.add(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "number", "n", 0, "number of questions (default: all)")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the run; must be new or empty")
	fl.IntVar(&f.repeat, "repeat", 1, "how often each question is asked")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	f.addWork(cmd)
	f.addForms(fl)
	fl.StringVar(&f.data, "data", "", "`file` of the task, or a folder that contains it (default: the file that synod "+
		"data pull fetched)")
	fl.IntSliceVar(&f.levels, "level", nil, "only questions of these levels, such as 4,5")
	fl.StringVar(&f.members, "members", "", "presets only: simulated, embedded, recorded, or a council `file` with "+
		"the models of the preset (default simulated)")
	fl.IntVar(&f.rounds, "rounds", 0, "presets with games only: maximum number of rounds (default: as in the paper)")
	fl.StringVar(&f.cell, "cell", "", "presets only: run only the cells whose names match a `pattern`, such as 'sac-*'")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print low, expected and worst-case cost, and ask no model")
	fl.BoolVar(&f.asJSON, "json", false, "with --dry-run: print JSON")
	f.addDetect(fl)
}

// addDetect adds the flag that asks for the size of a study.
func (f *benchFlags) addDetect(fl *pflag.FlagSet) {
	fl.Float64Var(&f.detect, "detect", 0, "with --dry-run: print how many questions show a difference of so many "+
		"`points`")
}

// check validates the flags of "bench run".
func (f *benchFlags) check(cmd *cobra.Command) error {
	switch {
	case f.out == "" && !f.dryRun:
		return errors.New("-o is missing: the folder of the run, such as -o runs/first")
	case f.asJSON && !f.dryRun:
		return errors.New("--json is for --dry-run; for results use synod bench report FOLDER --format json")
	case f.detect != 0 && (!f.dryRun || f.asJSON):
		return errors.New("--detect is for --dry-run without --json; as JSON: synod lab power --detect 5 --json")
	case f.repeat < 1 || f.repeat > lab.MaxRepeat:
		return fmt.Errorf("--repeat is %d; it must be between 1 and %d", f.repeat, lab.MaxRepeat)
	}
	return errors.Join(f.checkWork(), f.checkNumber(cmd))
}

// addWork adds the flags that say how the work on a run is done.
func (f *benchFlags) addWork(cmd *cobra.Command) {
	fl := cmd.Flags()
	addNoPreflight(cmd, &f.noCheck)
	fl.IntVar(&f.parallel, "parallel", 1, "questions in progress at the same time; models keep their own concurrency "+
		"limits")
	fl.DurationVar(&f.outage, "outage", lab.DefaultOutage,
		"how long calls wait for a model that has replied before and "+
			"no longer does, before they fail; 0: not at all")
}

// checkWork validates the flags of addWork.
func (f *benchFlags) checkWork() error {
	switch {
	case f.parallel < 1 || f.parallel > 10_000:
		return fmt.Errorf("--parallel is %d; it must be between 1 and 10000, such as 8", f.parallel)
	case f.outage < 0 || f.outage > 24*time.Hour:
		return fmt.Errorf("--outage is %v; it must be between 0s and 24h, such as 5m", f.outage)
	}
	return nil
}

// checkNumber rejects -n below 1. Without -n all questions are used.
func (f *benchFlags) checkNumber(cmd *cobra.Command) error {
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
	if p, err := manifest.Presets().Find(name); err == nil {
		return a.presetRun(cmd, p, f)
	}
	if f.members != "" || f.cell != "" || f.rounds != 0 {
		return fail(exitUsage, fmt.Errorf("--members, --cell and --rounds are for presets; %q is not a preset", name),
			"see: synod list presets")
	}
	spec, from, err := f.source.merge(a)
	if err != nil {
		return configError(err)
	}
	items, err := f.items(name, &spec)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := a.fetchAllowed(cmd, spec, from); err != nil {
			return err
		}
	}
	run, err := a.draftBench(name, &f, spec, items)
	if err != nil {
		return err
	}
	if f.dryRun {
		if err := printEstimate(cmd, cmd.OutOrStdout(), run, f.asJSON, nil); err != nil {
			return err
		}
		return f.showPower(cmd, run.N, run.Repeat)
	}
	if run.Learn == a.trustPath() {
		run.Learn = plan.OwnTrust
	}
	if err := a.preflightBench(cmd, f, run); err != nil {
		return err
	}
	if err := run.Create(f.out); err != nil {
		return occupied(err, f.out)
	}
	if err := a.benchWork(cmd, run, f); err != nil {
		return err
	}
	return a.learnRun(cmd.ErrOrStderr(), run)
}

// draftBench prepares a run of a council on questions.
func (a *app) draftBench(name string, f *benchFlags, spec plan.Spec, items []task.Item) (*lab.Run, error) {
	run, err := lab.Draft(lab.Plan{
		Program: "synod " + release, Task: filepath.Base(name), Form: f.form, Items: items, Repeat: f.repeat,
		Seed: f.seed, Spec: spec, Env: a.env(), Mark: a.mark(ownRun),
	})
	if err != nil {
		return nil, configError(err)
	}
	return run, nil
}

// fetchAllowed fetches the embedded models of a council that the user has named.
func (a *app) fetchAllowed(cmd *cobra.Command, spec plan.Spec, from plan.Origin) error {
	if err := a.mayFetch(spec, from); err != nil {
		return err
	}
	return a.fetchModels(cmd, spec)
}

// occupied adds a hint to the error about a folder that is not empty.
func occupied(err error, dir string) error {
	var e *lab.OccupiedError
	if !errors.As(err, &e) {
		return fail(exitError1, err)
	}
	if e.Run && len(e.Changes) == 0 {
		return fail(exitUsage, err, "resume it with:\n  synod bench resume "+counciloutcome.ShellWord(dir))
	}
	return fail(exitUsage, err, "choose another folder with -o")
}

func benchResume(a *app) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "resume DIR",
		Short: "Resume a run",
		Long: `Resumes a run. Finished questions are kept, an interrupted question continues with
the replies it has, and a failed question is tried again. The council is that of the
run. If -c, --set or --model is given, the council that they describe must be the
same, or the run is not resumed.`,
		Example: "  synod bench resume runs/first --parallel 8",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkWork(); err != nil {
				return fail(exitUsage, err)
			}
			run, grid, err := openBench(args[0])
			if err != nil {
				return err
			}
			runs := []*lab.Run{run}
			if grid != nil {
				runs = grid.Runs
			}
			if !f.trust {
				if err := a.trustRuns(args[0], runs...); err != nil {
					return err
				}
			}
			if grid != nil {
				return a.benchWork(cmd, grid, f)
			}
			if err := a.sameCouncil(cmd, run, &f.source); err != nil {
				return err
			}
			return a.benchResumed(cmd, run, f)
		},
	}
	f.source.add(cmd)
	f.addWork(cmd)
	cmd.Flags().BoolVar(&f.trust, "trust", false, fmt.Sprintf(trustFlag, "folder"))
	return cmd
}

// benchResumed finishes a run, and lets the trust file that its council named learn from it, if the user made the run.
func (a *app) benchResumed(cmd *cobra.Command, run *lab.Run, f benchFlags) error {
	if err := a.benchWork(cmd, run, f); err != nil {
		return err
	}
	if text, mark := run.Origin(); run.Learn != "" && !a.key().Wrote(ownRun, text, mark) {
		fmt.Fprintf(cmd.ErrOrStderr(), "you did not make this run on this machine, so nothing is learned from it; to "+
			"learn from it:\n  synod operate trust learn %s\n", counciloutcome.ShellWord(run.Dir()))
		return nil
	}
	return a.learnRun(cmd.ErrOrStderr(), run)
}

// sameCouncil fails if flags describe another council than that of the run.
func (a *app) sameCouncil(cmd *cobra.Command, run *lab.Run, source *specFlags) error {
	if !cmd.Flags().Changed("council") && !cmd.Flags().Changed("set") && !cmd.Flags().Changed("model") {
		return nil
	}
	spec, err := source.over(a, run)
	if err != nil {
		return configError(err)
	}
	changes, err := run.ChangedCouncil(spec, a.env())
	if err != nil {
		return configError(err)
	}
	if len(changes) > 0 {
		return fail(exitUsage, &lab.ChangedError{Changes: changes}, "start a new run with: synod bench run … -o FOLDER")
	}
	return nil
}

// over returns the council of the flags: that of the run with --set where no other council is given.
func (f *specFlags) over(a *app, run *lab.Run) (plan.Spec, error) {
	if f.file != "" || len(f.models) > 0 {
		return f.load(a)
	}
	own, err := run.Spec()
	if err != nil {
		return own, err
	}
	set, err := plan.Set(setLayer, f.sets)
	if err != nil {
		return own, err
	}
	text, err := yaml.Marshal(own)
	if err != nil {
		return own, err
	}
	own, _, err = plan.Merge(plan.Layer{Name: "the run's council", Text: text}, set)
	return own, err
}

// mayFetch fails if a bench without a council would fetch the embedded model: nobody asked for it.
func (a *app) mayFetch(spec plan.Spec, from plan.Origin) error {
	for _, name := range a.absentModels(spec) {
		for key, layer := range from {
			if layer == defaultLayer && strings.HasPrefix(key, "models.") {
				return fail(exitUsage, fmt.Errorf("no council is given, and the embedded model %s of the default "+
					"council is not on this machine", name), "give a council with -c FILE or --model PROVIDER:MODEL, "+
					"or fetch the model first:\n  synod models pull "+counciloutcome.ShellWord(name))
			}
		}
	}
	return nil
}

// openBench opens a folder of "bench run": a grid if it has one, else a run.
func openBench(dir string) (*lab.Run, *lab.Grid, error) {
	grid, err := lab.OpenGrid(dir)
	if err == nil {
		return nil, grid, nil
	}
	if !errors.Is(err, lab.ErrNoRun) {
		return nil, nil, unreportable(err)
	}
	run, err := lab.Open(dir)
	if errors.Is(err, lab.ErrNoRun) {
		return nil, nil, noRun(dir)
	}
	if err != nil {
		return nil, nil, unreportable(err)
	}
	return run, nil, nil
}

// noRun is the error for a folder that is missing or contains no run.
func noRun(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return fail(exitError1, fmt.Errorf("the folder %s does not exist", dir),
			"check the path; a run is in the folder that -o named, as in: synod bench run builtin -o "+
				counciloutcome.ShellWord(dir))
	}
	return fail(exitError1, fmt.Errorf("%s contains no run", dir),
		"give the folder that -o named, as in: synod bench run builtin -o runs/first")
}

// bench is a run or a grid of runs.
type bench interface {
	Dir() string
	Work(context.Context, lab.Options) (lab.Progress, error)
	Estimate(context.Context) (*lab.Estimate, error)
}

// collectLess lets the heap grow to four times the memory in use before garbage is collected, not to
// twice, until the result is called. With simulated members, collections would take a fifth of
// the time of a run; the memory in use is a few MiB. It does nothing if the user has set GOGC.
func collectLess() (undo func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	old := debug.SetGCPercent(300)
	return func() { debug.SetGCPercent(old) }
}

// benchWork works on a run and prints how many questions are finished.
func (a *app) benchWork(cmd *cobra.Command, run bench, f benchFlags) error {
	defer collectLess()()
	show, at := a.benchProgress(cmd, f.outage)
	tended := tend(cmd.Context(), cmd.ErrOrStderr())
	done, err := run.Work(cmd.Context(), lab.Options{Env: a.env(), Parallel: f.parallel, Program: "synod " + release,
		Progress: at, Outage: f.outage, Budget: f.budget})
	show.done()
	tended()
	dir := counciloutcome.ShellWord(run.Dir())
	resume := cmp.Or(f.again, "synod bench resume "+dir)
	var changed *lab.ChangedError
	var used *lab.BudgetError
	switch {
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, nil, fmt.Sprintf("interrupted: %d of %d questions are finished, and every reply "+
			"is kept. Resume with:\n  %s", done.Finished, done.Total, resume))
	case lab.Damaged(err):
		return unreportable(err)
	case errors.As(err, &used) && f.again != "":
		return fail(exitBudget, err, fmt.Sprintf("%d of %d questions are finished and kept. Go on with a larger "+
			"budget:\n  %s", done.Finished, done.Total, resume))
	case errors.As(err, &used):
		return fail(exitBudget, err, fmt.Sprintf("%d of %d questions are finished and kept. Raise budget in the "+
			"manifest and go on with:\n  synod lab run MANIFEST.yaml -o %s", done.Finished, done.Total, dir))
	case errors.As(err, &changed):
		return fail(exitUsage, err, "start a new run with: synod bench run … -o FOLDER")
	case err != nil && done.Total == 0: // the work did not start
		return fail(exitError1, err)
	case err != nil:
		return fail(exitError1, err, fmt.Sprintf("%d of %d questions are finished and kept. When the problem is "+
			"solved, resume with:\n  %s", done.Finished, done.Total, resume))
	}
	if !a.quiet {
		say(cmd.ErrOrStderr(), fmt.Sprintf("%d of %d questions finished · %d calls now · see: synod bench report %s",
			done.Finished, done.Total, done.Calls, dir))
	}
	if r, ok := run.(*lab.Run); ok && asksModels(r) {
		if err := a.warnUnread(cmd, r); err != nil {
			return err
		}
	}
	if done.Failed > 0 {
		return fail(exitError1, fmt.Errorf("%d of %d questions failed", done.Failed, done.Total),
			"see the reasons with: synod bench report "+dir+"\ntry them again with:\n  "+resume)
	}
	return nil
}

// asksModels reports whether a member of a run is a model that writes.
func asksModels(r *lab.Run) bool {
	return slices.ContainsFunc(r.Seats, func(s plan.Seat) bool {
		return s.Kind == llm.Endpoint || s.Kind == llm.Embedded
	})
}

// warnUnread says of which models many replies could not be read.
func (a *app) warnUnread(cmd *cobra.Command, r *lab.Run) error {
	rep, err := r.Report()
	if err != nil {
		return unreportable(err)
	}
	for _, line := range rep.Warnings() {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
	return nil
}

// manifestOptions returns what the flags say of a grid.
func (f *benchFlags) manifestOptions(cmd *cobra.Command, a *app) manifest.Options {
	o := manifest.Options{Members: f.members, Data: f.data, Pulled: f.pulled, N: f.n, Only: f.cell, Set: f.source.sets,
		Program: "synod " + release, Env: a.env(), Mark: a.mark(ownRun)}
	if cmd.Flags().Changed("repeat") {
		o.Repeat = f.repeat
	}
	if cmd.Flags().Changed("seed") {
		o.Seed = f.seed
	}
	if f.rounds > 0 {
		o.Set = append(slices.Clip(o.Set), fmt.Sprintf("protocol.rounds=%d", f.rounds))
	}
	return o
}

// presetRun creates the grid of a preset and works on it.
func (a *app) presetRun(cmd *cobra.Command, p manifest.Preset, f benchFlags) error {
	for _, name := range []string{"council", "model", "form", "schema", "tools", "level"} {
		if cmd.Flags().Changed(name) {
			return fail(exitUsage, fmt.Errorf("--%s is for tasks; a preset defines its own councils and takes "+
				"--members", name))
		}
	}
	if f.rounds > 0 && !p.Manifest.Plays("game") {
		return fail(exitUsage, fmt.Errorf("preset %s: --rounds is only for presets with games", p.Name),
			fmt.Sprintf("set the rounds of its protocols with: --set protocol.rounds=%d", f.rounds))
	}
	grid, err := p.Manifest.Draft(f.manifestOptions(cmd, a))
	if err != nil {
		return configError(err)
	}
	if f.dryRun {
		return printEstimate(cmd, cmd.OutOrStdout(), grid, f.asJSON, nil)
	}
	if err := a.fetchGrid(cmd, grid); err != nil {
		return err
	}
	if err := a.preflightBench(cmd, f, grid.Runs...); err != nil {
		return err
	}
	if err := grid.Create(f.out); err != nil {
		return occupied(err, f.out)
	}
	if !a.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), strings.TrimSpace(fmt.Sprintf("%d cells. %s",
			len(grid.Cells)+len(grid.Computed)+len(grid.Readings), grid.Note)))
	}
	if len(grid.Cells) == 0 {
		if !a.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "all cells are computed without asking a member · see: synod bench report "+
				"%s\n", counciloutcome.ShellWord(grid.Dir()))
		}
		return nil
	}
	return a.benchWork(cmd, grid, f)
}

// fetchGrid fetches the models that the embedded seats of all cells need.
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
