package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// askFlags are the flags of "synod ask".
type askFlags struct {
	source    specFlags
	attach    attachFlags
	form      string
	schema    string
	tools     string
	seed      uint64
	asJSON    bool
	dryRun    bool
	path      string
	noJournal bool
	noCheck   bool
	resume    string
	record    string
	fallback  string
	show      []string
	trust     bool
	escalate  bool
	claims    bool
	drop      bool

	certificate string
	ledger      string
	bodies      bool
	key         string
	via         []string
	roster      string
}

func askCommand(a *app) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error { return a.ask(cmd, args, f) },
	}
	f.add(cmd)
	shortHelp(cmd)
	return cmd
}

// add adds the flags to a command.
func (f *askFlags) add(cmd *cobra.Command) {
	f.source.add(cmd)
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
	fl.StringVar(&f.path, "journal", "", "write the journal to this `file`")
	fl.BoolVar(&f.noJournal, "no-journal", false, "write no journal")
	fl.StringVar(&f.resume, "resume", "", "resume the run in this `journal`, which gets the rest of the run; "+
		"a complete run is printed again")
	fl.BoolVar(&f.trust, "trust", false, "with --resume: "+fmt.Sprintf(trustFlag, "journal"))
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
	addNoPreflight(cmd, &f.noCheck)
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

func (a *app) ask(cmd *cobra.Command, args []string, f askFlags) error {
	defer a.unlock()
	if f.fallback != "fail" && f.fallback != "best-effort" {
		return fail(exitUsage, fmt.Errorf("--on-no-consensus is %q; it must be fail or best-effort", f.fallback))
	}
	if err := checkShow(f.show); err != nil {
		return fail(exitUsage, err)
	}
	if f.roster != "" || len(f.via) > 0 {
		l, err := f.nodesLayer(cmd)
		if err != nil {
			return err
		}
		f.source.nodes = l
	}
	ask, spec, err := a.prepare(cmd, args, &f)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := a.fetchModels(cmd, spec); err != nil {
			return err
		}
	}
	env := a.env()
	if f.record != "" && !f.dryRun {
		if err := a.recordable(cmd, spec); err != nil {
			return err
		}
		if err := folderOf("--record", f.record); err != nil {
			return err
		}
		if env.Record, err = llm.NewRecorder(f.record); err != nil {
			return fail(exitError1, err)
		}
	}
	err = a.convene(cmd, ask, spec, env, f)
	if env.Record != nil {
		if torn := env.Record.Close(); torn != nil && err == nil {
			return fail(exitError1, torn, "the trace is not complete; the outcome above is")
		}
	}
	return err
}

// convene opens the council, asks the question and prints the outcome.
func (a *app) convene(cmd *cobra.Command, ask council.Ask, spec plan.Spec, env llm.Env, f askFlags) error {
	c, err := a.priced(cmd, spec, &env)
	if err != nil {
		return configError(err)
	}
	defer func() {
		if err := c.Close(); err != nil && !a.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), "closing the members:", oneLine(err.Error()))
		}
	}()
	err = c.Accepts(&ask.Question)
	if err == nil && f.certificate != "" {
		err = plan.CheckCertified(c.Plan(), &ask.Question)
	}
	if err != nil {
		return notBegun(err)
	}
	a.announce(cmd, c, ask.Question, f.dryRun)
	if f.dryRun {
		return a.dryRun(cmd, ask, spec, env, f.asJSON)
	}
	if ask.Resume != nil && !counciloutcome.Unfinished(ask.Resume) {
		return a.recall(cmd, ask.Resume, c, f)
	}
	if !f.noCheck {
		if gone := a.preflight(cmd, c, ask); gone != nil {
			if err := a.print(cmd, f, *gone, c); err != nil {
				return err
			}
			return verdict(*gone)
		}
	}
	return a.decide(cmd, c, ask, f, spec.Trust)
}

// decide has a council decide, prints and certifies the outcome, and learns from it.
func (a *app) decide(cmd *cobra.Command, c *council.Council, ask council.Ask, f askFlags,
	trust plan.Trust) error {
	show, returned := a.progress(cmd, &ask), a.watchNodes(cmd, c)
	outcome, err := c.Decide(cmd.Context(), ask)
	show.done()
	var torn *council.JournalError
	var untold *council.EscalationError
	if err != nil && !errors.As(err, &torn) && !errors.As(err, &untold) {
		return notBegun(err)
	}
	if untold != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "synod:", oneLine(untold.Error()))
	}
	if err := a.print(cmd, f, outcome, c); err != nil {
		return err
	}
	if err := a.learn(cmd.ErrOrStderr(), trust, counciloutcome.Observations(c.Plan(), &ask.Question, &outcome,
		nil)); err != nil {
		return err
	}
	in := plan.Instance{Question: ask.Question, Seed: ask.Seed}
	if res := returned(); res != nil {
		err = a.certifyByNodes(cmd, &f, c, res, ask.Question, &outcome)
	} else {
		err = a.certify(cmd, &f, c.Plan(), in, &outcome)
	}
	if err != nil {
		return err
	}
	if torn != nil && torn.Cut {
		return fail(exitError1, torn, outcome.Advice().Next)
	}
	if torn != nil {
		return fail(exitError1, torn, "free some disk space or choose another file with --journal FILE; the answer "+
			"above is complete")
	}
	return verdict(outcome)
}

// prepare returns the question and the council, from the arguments or from a journal.
func (a *app) prepare(cmd *cobra.Command, args []string, f *askFlags) (council.Ask, plan.Spec, error) {
	ask := council.Ask{Program: "synod " + release, Seed: f.seed, Mark: a.mark(ownJournal)}
	if f.resume != "" {
		for _, flag := range append([]string{"council", "model", "form", "schema", "tools", "seed"},
			attachNames...) {
			if cmd.Flags().Changed(flag) {
				return ask, plan.Spec{}, fail(exitUsage,
					fmt.Errorf("--resume takes all settings from the journal; --%s cannot be combined with it", flag))
			}
		}
		return a.resumed(ask, args, f, "ask")
	}
	q, err := f.attach.question(cmd, args)
	if err != nil {
		return ask, plan.Spec{}, err
	}
	if f.form != "" && !slices.Contains(synod.Forms(), synod.Form(f.form)) {
		return ask, plan.Spec{}, fail(exitUsage, fmt.Errorf("--form is %q; it must be one of %v", f.form,
			synod.Forms()))
	}
	if ask.Question, err = council.ReadQuestion(q.Text, synod.Form(f.form)); err != nil {
		return ask, plan.Spec{}, fail(exitUsage, err)
	}
	ask.Question.Parts, ask.Question.Before, ask.Question.After = q.Parts, q.Before, q.After
	if f.form == "" {
		council.Guess(&ask.Question)
	}
	if err := errors.Join(folderOf("--journal", f.path), folderOf("--certificate", f.certificate)); err != nil {
		return ask, plan.Spec{}, err
	}
	spec, from, err := f.source.merge(a)
	if err == nil {
		err = onlyHere(cmd, &spec)
	}
	if err != nil {
		return ask, plan.Spec{}, configError(err)
	}
	ask.Question.Salt = salt(&spec)
	if err := f.shape(&ask.Question, q.Text, &spec); err != nil {
		return ask, spec, fail(exitUsage, err)
	}
	f.suit(&ask.Question, &spec, from)
	if !f.escalate {
		if err := a.checkEscalation(spec, from); err != nil {
			return ask, spec, err
		}
	}
	if err := a.chooseSeed(cmd, &ask, spec); err != nil {
		return ask, plan.Spec{}, err
	}
	ask.Journal = a.journalPath(f)
	return ask, spec, nil
}

// recordable fails if --record would record nothing, and says which members it does not record: a simulated member's
// replies are invented, and a recording is of real ones.
func (a *app) recordable(cmd *cobra.Command, spec plan.Spec) error {
	var simulated []string
	for _, s := range spec.Seats {
		name, _ := spec.Models[s.Model]["provider"].(string)
		if p, err := llm.Providers.Find(name); err == nil && p.Kind == llm.Simulated {
			simulated = append(simulated, s.ID)
		}
	}
	switch {
	case len(simulated) > 0 && len(simulated) == len(spec.Seats):
		return fail(exitUsage, errors.New("--record: all members are simulated, and a recording is of real replies"),
			"leave --record out; the journal of the run has what they said")
	case len(simulated) > 0 && !a.quiet:
		fmt.Fprintf(cmd.ErrOrStderr(), "--record leaves out the simulated members: %s\n", strings.Join(simulated, ", "))
	}
	return nil
}

// chooseSeed sets the seed of a question, unless a flag has set it.
func (a *app) chooseSeed(cmd *cobra.Command, ask *council.Ask, spec plan.Spec) error {
	switch {
	case cmd.Flags().Changed("seed"):
	case spec.Runner.Nodes(): // each node has a seed of its own
	case caches(spec):
		seed, err := llm.CacheSeed(a.cacheDir(), cacheText(*ask, spec))
		if err != nil {
			return fail(exitError1, err)
		}
		ask.Seed = seed
	default:
		ask.Seed = rand.Uint64N(1 << 48)
	}
	return nil
}

// folderOf fails if the folder of the file that a flag names does not exist.
func folderOf(flag, path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); path == "" || err == nil && info.IsDir() {
		return nil
	}
	return fail(exitUsage, fmt.Errorf("%s is %s; the folder %s does not exist", flag, path, dir),
		"create it with: mkdir -p "+counciloutcome.ShellWord(dir))
}

// notBegun returns the error of a run that could not begin, because of the question or
// of the disk.
func notBegun(err error) error {
	var other *council.ResumeError
	if errors.As(err, &other) {
		return fail(exitVerify, err)
	}
	var disk *os.PathError
	if errors.As(err, &disk) {
		return fail(exitError1, err, "choose another file with --journal FILE, or write none with --no-journal")
	}
	return fail(exitUsage, err)
}

// resumed returns the question and the council of the journal to resume, by "synod ask" or another verb.
func (a *app) resumed(ask council.Ask, args []string, f *askFlags, verb string) (council.Ask, plan.Spec, error) {
	if len(args) > 0 {
		return ask, plan.Spec{}, fail(exitUsage,
			errors.New("--resume takes the question and the council from the journal; give no question"))
	}
	run, lock, err := journal.Resume(f.resume)
	if err != nil {
		return ask, plan.Spec{}, unreadable(err)
	}
	a.locks = append(a.locks, lock)
	spec, err := plan.SpecOf(run)
	if err != nil {
		return ask, plan.Spec{}, fail(exitError1, err)
	}
	if !f.trust {
		if err := a.trustJournal(run, spec, f.resume, verb); err != nil {
			return ask, spec, err
		}
	}
	if spec, err = f.source.setLimits(spec, "a run is resumed with its own council"); err != nil {
		return ask, plan.Spec{}, configError(err)
	}
	ask.Resume, ask.Question, ask.Seed = run, run.Head.Question, run.Head.Seed
	if ask.Journal = a.journalPath(f); f.path == "" && !f.noJournal && run.Continues(f.resume) {
		ask.Journal = f.resume
	}
	return ask, spec, nil
}

// recall prints the outcome of a run that is complete.
func (a *app) recall(cmd *cobra.Command, run *journal.Run, c *council.Council, f askFlags) error {
	if !a.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), "the run is complete; no model was asked")
	}
	o := c.Recall(run, f.resume)
	if err := a.print(cmd, f, o, c); err != nil {
		return err
	}
	in := counciloutcome.InstanceOf(run)
	if err := a.certify(cmd, &f, c.Plan(), in, &o); err != nil {
		return err
	}
	return verdict(o)
}

// question returns the question: the arguments, or stdin for "-".
func question(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return "", fail(exitUsage, errors.New("there is no question"),
			`try: synod ask "What is the capital of France?"`)
	}
	text := strings.Join(args, " ")
	if text == "-" {
		const most = 64 << 20
		b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), most+1))
		if err != nil {
			return "", fail(exitError1, fmt.Errorf("read the question from stdin: %w", err))
		}
		if len(b) > most {
			return "", fail(exitUsage, fmt.Errorf("the question on stdin has more than %d MB: shorten it", most>>20))
		}
		text = string(b)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", fail(exitUsage, errors.New("the question is empty"),
			`try: synod ask "What is the capital of France?"`)
	}
	return text, nil
}

func (a *app) journalPath(f *askFlags) string {
	switch {
	case f.noJournal:
		return ""
	case f.path != "":
		return f.path
	}
	name := time.Now().UTC().Format("20060102-150405") + fmt.Sprintf("-%06x", rand.Uint32N(1<<24)) + ".jsonl"
	return filepath.Join(a.dirs.state, "journals", name)
}

// verdict is the error with the exit code of an outcome; nil if the council agreed.
func verdict(o counciloutcome.Outcome) error {
	a := o.Advice()
	if a.Code == counciloutcome.ExitAgreed {
		return nil
	}
	return fail(a.Code, a.Err, a.Next)
}

// configError gives errors in a council the exit code for usage and configuration.
func configError(err error) error {
	var done *exitError
	if errors.As(err, &done) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return fail(exitInterrupted, err)
	}
	if errors.Is(err, os.ErrNotExist) {
		return fail(exitUsage, err, "check the path, or omit -c to use the embedded model")
	}
	return fail(exitUsage, err)
}
