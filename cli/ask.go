package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/journal"
	"synod.dev/synod/llm"
	"synod.dev/synod/read"
)

// askFlags are the flags of "synod ask".
type askFlags struct {
	source    specFlags
	form      string
	seed      uint64
	asJSON    bool
	dryRun    bool
	path      string
	noJournal bool
	resume    string
	record    string
	fallback  string
}

func askCommand(a *app) *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask [QUESTION | -]",
		Short: "Put a question to a council",
		Long: `Puts a question to a council and prints the answer alone on stdout; everything
else goes to stderr. Without a council file seven seats of the model in the box
answer, which needs no key and no server.`,
		Example: `  synod ask "What is the capital of France?"
  echo "Is 91 prime?" | synod ask --form bool -
  synod ask -c council.yaml --json "What is 17 + 25?"
  synod ask --model openai:gpt-4o-mini --model ollama:llama3.2 "Who wrote Emma?"
  synod ask -c council.yaml --set f=2 --set protocol.rounds=3 "…"
  synod ask --resume JOURNAL`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.ask(cmd, args, f) },
	}
	f.source.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.form, "form", "", "how the answer is read: number, choice, bool, math, text or stance (default: guessed from the question)")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of everything that is left to chance (default: drawn and printed)")
	fl.BoolVar(&f.asJSON, "json", false, "print the whole outcome as JSON")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what is guaranteed and what it costs at least, probably and at most, and ask nothing")
	fl.StringVar(&f.path, "journal", "", "write the journal to this `file`")
	fl.BoolVar(&f.noJournal, "no-journal", false, "keep no journal")
	fl.StringVar(&f.resume, "resume", "", "go on with the run in this `journal`")
	fl.StringVar(&f.record, "record", "", "add the members' first answers to this `trace`, which provider: recorded replays")
	fl.StringVar(&f.fallback, "on-no-consensus", "fail", "fail, or best-effort: print the leading answer all the same, with the exit code of the failure")
	cmd.MarkFlagsMutuallyExclusive("journal", "no-journal")
	return cmd
}

func (a *app) ask(cmd *cobra.Command, args []string, f askFlags) error {
	if f.fallback != "fail" && f.fallback != "best-effort" {
		return fail(exitUsage, fmt.Errorf("--on-no-consensus is %q; it must be fail or best-effort", f.fallback))
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
		if env.Record, err = llm.NewRecorder(f.record); err != nil {
			return fail(exitError1, err)
		}
	}
	err = a.convene(cmd, ask, spec, env, f)
	if env.Record != nil {
		if torn := env.Record.Close(); torn != nil {
			return fail(exitError1, torn, "the trace is not complete; what the council came to is above")
		}
	}
	return err
}

// convene seats the council, puts the question to it and prints what comes of it.
func (a *app) convene(cmd *cobra.Command, ask council.Ask, spec council.Spec, env llm.Env, f askFlags) error {
	c, err := council.Convene(spec, env)
	if err != nil {
		return configError(err)
	}
	defer func() {
		if err := c.Close(); err != nil && !a.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), "closing the members:", oneLine(err.Error()))
		}
	}()
	if err := c.Accepts(&ask.Question); err != nil {
		return notBegun(err)
	}
	a.announce(cmd, c, ask.Question, f.dryRun)
	if f.dryRun {
		return a.dryRun(cmd, ask, spec, env, f.asJSON)
	}
	show := a.progress(cmd, &ask)
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
	if torn != nil {
		return fail(exitError1, torn, "free some space or give another place with --journal FILE; the answer above is complete")
	}
	return verdict(outcome)
}

// prepare gathers question and council, from the arguments or from a journal.
func (a *app) prepare(cmd *cobra.Command, args []string, f *askFlags) (council.Ask, council.Spec, error) {
	ask := council.Ask{Program: "synod " + release, Seed: f.seed}
	if f.resume != "" {
		for _, flag := range []string{"council", "model", "form", "seed"} {
			if cmd.Flags().Changed(flag) {
				return ask, council.Spec{}, fail(exitUsage, fmt.Errorf("--resume takes everything from the journal; --%s has no place beside it", flag))
			}
		}
		return a.resumed(ask, args, f)
	}
	text, err := question(cmd, args)
	if err != nil {
		return ask, council.Spec{}, err
	}
	if ask.Question, err = a.read(text, f.form); err != nil {
		return ask, council.Spec{}, err
	}
	spec, err := f.source.load(a)
	if err != nil {
		return ask, council.Spec{}, configError(err)
	}
	if !cmd.Flags().Changed("seed") {
		ask.Seed = rand.Uint64N(1 << 48)
	}
	ask.Journal = a.journalPath(f)
	return ask, spec, nil
}

// notBegun is a run that could not begin: the question's fault or the disk's.
func notBegun(err error) error {
	var disk *os.PathError
	if errors.As(err, &disk) {
		return fail(exitError1, err, "give another place with --journal FILE, or keep none with --no-journal")
	}
	return fail(exitUsage, err)
}

func (a *app) resumed(ask council.Ask, args []string, f *askFlags) (council.Ask, council.Spec, error) {
	if len(args) > 0 {
		return ask, council.Spec{}, fail(exitUsage, errors.New("--resume takes question and council from the journal; give no question"))
	}
	run, err := journal.Load(f.resume)
	if err != nil {
		return ask, council.Spec{}, fail(exitError1, err)
	}
	if run.End != nil {
		return ask, council.Spec{}, fail(exitUsage, fmt.Errorf("%s: the run is complete; there is nothing to go on with", f.resume), "see what it did with: synod replay "+f.resume)
	}
	spec, err := council.SpecOf(run)
	if err != nil {
		return ask, council.Spec{}, fail(exitError1, err)
	}
	if spec, err = f.source.raise(spec, "a run goes on with the council it began with"); err != nil {
		return ask, council.Spec{}, configError(err)
	}
	ask.Resume, ask.Question, ask.Seed = run, run.Head.Question, run.Head.Seed
	ask.Journal = a.journalPath(f)
	return ask, spec, nil
}

// question is what the person typed, or stdin for "-".
func question(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return "", fail(exitUsage, errors.New("there is no question"), `try: synod ask "What is the capital of France?"`)
	}
	text := strings.Join(args, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<20))
		if err != nil {
			return "", fail(exitError1, fmt.Errorf("read the question from stdin: %w", err))
		}
		text = string(b)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", fail(exitUsage, errors.New("the question is empty"))
	}
	return text, nil
}

// read decides the form of the answer.
func (a *app) read(text, form string) (synod.Question, error) {
	ask, guessed, options := read.Guess(text)
	q := synod.Question{Text: text, Form: guessed, Options: options}
	if form != "" {
		q.Form = synod.Form(form)
	}
	known := false
	for _, f := range synod.Forms() {
		known = known || f == q.Form
	}
	if !known {
		return q, fail(exitUsage, fmt.Errorf("--form is %q; it must be one of %v", form, synod.Forms()))
	}
	if q.Form == synod.Choice {
		q.Text = ask
	} else {
		q.Options = nil
	}
	return q, nil
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

// verdict is the exit code that an outcome deserves.
func verdict(o council.Outcome) error {
	reason := errors.New(o.Reason)
	switch {
	case o.Stopped == council.Interrupted:
		return fail(exitInterrupted, nil, "nothing finished is lost. Go on with:\n  "+resumeLine(o))
	case o.Stopped == council.PastTime:
		return fail(exitDeadline, reason, "give it more time with --set limits.deadline=…, or go on with:\n  "+resumeLine(o))
	case o.Stopped == council.OverBudget:
		return fail(exitBudget, reason, "go on with twice the limit (what was spent counts):\n  "+resumeLine(o))
	case o.Stopped == council.Tripped:
		return tripped(o)
	case o.Status == council.Degraded:
		return fail(exitDegraded, errors.New("too few members are live: "+o.Reason), troubles(o))
	case o.Status == council.Undecided:
		return fail(exitUndecided, errors.New("no consensus: "+o.Reason), "next: more rounds (--set protocol.rounds=…), other members (--model …), another rule (--set rule.name=plurality), or --on-no-consensus best-effort")
	}
	return nil
}

func resumeLine(o council.Outcome) string {
	return cmp.Or(o.Continue(), "(no journal was kept, so the run cannot be resumed)")
}

// tripped says which breaker stopped a run, what it leaves to choose from, and how
// to go on past it.
func tripped(o council.Outcome) error {
	code := exitUndecided
	if o.Status == council.Degraded {
		code = exitDegraded
	}
	var left []string
	for _, v := range o.Votes {
		left = append(left, fmt.Sprintf("%s (%s)", oneLine(string(v.Answer)), strings.Join(v.Seats, ", ")))
	}
	hint := "candidates: " + strings.Join(left, "; ")
	if len(left) == 0 {
		hint = "nobody has an answer"
	}
	if more := o.Continue(); more != "" {
		hint += "\ngo on past it with:\n  " + more
	}
	return fail(code, fmt.Errorf("stopped by the breaker %s after round %d: %s", o.Trip.Breaker, o.Trip.Round, o.Trip.Detail), hint)
}

// troubles says for every member without an answer why it has none; members of
// one model with one trouble share a line.
func troubles(o council.Outcome) string {
	var lines []string
	who := map[string][]string{}
	for _, m := range o.Members {
		if m.Final != nil {
			continue
		}
		why := m.Trouble
		switch {
		case why == "" && m.First != nil:
			why = "it gave an answer, and holds none in the end"
		case why == "" && m.Calls[synod.OK] > 0:
			why = "it never gave an answer that could be read"
		case why == "":
			why = "it was not asked"
		}
		line := fmt.Sprintf(" (%s): %s", m.Model, oneLine(why))
		if who[line] == nil {
			lines = append(lines, line)
		}
		who[line] = append(who[line], m.ID)
	}
	for i, line := range lines {
		lines[i] = "  " + strings.Join(who[line], ", ") + line
	}
	return strings.Join(lines, "\n")
}

// configError gives a council's mistakes the exit code for configuration.
func configError(err error) error {
	var done *exitError
	if errors.As(err, &done) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return fail(exitInterrupted, err)
	}
	if errors.Is(err, os.ErrNotExist) {
		return fail(exitUsage, err, "check the path, or leave -c out to seat the model in the box")
	}
	return fail(exitUsage, err)
}
