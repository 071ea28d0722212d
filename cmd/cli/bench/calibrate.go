package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/cmd/cli/questions"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
)

// calibrateFlags are the flags of "synod calibrate".
type calibrateFlags struct {
	benchFlags
	force bool
	learn bool
	write string // file
	aim   string
}

// defaultQuestions is how many questions of a task are asked: a difference of ten points on a tenth more of the
// questions shows with about that many.
const defaultQuestions = 100

func CalibrateCommand(a *app.App) *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate [TASK|FILE]",
		Short: "Measure the members of a council, and suggest who to seat",
		Long: `Asks every model of a council the same questions, each alone, and reports its accuracy with a
95 % interval, latency and price, which models err together, how many independent votes the
council's seats are worth (effective votes), and which council of these models is right most
often, with the number of questions that would show its advantage.

Questions are those of a task (default: builtin) or your own, as for synod bench. A model with
several seats is asked twice, so that the errors of its copies can be compared. A call that fails
is no wrong answer: it does not count. Models with logprobs: true are asked how likely their answers
are, which then counts in probabilities (probe: likelihood). The run is kept in a folder and costs nothing twice: the
same command resumes it, or prints it again. synod ask then shows the effective votes of councils
whose members were measured. docs/use/models.md has the formulas.

Exit codes: 0 all questions are finished · 1 some failed · 2 usage · 5 the budget is used ·
130 interrupted.`,
		Example: `  synod calibrate
  synod calibrate -c council.yaml mine.jsonl --form number
  synod calibrate gsm8k -n 200 --parallel 8 --budget-usd 2
  synod calibrate --set models.strong.logprobs=true --write tiers.yaml
  synod calibrate --dry-run
  synod calibrate show`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "builtin"
			if len(args) > 0 {
				name = args[0]
			}
			return runCalibration(a, cmd, name, f)
		},
	}
	f.add(cmd)
	cmd.AddCommand(calibrateShowCommand(a))
	return cmd
}

// add adds the flags of the command.
func (f *calibrateFlags) add(cmd *cobra.Command) {
	f.source.Add(cmd)
	f.addWork(cmd)
	fl := cmd.Flags()
	f.AddForms(fl)
	fl.IntVarP(&f.N, "number", "n", 0, fmt.Sprintf("number of questions (default: %d, and all of your own)",
		defaultQuestions))
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the run (default: calibrations/COUNCIL/TASK in the state "+
		"folder, where synod ask finds it)")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of all random choices")
	fl.StringVar(&f.Data, "data", "", "`file` of the task, or a folder that contains it")
	fl.Float64Var(&f.budget.USD, "budget-usd", 0, "begin no question when so many US dollars are used; 0: no bound")
	fl.IntVar(&f.budget.Calls, "budget-calls", 0, "begin no question when so many calls are made; 0: no bound")
	fl.BoolVar(&f.learn, "learn", false, "add the answers, marked as graded, to the trust file (synod operate trust)")
	fl.StringVar(&f.write, "write", "", "write the recommended council to this `file`; implies --learn")
	fl.StringVar(&f.aim, "choose", "cheapest", "which one: cheapest, \"most right\" or \"withstands one\"")
	fl.BoolVar(&f.force, "force", false, "move a run with other settings out of the way")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print low, expected and worst-case cost, and ask no model")
	fl.BoolVar(&f.asJSON, "json", false, "print the result, or with --dry-run the cost, as JSON")
}

// check validates the flags.
func (f *calibrateFlags) check(cmd *cobra.Command, name string) error {
	switch {
	case f.budget.USD < 0 || f.budget.Calls < 0:
		return errors.New("--budget-usd and --budget-calls must be 0 or more")
	case !slices.ContainsFunc(aims, func(a recommendation) bool { return a.name == f.aim }):
		return unknownAim(f.aim)
	case f.N == 0 && !cmd.Flags().Changed("number") && !task.IsFile(name):
		f.N = defaultQuestions
	}
	f.repeat = 1
	return errors.Join(f.checkWork(), f.CheckNumber(cmd))
}

func runCalibration(a *app.App, cmd *cobra.Command, name string, f calibrateFlags) error {
	if err := f.check(cmd, name); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	if err := questions.CheckName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(f.write); f.write != "" && err == nil { // before anything is asked and paid for
		return app.Fail(app.ExitUsage, fmt.Errorf("%s exists", f.write), "choose another file with --write")
	}
	f.Pulled = questions.Store(a).Dir
	spec, from, err := f.source.Merge(a)
	if err != nil {
		return app.ConfigError(err)
	}
	if f.out == "" {
		f.out = filepath.Join(display.CalibrationDir(a, spec.Council),
			display.FolderName(task.WithoutEnding(filepath.Base(name))))
	}
	if !f.dryRun {
		if err := fetchAllowed(a, cmd, spec, from); err != nil {
			return err
		}
	}
	c := calibration{App: a, cmd: cmd, flags: f, name: name, council: spec}
	draft, err := c.draft()
	if err != nil {
		return err
	}
	if f.dryRun {
		return display.PrintEstimate(cmd, cmd.OutOrStdout(), draft, f.asJSON, nil)
	}
	run, err := c.open(draft)
	if err != nil {
		return err
	}
	return c.work(run)
}

// calibration is the work of "synod calibrate".
type calibration struct {
	*app.App
	cmd      *cobra.Command
	flags    calibrateFlags
	name     string    // of the task
	council  plan.Spec // as it is
	measured plan.Spec // in which each member answers alone
	left     []display.Unmeasured
}

// draft returns the run that measures the models of the council.
func (c *calibration) draft() (*bench.Run, error) {
	if c.council.Runner.Capabilities().Owned {
		return nil, app.Fail(app.ExitUsage, errors.New("the members of this council are nodes, whose models only "+
			"their owners can measure"), "each owner can calibrate the council file of the own seats")
	}
	var err error
	if c.measured, err = measuring(&c.council, c.left); err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	items, err := c.flags.Items(c.name, &c.council)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(it task.Item) bool { return it.Record().Ungraded })
	if len(items) == 0 {
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("the questions of %s have no answers to compare with", c.name),
			`each line needs an answer: {"id": "1", "question": "…", "answer": "…"}`)
	}
	return draftBench(c.App, c.name, &c.flags.benchFlags, c.measured, items)
}

// open opens the run in the folder if it is the same as the draft, and creates it otherwise.
func (c *calibration) open(draft *bench.Run) (*bench.Run, error) {
	old, err := bench.Open(c.flags.out)
	if errors.Is(err, bench.ErrNoRun) {
		return c.create(draft)
	}
	if err == nil {
		if err = c.same(old, draft); err == nil {
			return old, nil
		}
	}
	var changed *bench.ChangedError
	if !errors.As(err, &changed) {
		return nil, unreportable(err)
	}
	if !c.flags.force {
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("%s has a calibration with other settings:\n  %s", c.flags.out,
			strings.Join(changed.Changes, "\n  ")), "choose another folder with -o, or move that one away with --force")
	}
	aside := c.flags.out + time.Now().UTC().Format(".20060102-150405")
	if err := os.Rename(c.flags.out, aside); err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	c.Say(c.cmd, "the earlier calibration is now in "+aside)
	return c.create(draft)
}

// same fails if a run is not the draft. A run that leaves out models that could not be asked is the same.
func (c *calibration) same(old, draft *bench.Run) error {
	changes := old.Changes(&draft.RunManifest)
	if len(changes) == 0 {
		return nil
	}
	known, err := display.ReadCalibration(c.flags.out)
	if err != nil || len(known.Unmeasured) == 0 {
		return &bench.ChangedError{Changes: changes}
	}
	c.left = known.Unmeasured
	if draft, err = c.draft(); err != nil {
		return err
	}
	if changes = old.Changes(&draft.RunManifest); len(changes) > 0 {
		return &bench.ChangedError{Changes: changes}
	}
	return nil
}

// create checks the models, leaves out those that cannot be asked, and writes the folder.
func (c *calibration) create(draft *bench.Run) (*bench.Run, error) {
	if !c.flags.noCheck && app.HasEndpoint(c.measured) {
		if err := c.checkModels(); err != nil {
			return nil, err
		}
		if len(c.left) > 0 {
			var err error
			if draft, err = c.draft(); err != nil {
				return nil, err
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(c.flags.out), 0o700); err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	if err := draft.Create(c.flags.out); err != nil {
		return nil, occupied(err, c.flags.out)
	}
	return draft, nil
}

// checkModels finds the models that cannot be asked.
func (c *calibration) checkModels() error {
	members, err := council.Convene(c.measured, c.Env())
	if err != nil {
		return app.ConfigError(err)
	}
	defer members.Close()
	for _, k := range members.Preflight(c.cmd.Context()) {
		if k.Err != nil {
			c.left = append(c.left, display.Unmeasured{Model: k.Model, Reason: app.CheckedProblem(k)})
			c.Say(c.cmd, k.Model+" cannot be measured: "+app.CheckedProblem(k))
		}
	}
	return c.cmd.Context().Err()
}

// work asks what is not asked yet, and prints and keeps the result.
func (c *calibration) work(run *bench.Run) error {
	f := c.flags.benchFlags
	f.again = c.command()
	if err := c.keep(run); err != nil { // who was left out must be known when the run is resumed
		return err
	}
	worked := benchWork(c.App, c.cmd, run, f)
	var how *app.Error
	if errors.As(worked, &how) && how.Code != app.ExitBudget && how.Code != app.ExitFailure {
		return worked
	}
	if err := c.keep(run); err != nil {
		return errors.Join(worked, err)
	}
	if err := c.printResult(run); err != nil {
		return err
	}
	if c.flags.learn || c.flags.write != "" {
		observed, err := run.Observations(true)
		if err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		trust := plan.Trust{File: c.trustFile(), Learn: true}
		if err := c.App.Learn(c.cmd.ErrOrStderr(), trust, observed); err != nil {
			return err
		}
		c.Say(c.cmd, app.Count(len(observed), "answer")+" learned, marked as graded")
	}
	return worked
}

// command is the command that goes on with the run.
func (c *calibration) command() string {
	words := []string{"synod", "calibrate"}
	if c.name != "builtin" {
		words = append(words, app.ShellWord(c.name))
	}
	return again(c.cmd, &c.flags.source, words...)
}
