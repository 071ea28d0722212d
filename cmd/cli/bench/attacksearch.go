package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/attack/search"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/questions"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
)

type searchFlags struct {
	benchFlags
	council string
	options search.Options
	fresh   int
	history int
	asJSON  bool
}

// The files that a search writes into its folder.
const (
	worstFile    = "worst.json"
	worstCouncil = "worst.yaml"
)

func attackSearchCommand(a *app.App) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search [TASK|FILE]",
		Short: "Search for the attack that harms a council most",
		Long: `Tries attacks on the council of -c: adversaries, mixtures of two, their parameters, texts and
timing, how many seats they have and which. The first tries have every adversary once, the
next are drawn, and the others change the worst attacks so far (--strategy). An attack is
worse if it captures more right answers; then if it loses more of them, then if it loses
more decisions, then if it costs more.

The worst attack is reduced to the seats and parameters that it needs, and measured again
on --fresh questions that the search has not seen: on its own questions its figures are too
high, because it was chosen for them. The folder of -o gets worst.json, which synod attack
replay plays again, and worst.yaml, the council with this attack in it, for synod ask -c.

A council that learns (trust: {file: FILE, learn: true}, with protocol cascade) learns before
each try from --history questions, which every member answers with the attack in place, as in
synod attack. FILE is neither read nor changed.

^C saves; the same command goes on, also with a larger --budget. Without TASK the built-in
problems are asked.

Exit codes: 0 done · 1 error · 2 usage · 5 --calls or --usd was reached · 130 interrupted.`,
		Example: `  synod attack search -c council.yaml -o runs/search
  synod attack search -c council.yaml --budget 10000 --members 2 --adversary persuader,replay -o runs/search
  synod attack search -c learns.yaml --history 50 --budget 200 -o runs/poisoned
  synod attack search -c paid.yaml mine.jsonl -n 5 --fresh 20 --budget 200 --usd 10 -o runs/paid`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return attackSearch(a, cmd, strings.Join(args, ""), f)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// add adds the flags of "attack search".
func (f *searchFlags) add(fl *pflag.FlagSet) {
	fl.StringVarP(&f.council, "council", "c", "", "council `file`, without adversaries of its own")
	fl.IntVar(&f.options.Tries, "budget", 1000, "how many `tries`")
	fl.IntVar(&f.options.Calls, "calls", 0, "stop after this `number` of model calls (default: no bound)")
	fl.Float64Var(&f.options.USD, "usd", 0, "stop after this `cost` in US dollars, of calls whose price is known")
	fl.StringSliceVar(&f.options.Adversaries, "adversary", []string{attack.All}, "`names` of synod list adversaries, "+
		"or all: those that do more than give a wrong answer in this protocol")
	fl.IntVar(&f.options.Members, "members", 0, "how many `seats` adversaries get at most (default: F of the council)")
	fl.StringSliceVar(&f.options.Seats, "seats", nil, "only these seats, by `id` (default: all)")
	fl.StringSliceVar(&f.options.Keep, "keep", nil, "`parameters` that stay at their defaults, such as text")
	fl.StringVar((*string)(&f.options.Strategy), "strategy", string(search.Evolutionary),
		strings.Join(search.Strategies(), ", "))
	fl.Uint64Var(&f.options.Seed, "seed", 1, "seed of all random choices")
	fl.IntVarP(&f.N, "number", "n", 10, "number of questions of each try")
	fl.IntVar(&f.fresh, "fresh", 100, "number of questions on which the worst attack is measured again")
	fl.IntVar(&f.history, "history", 100, "of a council that learns: how many `questions` it learns from before each "+
		"try")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the search")
	fl.StringVar(&f.Data, "data", "", "`file` or folder of the questions (default: what synod data pull fetched)")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
}

func (f *searchFlags) checkSearch() error {
	o := &f.options
	switch {
	case f.council == "":
		return errors.New("-c is missing: the file of the council that is attacked")
	case f.out == "":
		return errors.New("-o is missing: the folder of the search, such as -o runs/search")
	case o.Tries < 1 || o.Tries > 1_000_000:
		return fmt.Errorf("--budget is %d; it must be between 1 and 1000000 tries", o.Tries)
	case f.N < 1 || f.fresh < 1 || f.history < 1:
		return fmt.Errorf("-n is %d, --fresh %d and --history %d; they must be at least 1", f.N, f.fresh, f.history)
	case o.Calls < 0 || !(o.USD >= 0):
		return fmt.Errorf("--calls is %d and --usd is %v; neither may be negative", o.Calls, o.USD)
	case o.Members < 0:
		return fmt.Errorf("--members is %d; it must be at least 1", o.Members)
	case !slices.Contains(search.Strategies(), string(o.Strategy)):
		return fmt.Errorf("--strategy is %q%s; it must be one of %s", o.Strategy, synod.Hint(string(o.Strategy),
			search.Strategies()), strings.Join(search.Strategies(), ", "))
	}
	return nil
}

func attackSearch(a *app.App, cmd *cobra.Command, name string, f searchFlags) error {
	if err := f.checkSearch(); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	o := f.options
	var err error
	if o.Spec, err = plan.Load(f.council); err != nil {
		return app.ConfigError(err)
	}
	if cmd.Flags().Changed("history") && !o.Spec.Learns() {
		return app.Fail(app.ExitUsage, errors.New("--history is for a council with protocol cascade that learns "+
			"(trust: {file: trust.json, learn: true})"))
	}
	if !o.Spec.Learns() {
		f.history = 0
	}
	if err := searchItems(a, name, f, &o); err != nil {
		return err
	}
	o.Env = a.Env()
	o.Spec.Trust = plan.Trust{}
	plan, err := plan.New(o.Spec)
	if err == nil {
		err = attack.Honest(plan)
	}
	if err != nil {
		return app.ConfigError(fmt.Errorf("%s: %w", f.council, err))
	}
	show := a.NewBar(cmd, false, "playing the questions without adversaries")
	start, done := time.Now(), 0
	o.Progress = func(n int, worst search.Try) {
		done++
		show.Set(int64(n), int64(o.Tries))
		show.Say(func() string {
			left := app.Eta(done, o.Tries-n, time.Since(start))
			return fmt.Sprintf("%d of %d tries · %s · worst: %s, %s", n, o.Tries, left, worst.Score, worst.Case)
		})
	}
	r, err := search.Run(cmd.Context(), f.out, o)
	show.Done()
	switch {
	case errors.Is(err, context.Canceled):
		return app.Fail(app.ExitInterrupted, nil, "interrupted; every try is kept, and the same command goes on")
	case err != nil:
		return app.ConfigError(err)
	}
	return searchReport(a, cmd, f, o, plan, r)
}

// searchItems sets the questions of the history, those of the search, and as many others as --fresh says.
func searchItems(a *app.App, name string, f searchFlags, o *search.Options) error {
	if name == "" {
		name = "builtin"
	}
	f.Pulled, f.Seed = questions.Store(a).Dir, f.options.Seed
	n := f.N
	f.N += f.fresh + f.history
	all, err := f.benchFlags.Items(name, &o.Spec)
	if err != nil {
		return err
	}
	o.History, all = all[:f.history:f.history], all[f.history:]
	o.Items, o.Fresh = all[:n], all[n:]
	return nil
}

// searchReport writes the files of the worst attack and prints what was found.
func searchReport(a *app.App, cmd *cobra.Command, f searchFlags, o search.Options, plan *plan.Plan, r *search.Findings,
) error {
	s := search.Summary{Version: search.Version, Council: filepath.Base(f.council),
		Protocol: fmt.Sprint(plan.Spec().Protocol["name"]), Strategy: o.Strategy, Seed: o.Seed,
		Objective: search.Objective, History: len(o.History), Tries: r.Tries, Reducing: r.Reducing,
		WorstTry: r.Found.N, Ended: r.Ended,
		Worst: r.Worst, Found: r.Before.Figures(), Fresh: r.After.Figures(), Capture: r.After.Score.Capture(),
		File: filepath.Join(f.out, worstFile), Attacked: filepath.Join(f.out, worstCouncil)}
	if r.First > 0 {
		s.First = &r.First
	}
	for _, x := range plan.Seats() {
		if k := string(x.Kind); !slices.Contains(s.Kinds, k) {
			s.Kinds = append(s.Kinds, k)
		}
	}
	file, err := o.File(r, "synod "+app.Release)
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	attacked, err := file.Attacked()
	if err == nil {
		s.Fooling, err = fooledIn(attacked)
	}
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if err := errors.Join(file.Write(s.File), durable.WriteFile(s.Attacked, attacked)); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if f.asJSON {
		err = s.JSON(cmd.OutOrStdout())
	} else {
		err = s.Text(cmd.OutOrStdout())
	}
	switch {
	case err != nil:
		return app.Fail(app.ExitFailure, err)
	case r.Ended == search.EndedCalls || r.Ended == search.EndedUSD:
		return app.Fail(app.ExitBudget, errors.New(r.Ended), "go on with the same command and a larger --calls or "+
			"--usd")
	case !f.asJSON && !a.Quiet:
		fmt.Fprintf(cmd.ErrOrStderr(),
			"play it again: synod attack replay %s\nask with it:   synod ask -c %s QUESTION\n",
			app.ShellWord(s.File), app.ShellWord(s.Attacked))
	}
	return nil
}

// fooledIn returns what is assumed to fool the simulated members of a council file.
func fooledIn(text []byte) (string, error) {
	spec, err := plan.Parse(text)
	if err != nil {
		return "", err
	}
	plan, err := plan.New(spec)
	if err != nil {
		return "", err
	}
	var all []string
	for _, x := range plan.Seats() {
		if x.Fooling != "" && !slices.Contains(all, x.Fooling) {
			all = append(all, x.Fooling)
		}
	}
	return strings.Join(all, "; "), nil
}

func attackReplayCommand(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Play the worst attack of a search again",
		Long: `Plays the attack in a file of synod attack search again, on the questions of the search and on
the fresh ones, which are in the file with the council, and prints the figures and the
digests. They are the same on every machine for simulated and recorded members. Members of
servers reply otherwise each time, unless their replies are cached.

Exit codes: 0 the same · 1 error · 2 usage · 7 something differs from the file.`,
		Example: "  synod attack replay runs/search/worst.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := search.Read(args[0])
			if errors.Is(err, os.ErrNotExist) {
				return app.Fail(app.ExitUsage, err, "check the path")
			}
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			r, err := file.Replay(cmd.Context(), a.Env())
			if err != nil {
				return app.ConfigError(err)
			}
			return replayReport(cmd, file, r, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func replayReport(cmd *cobra.Command, file *search.AttackFile, r *search.Replayed, asJSON bool) error {
	out := cmd.OutOrStdout()
	var err error
	if asJSON {
		err = search.WriteReplayed(out, file.Case, r)
	} else {
		fmt.Fprintf(out, "%s\n\n", app.OneLine(file.Case.String()))
		figures := []search.DamageFigures{r.Found.Figures(), r.Fresh.Figures()}
		err = search.WriteFigures(out, search.Measurements(), figures)
	}
	switch {
	case err != nil:
		return app.Fail(app.ExitFailure, err)
	case len(r.Differs) > 0:
		return app.Fail(app.ExitVerify, errors.New("the attack did not do the same again"), r.Differs...)
	case !asJSON:
		fmt.Fprintln(out, "the same as in the file")
	}
	return nil
}
