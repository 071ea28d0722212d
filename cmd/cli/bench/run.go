package bench

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

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/cmd/cli/questions"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

type benchFlags struct {
	questions.Flags
	source   app.CouncilFlags
	out      string
	repeat   int
	parallel int
	outage   time.Duration
	noCheck  bool
	members  string
	trust    bool
	cell     string
	// substitute lets real models be asked other questions than the paper's
	substitute bool
	rounds     int
	dryRun     bool
	asJSON     bool
	budget     bench.Budget
	detect     float64 // points; 0: not asked for
	again      string  // the command that goes on with a run; "": synod bench resume
	task       string  // of worth-it with models of the user
}

func runCommand(a *app.App) *cobra.Command {
	var f benchFlags
	var full bool
	cmd := &cobra.Command{
		Use:   "run MANIFEST.yaml|PRESET|TASK|QUESTIONS|all",
		Short: "Ask a council a task, or run an experiment",
		Long: `Asks a council the first N questions of a task or of a file of your own questions:
JSON lines {"question", "answer", "id"?, "choices"?}, CSV or TSV with such headings,
JSON, YAML, promptfoo's tests or Inspect's samples (docs/measure/bench.md).

A manifest describes an experiment: a grid of cells, each a run with its own council.
A preset (synod list presets) is that of a paper. Members are simulated, embedded (the
embedded model), recorded, or models that a council file defines. "all" runs every
preset with claims of a paper in the complete form (--full) into folders of -o, and prints
one table of claims. The same command goes on after an interruption.

A folder that has the same run already is resumed; one of another run is refused. That of
an earlier version of a manifest is brought up to date: cells that have not changed are
kept, also under another name, and are not asked again; what no cell needs any more is
kept without a name.

worth-it with --task measures your own models: it asks each of them your questions, alone, and
prints its tables for these models; it asks the best one as often as the council's price allows.

A seat of the council file may have group: weak or group: strong. Members do not see
it; the report shows both groups separately. Simulated members know the keys; their
results are labelled simulated.

Exit codes: 0 all finished · 1 some failed, or the folder cannot be written · 2
usage · 5 the budget of the manifest is used · 130 interrupted: finished questions are
kept, and the command that resumes the run is printed.`,
		Example: `  synod bench run builtin -c council.yaml -n 30 -o runs/first
  synod bench run gsm8k --data ./data -c council.yaml -n 200 --parallel 8 -o runs/gsm8k
  synod bench run sac-table1 --members simulated --repeat 20 -o runs/t1
  synod bench run study.yaml -o runs/study --set protocol.rounds=3 --set prompts=words
  synod bench run worth-it --members models.yaml --task mine.csv --budget-usd 2 -o runs/mine
  synod bench run all --data ./data -o runs/all`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runBench(a, cmd, args[0], f, full) },
	}
	f.addRun(cmd, &full)
	return cmd
}

// addRun adds the flags of "bench run".
func (f *benchFlags) addRun(cmd *cobra.Command, full *bool) {
	f.source.Add(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.N, "number", "n", 0, "number of questions (default: all)")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the run")
	fl.IntVar(&f.repeat, "repeat", 1, "how often each question is asked")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of all random choices")
	f.addWork(cmd)
	f.AddForms(fl)
	f.addQuestions(fl)
	fl.StringVar(&f.Data, "data", "", "`file` of the task, or a folder that contains it (default: the file that synod "+
		"data pull fetched)")
	fl.IntSliceVar(&f.Levels, "level", nil, "only questions of these levels, such as 4,5")
	fl.StringVar(&f.members, "members", "", "experiments only: simulated, embedded, recorded, or a council `file` "+
		"with models that replace those of the same names (default simulated)")
	fl.StringVar(&f.task, "task", "", "worth-it only: measure the models of --members on this `TASK` or file of "+
		"questions")
	fl.Float64Var(&f.budget.USD, "budget-usd", 0, "with --task: begin no question when so many US dollars are used; "+
		"0: no bound")
	fl.IntVar(&f.rounds, "rounds", 0, "presets with games only: maximum number of rounds (default: as in the paper)")
	fl.StringVar(&f.cell, "cell", "", "experiments only: run only the cells whose names match a "+
		"`pattern`, such as 'sac-*'")
	fl.BoolVar(full, "full", false, "experiments only: the complete form, such as with more repeats")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print low, expected and worst-case cost, and ask no model")
	fl.BoolVar(&f.asJSON, "json", false, "with --dry-run: print JSON")
	f.addDetect(fl)
}

// addQuestions adds the flags that say which questions are asked where not the first are.
func (f *benchFlags) addQuestions(fl *pflag.FlagSet) {
	f.AddSample(fl)
	fl.BoolVar(&f.substitute, "substitute", false, "experiments only: ask real models other questions where those of "+
		"the paper are not available, without verdicts")
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
		return errors.New("--detect is for --dry-run without --json; as JSON: synod bench power --detect 5 --json")
	case f.repeat < 1 || f.repeat > bench.MaxRepeat:
		return fmt.Errorf("--repeat is %d; it must be between 1 and %d", f.repeat, bench.MaxRepeat)
	}
	return errors.Join(f.checkWork(), f.CheckNumber(cmd))
}

// addWork adds the flags that say how the work on a run is done.
func (f *benchFlags) addWork(cmd *cobra.Command) {
	fl := cmd.Flags()
	app.AddNoPreflight(cmd, &f.noCheck)
	fl.IntVar(&f.parallel, "parallel", 1, "questions in progress at the same time; models keep their own concurrency "+
		"limits")
	fl.DurationVar(&f.outage, "outage", bench.DefaultOutage,
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

func runBench(a *app.App, cmd *cobra.Command, name string, f benchFlags, full bool) error {
	if err := f.check(cmd); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	f.Pulled = questions.Store(a).Dir
	o, err := f.manifestOptions(cmd, a)
	if err != nil {
		return err
	}
	o.Full = full
	if name == allPresets {
		return runPresets(a, cmd, withClaims(), f, o)
	}
	m, err := experiment(name)
	if err != nil {
		return err
	}
	if f.task != "" || cmd.Flags().Changed("budget-usd") {
		return runOwn(a, cmd, m, f)
	}
	if m == nil {
		return runTask(a, cmd, name, f)
	}
	if err := f.checkManifest(cmd, m); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	return runGrid(a, cmd, m, f, o)
}

// runTask asks a council the questions of a task or of a file.
func runTask(a *app.App, cmd *cobra.Command, name string, f benchFlags) error {
	for _, flag := range []string{"members", "cell", "rounds", "full", "substitute"} {
		if cmd.Flags().Changed(flag) {
			return app.Fail(app.ExitUsage, fmt.Errorf("--members, --cell, --rounds, --full and --substitute are for "+
				"presets and manifests; %q is neither", name), "see: synod list presets")
		}
	}
	spec, from, err := f.source.Merge(a)
	if err != nil {
		return app.ConfigError(err)
	}
	items, err := f.Items(name, &spec)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := fetchAllowed(a, cmd, spec, from); err != nil {
			return err
		}
	}
	run, err := draftBench(a, name, &f, spec, items)
	if err != nil {
		return err
	}
	if f.dryRun {
		if err := display.PrintEstimate(cmd, cmd.OutOrStdout(), run, f.asJSON, nil); err != nil {
			return err
		}
		return f.showPower(cmd, run.N, run.Repeat)
	}
	return startRun(a, cmd, run, f)
}

// startRun makes the folder of a run and works on it. It resumes the same run in a folder that is there.
func startRun(a *app.App, cmd *cobra.Command, run *bench.Run, f benchFlags) error {
	if run.Learn == a.TrustPath() {
		run.Learn = plan.OwnTrust
	}
	if err := preflightBench(a, cmd, f, run); err != nil {
		return err
	}
	err := run.Create(f.out)
	var e *bench.OccupiedError
	switch {
	case errors.As(err, &e) && e.Run && len(e.Changes) == 0:
		return resume(a, cmd, f.out, f)
	case errors.As(err, &e):
		return app.Fail(app.ExitUsage, err, "choose another folder with -o")
	case err != nil:
		return app.Fail(app.ExitFailure, err)
	}
	if err := benchWork(a, cmd, run, f); err != nil {
		return err
	}
	return learnRun(a, cmd.ErrOrStderr(), run)
}

// draftBench prepares a run of a council on questions.
func draftBench(a *app.App, name string, f *benchFlags, spec plan.Spec, items []task.Item) (*bench.Run, error) {
	run, err := bench.Draft(bench.RunPlan{
		Program: "synod " + app.Release, Task: filepath.Base(name), Form: f.Form, Items: items, Repeat: f.repeat,
		Seed: f.Seed, Spec: spec, Env: a.Env(), Mark: a.Mark(app.OwnRun),
	})
	if err != nil {
		return nil, app.ConfigError(err)
	}
	return run, nil
}

// fetchAllowed fetches the embedded models of a council that the user has named.
func fetchAllowed(a *app.App, cmd *cobra.Command, spec plan.Spec, from plan.Origin) error {
	if err := mayFetch(a, spec, from); err != nil {
		return err
	}
	return a.FetchModels(cmd, spec)
}

// occupied adds a hint to the error about a folder that is not empty.
func occupied(err error, dir string) error {
	var e *bench.OccupiedError
	if !errors.As(err, &e) {
		return app.Fail(app.ExitFailure, err)
	}
	if e.Run && len(e.Changes) == 0 {
		return app.Fail(app.ExitUsage, err, "resume it with:\n  synod bench resume "+app.ShellWord(dir))
	}
	return app.Fail(app.ExitUsage, err, "choose another folder with -o")
}

func resumeCommand(a *app.App) *cobra.Command {
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
				return app.Fail(app.ExitUsage, err)
			}
			return resume(a, cmd, args[0], f)
		},
	}
	f.source.Add(cmd)
	f.addWork(cmd)
	cmd.Flags().BoolVar(&f.trust, "trust", false, fmt.Sprintf(app.TrustFlag, "folder"))
	return cmd
}

// resume works on what is left of a run or a grid, unless somebody else wrote the folder and it is not trusted.
func resume(a *app.App, cmd *cobra.Command, dir string, f benchFlags) error {
	run, grid, err := openBench(dir)
	if err != nil {
		return err
	}
	runs := []*bench.Run{run}
	if grid != nil {
		runs = grid.Runs
	}
	if !f.trust {
		if err := trustRuns(a, dir, runs...); err != nil {
			return err
		}
	}
	if grid != nil {
		return benchWork(a, cmd, grid, f)
	}
	if err := sameCouncil(a, cmd, run, &f.source); err != nil {
		return err
	}
	return benchResumed(a, cmd, run, f)
}

// benchResumed finishes a run, and lets the trust file that its council named learn from it, if the user made the run.
func benchResumed(a *app.App, cmd *cobra.Command, run *bench.Run, f benchFlags) error {
	if err := benchWork(a, cmd, run, f); err != nil {
		return err
	}
	if text, mark := run.Origin(); run.Learn != "" && !a.Wrote(app.OwnRun, text, mark) {
		fmt.Fprintf(cmd.ErrOrStderr(), "you did not make this run on this machine, so nothing is learned from it; to "+
			"learn from it:\n  synod operate trust learn %s\n", app.ShellWord(run.Dir()))
		return nil
	}
	return learnRun(a, cmd.ErrOrStderr(), run)
}

// sameCouncil fails if flags describe another council than that of the run.
func sameCouncil(a *app.App, cmd *cobra.Command, run *bench.Run, source *app.CouncilFlags) error {
	if !cmd.Flags().Changed("council") && !cmd.Flags().Changed("set") && !cmd.Flags().Changed("model") {
		return nil
	}
	spec, err := over(source, a, run)
	if err != nil {
		return app.ConfigError(err)
	}
	changes, err := run.ChangedCouncil(spec, a.Env())
	if err != nil {
		return app.ConfigError(err)
	}
	if len(changes) > 0 {
		return app.Fail(app.ExitUsage, &bench.ChangedError{Changes: changes},
			"start a new run with: synod bench run … -o FOLDER")
	}
	return nil
}

// over returns the council of the flags: that of the run with --set where no other council is given.
func over(f *app.CouncilFlags, a *app.App, run *bench.Run) (plan.Spec, error) {
	if f.File != "" || len(f.Models) > 0 {
		return f.Load(a)
	}
	own, err := run.Spec()
	if err != nil {
		return own, err
	}
	set, err := plan.Set(app.SetLayer, f.Sets)
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
func mayFetch(a *app.App, spec plan.Spec, from plan.Origin) error {
	for _, name := range a.AbsentModels(spec) {
		for key, layer := range from {
			if layer == app.DefaultLayer && strings.HasPrefix(key, "models.") {
				return app.Fail(app.ExitUsage, fmt.Errorf("no council is given, and the embedded model %s of the "+
					"default council is not on this machine", name), "give a council with -c FILE or --model "+
					"PROVIDER:MODEL, or fetch the model first:\n  synod models pull "+app.ShellWord(name))
			}
		}
	}
	return nil
}

// openBench opens a folder of "bench run": a grid if it has one, else a run.
func openBench(dir string) (*bench.Run, *bench.Grid, error) {
	grid, err := bench.OpenGrid(dir)
	if err == nil {
		return nil, grid, nil
	}
	if !errors.Is(err, bench.ErrNoRun) {
		return nil, nil, unreportable(err)
	}
	run, err := bench.Open(dir)
	if errors.Is(err, bench.ErrNoRun) {
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
		return app.Fail(app.ExitFailure, fmt.Errorf("the folder %s does not exist", dir),
			"check the path; a run is in the folder that -o named, as in: synod bench run builtin -o "+
				app.ShellWord(dir))
	}
	if bench.Begun(dir) {
		return app.Fail(app.ExitFailure, fmt.Errorf("%s contains no run yet: its creation was cut off, or never "+
			"began; nothing was asked", dir), "give the command that was cut off once more; it begins the run in this "+
			"folder:\n  synod bench run … -o "+app.ShellWord(dir))
	}
	if names := presetsIn(dir); len(names) > 0 {
		first := app.ShellWord(filepath.Join(dir, names[0]))
		return app.Fail(app.ExitFailure, fmt.Errorf("%s has %s of synod bench run all, each in a folder of its own",
			dir, app.Count(len(names), "preset")), "report or resume one of them, as in: synod bench report "+first+
			"\ngo on with all, and print the table of claims, with the command that began it: synod bench run all … "+
			"-o "+app.ShellWord(dir))
	}
	return app.Fail(app.ExitFailure, fmt.Errorf("%s contains no run", dir),
		"give the folder that -o named, as in: synod bench run builtin -o runs/first")
}

// bench is a run or a grid of runs.
type work interface {
	Dir() string
	Work(context.Context, bench.Options) (bench.Progress, error)
	Estimate(context.Context) (*bench.CostEstimate, error)
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
func benchWork(a *app.App, cmd *cobra.Command, run work, f benchFlags) error {
	defer collectLess()()
	show, at := benchProgress(a, cmd, f.outage)
	tended := tend(cmd.Context(), cmd.ErrOrStderr())
	done, err := run.Work(cmd.Context(), bench.Options{Env: a.Env(), Parallel: f.parallel, Program: "synod " +
		app.Release,
		Progress: at, Outage: f.outage, Budget: f.budget})
	show.Done()
	tended()
	dir := app.ShellWord(run.Dir())
	resume := cmp.Or(f.again, "synod bench resume "+dir)
	if err := unfinished(err, done, dir, resume, f.again != ""); err != nil {
		return err
	}
	if !a.Quiet {
		app.PrintLine(cmd.ErrOrStderr(), fmt.Sprintf("%d of %d questions finished · %d calls now · see: synod bench "+
			"report %s",
			done.Finished, done.Total, done.Calls, dir))
	}
	if r, ok := run.(*bench.Run); ok && asksModels(r) {
		if err := warnUnread(a, cmd, r); err != nil {
			return err
		}
	}
	if done.Failed > 0 {
		return app.Fail(app.ExitFailure, &failedError{done.Failed, done.Total},
			"see the reasons with: synod bench report "+dir+"\ntry them again with:\n  "+resume)
	}
	return nil
}

// unfinished says why work ended early and how to go on; nil if it did not. again: the command that made the run
// resumes it too.
func unfinished(err error, done bench.Progress, dir, resume string, again bool) error {
	var changed *bench.ChangedError
	var used *bench.BudgetError
	switch {
	case errors.Is(err, context.Canceled):
		return app.Fail(app.ExitInterrupted, nil, fmt.Sprintf("interrupted: %d of %d questions are finished, and "+
			"every reply is kept. Resume with:\n  %s", done.Finished, done.Total, resume))
	case bench.Damaged(err):
		return unreportable(err)
	case errors.Is(err, bench.ErrNotComputed):
		return app.Fail(app.ExitUsage, err, "only the manifest can compute them; give it again, with the flags of "+
			"before:\n  synod bench run MANIFEST.yaml -o "+dir)
	case errors.As(err, &used) && again:
		return app.Fail(app.ExitBudget, err, fmt.Sprintf("%d of %d questions are finished and kept. Go on with a "+
			"larger budget:\n  %s", done.Finished, done.Total, resume))
	case errors.As(err, &used):
		return app.Fail(app.ExitBudget, err, fmt.Sprintf("%d of %d questions are finished and kept. Raise budget in "+
			"the manifest and go on with:\n  synod bench run MANIFEST.yaml -o %s", done.Finished, done.Total, dir))
	case errors.As(err, &changed):
		return app.Fail(app.ExitUsage, err, "start a new run with: synod bench run … -o FOLDER")
	case err != nil && done.Total == 0: // the work did not start
		return app.Fail(app.ExitFailure, err)
	case err != nil:
		return app.Fail(app.ExitFailure, err, fmt.Sprintf("%d of %d questions are finished and kept. When the problem "+
			"is solved, resume with:\n  %s", done.Finished, done.Total, resume))
	}
	return nil
}

// asksModels reports whether a member of a run is a model that writes.
func asksModels(r *bench.Run) bool {
	return slices.ContainsFunc(r.Seats, func(s plan.Seat) bool {
		return s.Kind == llm.Endpoint || s.Kind == llm.Embedded
	})
}

// warnUnread says of which models many replies could not be read.
func warnUnread(a *app.App, cmd *cobra.Command, r *bench.Run) error {
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
func (f *benchFlags) manifestOptions(cmd *cobra.Command, a *app.App) (manifest.Options, error) {
	o := manifest.Options{Members: f.members, Data: f.Data, Pulled: f.Pulled, N: f.N, Only: f.cell, Set: f.source.Sets,
		Program: "synod " + app.Release, Env: a.Env(), Mark: a.Mark(app.OwnRun)}
	if cmd.Flags().Changed("repeat") {
		o.Repeat = f.repeat
	}
	if cmd.Flags().Changed("seed") {
		o.Seed = f.Seed
	}
	o.Substitute = f.substitute
	if s, err := f.Drawn(); err != nil {
		return o, err
	} else if s.N > 0 {
		o.Set = append(slices.Clip(o.Set), fmt.Sprintf("sample={n: %d, by: %q, seed: %d}", s.N, s.By, max(s.Seed, 1)))
	}
	if f.rounds > 0 {
		o.Set = append(slices.Clip(o.Set), fmt.Sprintf("protocol.rounds=%d", f.rounds))
	}
	return o, nil
}

// fetchGrid fetches the models that the embedded seats of all cells need.
func fetchGrid(a *app.App, cmd *cobra.Command, grid *bench.Grid) error {
	for _, run := range grid.Runs {
		spec, err := run.Spec()
		if err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		if err := a.FetchModels(cmd, spec); err != nil {
			return err
		}
	}
	return nil
}
