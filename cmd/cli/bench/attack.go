package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/questions"
)

type attackFlags struct {
	benchFlags
	spec   attack.Spec
	most   float64
	format string
	plots  string
}

func AttackCommand(a *app.App) *cobra.Command {
	var f attackFlags
	cmd := &cobra.Command{
		Use:   "attack [TASK|FILE]",
		Short: "Attack a council with adversaries and measure what they achieve",
		Long: `Plays the questions of a task with the council of -c as it is, and then with each adversary
in some of its seats, and compares: how often the council was captured, which means that
its decision is wrong and an adversary held it; how many right answers and decisions it
lost; what it cost; how often a member was proved to have signed two values. Every kind of
member works. With --defences, all of this is played again with each defence switched off,
or on if the council does not have it, and the table says what the defence changes.
What simulated members do against an attack is a model of it, not a measurement, and every
format says so.

A council that learns (trust: {file: FILE, learn: true}, with protocol cascade) first learns
from --history questions, which every member answers, with each adversary in place. Those
that poison a history build their record there, and defect in the questions that are
measured. Each attack is also measured without a history, and against a plurality. FILE is
neither read nor changed.

The folder of -o is a grid: ^C saves, and the same command goes on. Without TASK the
built-in problems are asked.

Exit codes: 0 done · 1 some questions failed · 2 usage · 5 budget · 100 a capture rate is
above --max-capture · 130 interrupted.`,
		Example: `  synod attack -c council.yaml -o runs/attack -n 50
  synod attack -c council.yaml --adversary replay,persuader --members 1,2 --seats worst,random -o runs/a
  synod attack -c council.yaml --adversary delimiter-forger --defences fence,tokens -o runs/fence
  synod attack -c learns.yaml --adversary follow-defect,lie-to-win --history 200 -n 200 -o runs/poisoned
  synod attack -c council.yaml mine.jsonl -o runs/ci --max-capture 0.05 --format junit > attack.xml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.spec.Task = args[0]
			}
			return runAttack(a, cmd, f)
		},
	}
	f.add(cmd)
	cmd.AddCommand(attackSearchCommand(a), attackReplayCommand(a), attackGuideCommand())
	return cmd
}

// add adds the flags to the command.
func (f *attackFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.spec.Council, "council", "c", "", "council `file`, without adversaries of its own")
	fl.StringSliceVar(&f.spec.Adversaries, "adversary", []string{attack.All}, "`names` of synod list adversaries, or "+
		"all: those that do more than give a wrong answer in this protocol")
	fl.IntSliceVar(&f.spec.Members, "members", []int{1}, "how `many` seats an adversary gets; several are tried one "+
		"after the other")
	fl.StringSliceVar(&f.spec.Seats, "seats", []string{attack.Worst}, "worst, random (three draws), or the `ids` of "+
		"seats, taken from the front")
	fl.IntVarP(&f.N, "number", "n", 0, "number of questions (default: all of the task)")
	fl.StringSliceVar(&f.spec.Defences, "defences", nil, "measure these `names` of synod list defences, or all: play "+
		"everything again with each in its other state")
	fl.IntVar(&f.spec.History, "history", 0, "of a council that learns: how many `questions` it learns from before an "+
		"attack is measured (default 100)")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the runs")
	fl.IntVar(&f.repeat, "repeat", 1, "how often each question is asked")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of all random choices")
	fl.StringVar(&f.Data, "data", "", "`file` or folder of the questions (default: what synod data pull fetched)")
	fl.Float64Var(&f.most, "max-capture", math.Inf(1), "exit with 100 if an attack captures a greater `share` of "+
		"questions")
	fl.StringVar(&f.format, "format", "text", "format of the table: "+strings.Join(attack.Formats(), ", "))
	fl.StringVar(&f.plots, "plots", "", "write the plots into this `folder`")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the runs and low, expected and worst-case cost; ask no model")
	f.addWork(cmd)
}

func (f *attackFlags) check(cmd *cobra.Command) error {
	if !slices.Contains(attack.Formats(), f.format) {
		return fmt.Errorf("--format is %q%s; it must be one of %s", f.format, synod.Hint(f.format, attack.Formats()),
			strings.Join(attack.Formats(), ", "))
	}
	if cmd.Flags().Changed("max-capture") && !(f.most >= 0 && f.most <= 1) {
		return fmt.Errorf("--max-capture is %v; it must be between 0 and 1, such as 0.05", f.most)
	}
	if f.spec.Council == "" {
		return errors.New(strings.TrimSpace("-c is missing: name the file of a council, as in " +
			"synod attack -c council.yaml " + f.spec.Task))
	}
	return f.benchFlags.check(cmd)
}

func runAttack(a *app.App, cmd *cobra.Command, f attackFlags) error {
	if err := f.check(cmd); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	f.Pulled = questions.Store(a).Dir
	f.spec.Questions, f.spec.Repeat, f.spec.Seed = f.N, f.repeat, f.Seed
	learns, err := f.spec.Learns()
	if err != nil {
		return app.ConfigError(err)
	}
	if cmd.Flags().Changed("history") && (!learns || f.spec.History < 1) {
		return app.Fail(app.ExitUsage, fmt.Errorf("--history is %d; it must be at least 1, and is for a council with "+
			"protocol cascade that learns (trust: {file: trust.json, learn: true})", f.spec.History))
	}
	o, err := f.manifestOptions(cmd, a)
	if err != nil {
		return err
	}
	o.N, o.Substitute = 0, true // the number is in the manifest; an attack is compared with no paper
	if learns {
		return attackLearning(a, cmd, f, o)
	}
	m, err := f.spec.Manifest()
	if err != nil {
		return app.ConfigError(err)
	}
	grid, err := m.Draft(o)
	if err != nil {
		return app.ConfigError(err)
	}
	if err := f.sayLeftOut(cmd); err != nil {
		return app.ConfigError(err)
	}
	if f.dryRun {
		return printPlan(cmd, grid, f.asJSON)
	}
	if err := bringFiles(a, cmd, m, grid, f.benchFlags); err != nil {
		return err
	}
	if err := benchWork(a, cmd, grid, f.benchFlags); err != nil {
		return err
	}
	return reportAttack(a, cmd, grid, f)
}

// sayLeftOut prints which adversaries are not played because of the protocol's traits.
func (f *attackFlags) sayLeftOut(cmd *cobra.Command) error {
	out, err := f.spec.LeftOut()
	if out != "" {
		app.PrintLine(cmd.ErrOrStderr(), out)
	}
	return err
}

// attackLearning plays the histories from which a council learns, and then the attacks, in one folder.
func attackLearning(a *app.App, cmd *cobra.Command, f attackFlags, o manifest.Options) error {
	m, err := f.spec.Planned()
	if err != nil {
		return app.ConfigError(err)
	}
	grid, err := m.Draft(o) // which fails before anything is played
	if err != nil {
		return app.ConfigError(err)
	}
	if f.dryRun {
		return printPlan(cmd, grid, f.asJSON)
	}
	grid = nil
	if err := f.sayLeftOut(cmd); err != nil {
		return app.ConfigError(err)
	}
	f.again = "the same synod attack command, with -o " + app.ShellWord(f.out)
	for last := false; !last; {
		m, end, err := f.spec.Next(grid)
		if err != nil {
			return app.ConfigError(err)
		}
		if grid, err = m.Draft(o); err != nil {
			return app.ConfigError(err)
		}
		last = end
		if err := bringFiles(a, cmd, m, grid, f.benchFlags); err != nil {
			return err
		}
		if err := benchWork(a, cmd, grid, f.benchFlags); err != nil {
			return err
		}
	}
	return reportAttack(a, cmd, grid, f)
}

// reportAttack prints the table of a finished attack.
func reportAttack(a *app.App, cmd *cobra.Command, grid *bench.Grid, f attackFlags) error {
	t, err := attack.Compute(grid)
	if err != nil {
		return unreportable(err)
	}
	r, err := grid.Report()
	if err != nil {
		return unreportable(err)
	}
	plots := r.Specified()
	if f.plots != "" {
		if err := report.Save(f.plots, plots); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	if err := t.Write(cmd.OutOrStdout(), f.format, f.most, plots); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if over := t.Captured(f.most); len(over) > 0 {
		return app.Fail(app.ExitGate, fmt.Errorf("%s captured more than %.1f %% of the questions, first %s at %s",
			app.Count(len(over), "attack"), 100*f.most, over[0].Adversary, strings.Join(over[0].Seats, " ")),
			"see the questions with: synod bench report "+app.ShellWord(grid.Dir())+" --format html -o attack.html")
	}
	return nil
}
