package bench

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/questions"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// tapeFile is the file in the folder of a recording.
const tapeFile = "tape.jsonl"

func tapeCommand(a *app.App) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "tape TASK|FILE --model MODEL -o FOLDER",
		Short: "Record a weak model's wrong answers for an adversary",
		Long: `Asks one model the questions of a task or a file, and writes its wrong answers to tape.jsonl
in the folder. The adversary of SAC's Appendix B.4 sends such answers to other questions:

  seats: [{id: x, model: m, adversary: {name: replay, tape: runs/weak/tape.jsonl}}]

--model is PROVIDER:MODEL, or the name of a model of the council file. Record with other
questions than those of the experiment: an answer is never replayed to its own question, and
only to questions of the same form. Right answers are not on the tape. A call that fails is no
answer. Replies are kept in the folder: the same command goes on and asks nothing twice.
--json prints the counts, calls, tokens and cost as one object, also of an unfinished recording.

Exit codes: 0 all questions are finished · 1 some failed, or the model made no mistake · 2
usage · 5 the budget is used · 130 interrupted.`,
		Example: `  synod bench tape gsm8k --model openai:gpt-3.5-turbo -n 100 -o runs/weak
  synod bench tape mine.jsonl -c council.yaml --model weak -o runs/weak
  synod bench tape mine.jsonl -c council.yaml --model weak -o runs/weak --json | jq .wrong
  synod bench run study.yaml --set 'adversaries.adversary={name: replay, tape: runs/weak/tape.jsonl}' -o runs/study`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return recordTape(a, cmd, args[0], f) },
	}
	f.source.Add(cmd)
	f.addWork(cmd)
	fl := cmd.Flags()
	f.AddForms(fl)
	f.AddSample(fl)
	fl.IntVarP(&f.N, "number", "n", 0, "number of questions (default: all)")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the recording")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of all random choices")
	fl.StringVar(&f.Data, "data", "", "`file` of the task, or a folder that contains it")
	fl.IntSliceVar(&f.Levels, "level", nil, "only questions of these levels, such as 4,5")
	fl.Float64Var(&f.budget.USD, "budget-usd", 0, "begin no question when so many US dollars are used; 0: no bound")
	fl.IntVar(&f.budget.Calls, "budget-calls", 0, "begin no question when so many calls are made; 0: no bound")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// recordTape asks the model what it has not been asked yet, and writes the tape.
func recordTape(a *app.App, cmd *cobra.Command, name string, f benchFlags) error {
	f.repeat = 1
	var err error
	switch {
	case f.out == "":
		err = errors.New("-o is missing: the folder of the recording, such as -o runs/weak")
	case f.budget.USD < 0 || f.budget.Calls < 0:
		err = errors.New("--budget-usd and --budget-calls must be 0 or more")
	}
	if err := errors.Join(err, f.checkWork(), f.CheckNumber(cmd)); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	if err := questions.CheckName(name); err != nil {
		return err
	}
	f.Pulled, f.again = questions.Store(a).Dir, again(cmd, &f.source, "synod", "bench", "tape", app.ShellWord(name))
	spec, from, err := weakModel(a, f.source)
	if err != nil {
		return err
	}
	items, err := f.Items(name, &spec)
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(it task.Item) bool { return it.Record().Ungraded })
	if len(items) == 0 {
		return app.Fail(app.ExitUsage, fmt.Errorf("the questions of %s have no answers to compare with", name),
			`each line needs an answer: {"id": "1", "question": "…", "answer": "…"}`)
	}
	if err := fetchAllowed(a, cmd, spec, from); err != nil {
		return err
	}
	run, err := draftBench(a, name, &f, spec, items)
	if err != nil {
		return err
	}
	worked := record(a, cmd, run, f)
	var how *app.Error
	if errors.As(worked, &how) && how.Code == app.ExitUsage {
		return worked
	}
	return errors.Join(worked, writeTape(a, cmd, f))
}

// record makes the folder of a recording, or opens that of the same one, and asks what is not asked yet.
func record(a *app.App, cmd *cobra.Command, run *bench.Run, f benchFlags) error {
	old, err := bench.Open(f.out)
	switch {
	case err == nil && len(old.Changes(&run.RunManifest)) == 0:
		if err := trustRuns(a, f.out, old); err != nil {
			return err
		}
		return benchWork(a, cmd, old, f)
	case err != nil && !errors.Is(err, bench.ErrNoRun):
		return unreportable(err)
	}
	if err := preflightBench(a, cmd, f, run); err != nil {
		return err
	}
	if err := run.Create(f.out); err != nil {
		return occupied(err, f.out)
	}
	return benchWork(a, cmd, run, f)
}

// weakModel returns the council in which one model answers alone: the one that --model names in the council file, or
// describes.
func weakModel(a *app.App, source app.CouncilFlags) (spec plan.Spec, from plan.Origin, err error) {
	named := ""
	if len(source.Models) == 1 && !strings.Contains(source.Models[0], ":") {
		named, source.Models = source.Models[0], nil
	}
	of, from, err := source.Merge(a)
	if err != nil {
		return spec, nil, app.ConfigError(err)
	}
	if of.Runner.Capabilities().Owned {
		return spec, nil, app.Fail(app.ExitUsage, errors.New("the members of this council are nodes, whose models "+
			"only their owners can ask"), "the owner can record the model: --model PROVIDER:MODEL")
	}
	names := slices.Sorted(maps.Keys(of.Models))
	switch {
	case named == "" && len(names) > 1:
		return spec, nil, app.Fail(app.ExitUsage, fmt.Errorf("a tape has the answers of one model, and the council "+
			"has %d", len(names)), "name one of them: --model "+strings.Join(names, ", --model "))
	case named == "":
		named = names[0]
	case of.Models[named] == nil:
		return spec, nil, app.Fail(app.ExitUsage, fmt.Errorf("no model of the council is called %q%s", named,
			synod.Hint(named, names)), "models of the council: "+strings.Join(names, ", "),
			"another model: --model PROVIDER:MODEL")
	}
	of.Seats = []plan.SeatSpec{{ID: named, Model: named}}
	if spec, err = measuring(&of, nil); err != nil {
		return spec, nil, app.Fail(app.ExitUsage, err)
	}
	return spec, from, nil
}

// writeTape writes the tape of a finished or unfinished recording.
func writeTape(a *app.App, cmd *cobra.Command, f benchFlags) error {
	run, err := bench.Open(f.out)
	if err != nil {
		return unreportable(err)
	}
	t, err := bench.Tape(run)
	if err != nil {
		return unreportable(err)
	}
	path := filepath.Join(f.out, tapeFile)
	if err := app.WriteFile(path, func(w io.Writer) error { return t.Write(w) }); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if err := printTape(a, cmd, run, t, path, f.asJSON); err != nil {
		return err
	}
	if t.Asked == run.N && len(t.Answers) == 0 {
		return app.Fail(app.ExitFailure, errors.New("the tape is empty: the model gave no wrong answer"),
			"ask more or harder questions, or a weaker model")
	}
	return nil
}

// tapeResult is the JSON of "synod bench tape". Its keys are those of "synod bench report", where that has them.
type tapeResult struct {
	Version     int           `json:"version"`
	Task        string        `json:"task"`
	Seed        uint64        `json:"seed"`
	Model       string        `json:"model"`
	MembersKind []string      `json:"members_kind"`
	Questions   int           `json:"questions"`
	Finished    int           `json:"finished"`
	Failed      int           `json:"failed"`
	Unfinished  int           `json:"unfinished"`
	Answered    int           `json:"answered"` // questions with a reply: wrong, right and unreadable ones
	Wrong       int           `json:"wrong"`    // the answers on the tape
	Right       int           `json:"right"`
	Unreadable  int           `json:"unreadable"`
	Tape        string        `json:"tape"` // the file
	Calls       report.Calls  `json:"calls"`
	Tokens      report.Tokens `json:"tokens"`
	Cost        *llm.Cost     `json:"cost"` // null: a price is unknown
	Money       llm.Money     `json:"money"`
	Seconds     float64       `json:"seconds"`
}

// printTape prints what is on a tape, and of a JSON object also what that took.
func printTape(a *app.App, cmd *cobra.Command, run *bench.Run, t *adversary.Tape, path string, asJSON bool) error {
	if !asJSON {
		kind := ""
		if t.Kind == string(llm.Simulated) {
			kind = " of a simulated member"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s%s in %s · %d of %d questions answered, %d right, %d unreadable\n",
			app.Count(len(t.Answers), "wrong answer"), kind, app.OneLine(path), t.Asked, run.N, t.Right, t.Unread)
		return nil
	}
	run.Prices = a.Prices
	r, err := run.Report()
	if err != nil {
		return unreportable(err)
	}
	err = app.WriteJSON(cmd.OutOrStdout(), tapeResult{Version: report.Version, Task: r.Task, Seed: r.Seed,
		Model: t.Model, MembersKind: r.MembersKind, Questions: r.Questions, Finished: r.Finished, Failed: r.Failed,
		Unfinished: r.Unfinished, Answered: t.Asked, Wrong: len(t.Answers), Right: t.Right, Unreadable: t.Unread,
		Tape: path, Calls: r.Calls, Tokens: r.Tokens, Cost: r.Cost, Money: r.Money, Seconds: r.Seconds})
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return nil
}
