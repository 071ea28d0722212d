package cli

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
)

// askFlags are the flags of "synod ask".
type askFlags struct {
	app.JournalFlags
	source   app.CouncilFlags
	attach   attachFlags
	form     string
	schema   string
	tools    string
	seed     uint64
	asJSON   bool
	dryRun   bool
	noCheck  bool
	record   string
	fallback string
	show     []string
	escalate bool
	claims   bool
	drop     bool

	certificate string
	ledger      string
	bodies      bool
	key         string
	via         []string
	roster      string
}

func askCommand(a *app.App) *cobra.Command {
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
  synod ask --resume JOURNAL`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return askCouncil(a, cmd, args, f) },
	}
	f.add(cmd)
	shortHelp(cmd)
	return cmd
}

// add adds the flags to a command.
func (f *askFlags) add(cmd *cobra.Command) {
	f.source.Add(cmd)
	f.attach.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.form, "form", "", "form of the answer: number, choice, bool, math, text, stance, prose, "+
		"json or action (default: that of the council file, or guessed from the question)")
	fl.StringVar(&f.schema, "schema", "", "ask for a JSON value under the JSON schema in this `file`, merged field by "+
		"field (--form json)")
	fl.StringVar(&f.tools, "tools", "", "ask for a call of one of the tools in this JSON `file` (--form action)")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of all random choices (default: random, and printed; "+
		"the same for the same question where a model has cache: true)")
	fl.BoolVar(&f.asJSON, "json", false, "print the whole outcome as JSON")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the guarantee and the low, expected and worst-case cost, and ask "+
		"no model")
	fl.StringVar(&f.Path, "journal", "", "write the journal to this `file`")
	fl.BoolVar(&f.NoJournal, "no-journal", false, "write no journal")
	fl.StringVar(&f.Resume, "resume", "", "resume the run in this `journal`, which gets the rest of the run; "+
		"a complete run is printed again")
	fl.BoolVar(&f.Trust, "trust", false, "with --resume: "+fmt.Sprintf(app.TrustFlag, "journal"))
	fl.BoolVar(&f.escalate, "allow-escalation", false, "allow the webhook and the command that breakers of the "+
		"council file name")
	fl.StringVar(&f.record, "record", "", "add the first answers of the members, and their grades, to this "+
		"`trace`, which provider: "+
		"recorded replays; simulated members are left out")
	fl.StringVar(&f.fallback, "on-no-consensus", "fail",
		"fail, or best-effort: print the leading answer, with the exit code of the failure")
	fl.StringSliceVar(&f.show, "show", nil, "also print: rounds (the answers after every round as a table, as with "+
		"-v), models (results per model), or reasoning (of every member)")
	fl.BoolVar(&f.claims, "claims", false, "prose: the members also judge every claim of the answer")
	fl.BoolVar(&f.drop, "drop-disputed", false, "prose: --claims, and the author of the answer leaves out what is "+
		"disputed")
	app.AddNoPreflight(cmd, &f.noCheck)
	fl.StringVar(&f.certificate, "certificate", "",
		"write a certificate of the decision to this `file`, signed by the "+
			"owner of all members; synod verify checks it")
	fl.StringVar(&f.ledger, "ledger", "", "record the decision in the ledger in this `folder`, as hashes")
	fl.BoolVar(&f.bodies, "ledger-bodies", false, "with --ledger: record the texts too, not only their hashes")
	fl.StringVar(&f.key, "key", "", "with --certificate and --ledger: the `file` of the owner's key; with --roster: "+
		"that of a member or caller (default: owner.key in the configuration folder, made when it is first needed)")
	fl.StringVar(&f.roster, "roster", "", "ask the nodes of this roster `file`, whose seats have other owners")
	fl.StringSliceVar(&f.via, "via", nil, "with --roster: `HOST:PORT` or ID=HOST:PORT where nodes are reached "+
		"(default: the roster's addresses)")
	cmd.MarkFlagsMutuallyExclusive("journal", "no-journal")
}

func askCouncil(a *app.App, cmd *cobra.Command, args []string, f askFlags) error {
	defer a.Unlock()
	if f.fallback != "fail" && f.fallback != "best-effort" {
		return app.Fail(app.ExitUsage, fmt.Errorf("--on-no-consensus is %q; it must be fail or best-effort",
			f.fallback))
	}
	if err := checkShow(f.show); err != nil {
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
func convene(a *app.App, cmd *cobra.Command, ask council.Ask, spec council.Spec, env llm.Env, f askFlags) error {
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
		err = c.Plan().Certifies(&ask.Question)
	}
	if err != nil {
		return app.NotBegun(err)
	}
	announce(a, cmd, c, ask.Question, f.dryRun)
	if f.dryRun {
		return dryRun(a, cmd, ask, spec, env, f.asJSON)
	}
	if ask.Resume != nil && !council.Unfinished(ask.Resume) {
		return recall(a, cmd, ask.Resume, c, f)
	}
	if !f.noCheck {
		if gone := preflight(a, cmd, c, ask); gone != nil {
			if err := printOutcome(a, cmd, f, *gone, c); err != nil {
				return err
			}
			return app.Verdict(*gone)
		}
	}
	return decide(a, cmd, c, ask, f, spec.Trust)
}

// decide has a council decide, prints and certifies the outcome, and learns from it.
func decide(a *app.App, cmd *cobra.Command, c *council.Council, ask council.Ask, f askFlags,
	trust council.TrustSpec) error {
	show, returned := progress(a, cmd, &ask), watchNodes(a, cmd, c)
	outcome, err := c.Decide(cmd.Context(), ask)
	show.Done()
	var torn *council.JournalError
	var untold *council.EscalationError
	if err != nil && !errors.As(err, &torn) && !errors.As(err, &untold) {
		return app.NotBegun(err)
	}
	if untold != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "synod:", app.OneLine(untold.Error()))
	}
	if err := printOutcome(a, cmd, f, outcome, c); err != nil {
		return err
	}
	if err := a.Learn(cmd.ErrOrStderr(), trust, c.Plan().Observations(&ask.Question, &outcome, nil)); err != nil {
		return err
	}
	in := council.Instance{Question: ask.Question, Seed: ask.Seed}
	if res := returned(); res != nil {
		err = certifyByNodes(a, cmd, &f, c, res, ask.Question, &outcome)
	} else {
		err = certify(a, cmd, &f, c.Plan(), in, &outcome)
	}
	if err != nil {
		return err
	}
	if torn != nil && torn.Cut {
		return app.Fail(app.ExitFailure, torn, outcome.Advice().Next)
	}
	if torn != nil {
		return app.Fail(app.ExitFailure, torn, "free some disk space or choose another file with --journal FILE; the "+
			"answer above is complete")
	}
	return app.Verdict(outcome)
}

// prepare returns the question and the council, from the arguments or from a journal.
func prepare(a *app.App, cmd *cobra.Command, args []string, f *askFlags) (council.Ask, council.Spec, error) {
	ask := council.Ask{Program: "synod " + app.Release, Seed: f.seed, Mark: a.Mark(app.OwnJournal)}
	if f.Resume != "" {
		for _, flag := range append([]string{"council", "model", "form", "schema", "tools", "seed"},
			attachNames...) {
			if cmd.Flags().Changed(flag) {
				return ask, council.Spec{}, app.Fail(app.ExitUsage,
					fmt.Errorf("--resume takes all settings from the journal; --%s cannot be combined with it", flag))
			}
		}
		return a.Resumed(ask, args, &f.JournalFlags, &f.source, "ask")
	}
	q, err := f.attach.question(cmd, args)
	if err != nil {
		return ask, council.Spec{}, err
	}
	if f.form != "" && !slices.Contains(synod.Forms(), synod.Form(f.form)) {
		return ask, council.Spec{}, app.Fail(app.ExitUsage, fmt.Errorf("--form is %q; it must be one of %v", f.form,
			synod.Forms()))
	}
	if ask.Question, err = council.ReadQuestion(q.Text, synod.Form(f.form)); err != nil {
		return ask, council.Spec{}, app.Fail(app.ExitUsage, err)
	}
	ask.Question.Parts, ask.Question.Before, ask.Question.After = q.Parts, q.Before, q.After
	if f.form == "" {
		council.Guess(&ask.Question)
	}
	if err := errors.Join(app.FolderOf("--journal", f.Path), app.FolderOf("--certificate", f.certificate)); err != nil {
		return ask, council.Spec{}, err
	}
	spec, from, err := f.source.Merge(a)
	if err == nil {
		err = onlyHere(cmd, &spec)
	}
	if err != nil {
		return ask, council.Spec{}, app.ConfigError(err)
	}
	ask.Question.Salt = salt(&spec)
	if err := f.shape(&ask.Question, q.Text, &spec); err != nil {
		return ask, spec, app.Fail(app.ExitUsage, err)
	}
	f.suit(&ask.Question, &spec, from)
	if !f.escalate {
		if err := checkEscalation(a, spec, from); err != nil {
			return ask, spec, err
		}
	}
	if err := chooseSeed(a, cmd, &ask, spec); err != nil {
		return ask, council.Spec{}, err
	}
	ask.Journal = a.JournalPath(&f.JournalFlags)
	return ask, spec, nil
}

// recordable fails if --record would record nothing, and says which members it does not record: a simulated member's
// replies are invented, and a recording is of real ones.
func recordable(a *app.App, cmd *cobra.Command, spec council.Spec) error {
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
func chooseSeed(a *app.App, cmd *cobra.Command, ask *council.Ask, spec council.Spec) error {
	switch {
	case cmd.Flags().Changed("seed"):
	case spec.Runner.Nodes(): // each node has a seed of its own
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
	in := council.InstanceOf(run)
	if err := certify(a, cmd, &f, c.Plan(), in, &o); err != nil {
		return err
	}
	return app.Verdict(o)
}

// question returns the question: the arguments, or stdin for "-".
func question(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return "", app.Fail(app.ExitUsage, errors.New("there is no question"),
			`try: synod ask "What is the capital of France?"`)
	}
	text := strings.Join(args, " ")
	if text == "-" {
		const most = 64 << 20
		b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), most+1))
		if err != nil {
			return "", app.Fail(app.ExitFailure, fmt.Errorf("read the question from stdin: %w", err))
		}
		if len(b) > most {
			return "", app.Fail(app.ExitUsage, fmt.Errorf("the question on stdin has more than %d MB: shorten it",
				most>>20))
		}
		text = string(b)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", app.Fail(app.ExitUsage, errors.New("the question is empty"),
			`try: synod ask "What is the capital of France?"`)
	}
	return text, nil
}
