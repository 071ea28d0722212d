// Package ask has the commands about one question: ask, which puts it to a council, replay, which plays a journal again
// without a model, and verify, which checks a certificate or a journal.
//
// "synod ask" goes through four steps: prepare reads question and council from flags or from the journal to resume,
// convene opens the members, decide has the council decide, and printOutcome prints. Then the decision is recorded in a
// ledger and certified, where the user asks for that.
package ask

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Command is "synod ask".
func Command(a *app.App) *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask [QUESTION | -]",
		Short: "Ask a council a question",
		Long: `Asks a council a question. Only the answer is printed on stdout; everything else goes
to stderr. Without a council file seven members of the embedded model answer, which
needs no key and no server.`,
		Example: `  synod ask "What is the capital of France?"
  echo "Is 91 prime?" | synod ask --form bool -
  synod ask -c council.yaml --json "What is 17 + 25?"
  synod ask --model openai:gpt-4o-mini --model ollama:llama3.2 "Who wrote Emma?"
  synod ask -c council.yaml --set f=2 --set protocol.rounds=3 "…"
  synod ask --set 'checks=[{name: small, cel: self < 50}]' "What is 17 + 25?"
  synod ask --resume JOURNAL`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return askCouncil(a, cmd, args, f) },
	}
	f.add(cmd)
	shortHelp(cmd)
	return cmd
}

func askCouncil(a *app.App, cmd *cobra.Command, args []string, f askFlags) error {
	defer a.Unlock()
	if f.fallback != "fail" && f.fallback != "best-effort" {
		return app.Fail(app.ExitUsage, fmt.Errorf("--on-no-consensus is %q; it must be fail or best-effort",
			f.fallback))
	}
	if err := display.CheckShow(f.show); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	if f.roster != "" || len(f.via) > 0 {
		l, err := f.nodesLayer(cmd)
		if err != nil {
			return err
		}
		f.source.Nodes = l
	}
	ask, spec, err := prepare(a, cmd, args, &f)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := a.FetchModels(cmd, spec); err != nil {
			return err
		}
	}
	env := a.Env()
	if f.record != "" && !f.dryRun {
		if err := recordable(a, cmd, spec); err != nil {
			return err
		}
		if err := app.FolderOf("--record", f.record); err != nil {
			return err
		}
		if env.Record, err = llm.NewRecorder(f.record); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	err = convene(a, cmd, ask, spec, env, f)
	if env.Record != nil {
		if torn := env.Record.Close(); torn != nil && err == nil {
			return app.Fail(app.ExitFailure, torn, "the trace is not complete; the outcome above is")
		}
	}
	return err
}

// convene opens the council, asks the question and prints the outcome.
func convene(a *app.App, cmd *cobra.Command, ask council.Ask, spec plan.Spec, env llm.Env, f askFlags) error {
	c, err := priced(a, cmd, spec, &env)
	if err != nil {
		return app.ConfigError(err)
	}
	defer func() {
		if err := c.Close(); err != nil && !a.Quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), "closing the members:", app.OneLine(err.Error()))
		}
	}()
	err = c.Accepts(&ask.Question)
	if err == nil && f.certificate != "" {
		err = plan.CheckCertified(c.Plan(), &ask.Question)
	}
	if err != nil {
		return app.NotBegun(err)
	}
	announce(a, cmd, c, ask.Question, f.dryRun)
	if f.dryRun {
		return dryRun(cmd, ask, spec, env, f.asJSON)
	}
	if ask.Resume != nil && !outcome.Unfinished(ask.Resume) {
		return recall(a, cmd, ask.Resume, c, f)
	}
	if !f.noCheck {
		if gone := preflight(a, cmd, c, &ask); gone != nil {
			if err := printOutcome(a, cmd, f, *gone, c); err != nil {
				return err
			}
			return app.Ask.Verdict(gone)
		}
	}
	return decide(a, cmd, c, ask, f, spec.Trust)
}

// decide has a council decide, prints and certifies the outcome, and learns from it.
func decide(a *app.App, cmd *cobra.Command, c *council.Council, ask council.Ask, f askFlags,
	trust plan.Trust) error {
	show := progress(a, cmd, &ask)
	o, err := c.Decide(cmd.Context(), ask)
	show.Done()
	if o.Proof != nil {
		missing(a, cmd, c.Plan(), o.Proof)
	}
	var torn *council.JournalError
	var untold *council.EscalationError
	if err != nil && !errors.As(err, &torn) && !errors.As(err, &untold) {
		return app.NotBegun(err)
	}
	if untold != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "synod:", app.OneLine(untold.Error()))
	}
	if err := printOutcome(a, cmd, f, o, c); err != nil {
		return err
	}
	if err := a.Learn(cmd.ErrOrStderr(), trust, outcome.Observations(c.Plan(), &ask.Question, &o, nil)); err != nil {
		return err
	}
	in := plan.Instance{Question: ask.Question, Seed: ask.Seed}
	if o.Proof != nil {
		err = certifyByNodes(a, cmd, &f, c.Plan(), &o)
	} else {
		err = certify(a, cmd, &f, c.Plan(), in, &o)
	}
	if err != nil {
		return err
	}
	if torn != nil && torn.Cut {
		return app.Fail(app.ExitFailure, torn, app.Ask.Advice(&o))
	}
	if torn != nil {
		return app.Fail(app.ExitFailure, torn, "free some disk space or choose another file with --journal FILE; the "+
			"answer above is complete")
	}
	return app.Ask.Verdict(&o)
}

// prepare returns the question and the council, from the arguments or from a journal.
func prepare(a *app.App, cmd *cobra.Command, args []string, f *askFlags) (council.Ask, plan.Spec, error) {
	ask := council.Ask{Program: "synod " + app.Release, Seed: f.seed, Mark: a.Mark(app.OwnJournal),
		Again: app.Ask.Resume}
	if f.Resume != "" {
		for _, flag := range append([]string{"council", "model", "form", "schema", "tools", "seed", "at-least"},
			attachNames...) {
			if cmd.Flags().Changed(flag) {
				return ask, plan.Spec{}, app.Fail(app.ExitUsage,
					fmt.Errorf("--resume takes all settings from the journal; --%s cannot be combined with it", flag))
			}
		}
		return a.Resumed(ask, args, &f.JournalFlags, &f.source, "ask")
	}
	text, err := f.read(cmd, args, &ask.Question)
	if err != nil {
		return ask, plan.Spec{}, err
	}
	if err := errors.Join(app.FolderOf("--journal", f.Path), app.FolderOf("--certificate", f.certificate)); err != nil {
		return ask, plan.Spec{}, err
	}
	spec, from, err := f.source.Merge(a)
	if err == nil {
		err = onlyHere(cmd, &spec)
	}
	if err != nil {
		return ask, plan.Spec{}, app.ConfigError(err)
	}
	ask.Question.Salt = salt(&spec)
	if err := f.shape(&ask.Question, text, &spec); err != nil {
		return ask, spec, app.Fail(app.ExitUsage, err)
	}
	f.suit(&ask.Question, &spec, from)
	if cmd.Flags().Changed("at-least") {
		if spec, err = spec.WithAtLeast(f.atLeast); err != nil {
			return ask, spec, app.ConfigError(err)
		}
	}
	if !f.escalate {
		if err := checkEscalation(a, spec, from); err != nil {
			return ask, spec, err
		}
	}
	if err := chooseSeed(a, cmd, &ask, spec); err != nil {
		return ask, plan.Spec{}, err
	}
	ask.Journal = a.JournalPath(&f.JournalFlags)
	return ask, spec, nil
}

// read reads the question of the arguments and the flags. It returns its text as it was given.
func (f *askFlags) read(cmd *cobra.Command, args []string, into *synod.Question) (text string, err error) {
	q, err := f.attach.question(cmd, args)
	if err != nil {
		return "", err
	}
	if f.form != "" && !slices.Contains(synod.Forms(), synod.Form(f.form)) {
		return "", app.Fail(app.ExitUsage, fmt.Errorf("--form is %q; it must be one of %v", f.form, synod.Forms()))
	}
	if *into, err = council.ReadQuestion(q.Text, synod.Form(f.form)); err != nil {
		return "", app.Fail(app.ExitUsage, err)
	}
	into.Parts, into.Before, into.After = q.Parts, q.Before, q.After
	if f.form == "" {
		council.Guess(into)
	}
	return q.Text, nil
}

// recordable fails if --record would record nothing, and says which members it does not record: a simulated member's
// replies are invented, and a recording is of real ones.
func recordable(a *app.App, cmd *cobra.Command, spec plan.Spec) error {
	var simulated []string
	for _, s := range spec.Seats {
		name, _ := spec.Models[s.Model]["provider"].(string)
		if p, err := llm.Providers.Find(name); err == nil && p.Kind == llm.Simulated {
			simulated = append(simulated, s.ID)
		}
	}
	switch {
	case len(simulated) > 0 && len(simulated) == len(spec.Seats):
		return app.Fail(app.ExitUsage, errors.New("--record: all members are simulated, and a recording is of real "+
			"replies"),
			"leave --record out; the journal of the run has what they said")
	case len(simulated) > 0 && !a.Quiet:
		fmt.Fprintf(cmd.ErrOrStderr(), "--record leaves out the simulated members: %s\n", strings.Join(simulated, ", "))
	}
	return nil
}

// chooseSeed sets the seed of a question, unless a flag has set it.
func chooseSeed(a *app.App, cmd *cobra.Command, ask *council.Ask, spec plan.Spec) error {
	switch {
	case cmd.Flags().Changed("seed"):
	case spec.Runner.Capabilities().Owned: // each node has a seed of its own
	case caches(spec):
		seed, err := llm.CacheSeed(a.CacheDir(), cacheText(*ask, spec))
		if err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		ask.Seed = seed
	default:
		ask.Seed = rand.Uint64N(1 << 48)
	}
	return nil
}

// recall prints the outcome of a run that is complete.
func recall(a *app.App, cmd *cobra.Command, run *journal.Run, c *council.Council, f askFlags) error {
	if !a.Quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), "the run is complete; no model was asked")
	}
	o := c.Recall(run, f.Resume)
	if err := printOutcome(a, cmd, f, o, c); err != nil {
		return err
	}
	in := outcome.InstanceOf(run)
	if err := certify(a, cmd, &f, c.Plan(), in, &o); err != nil {
		return err
	}
	return app.Ask.Verdict(&o)
}
