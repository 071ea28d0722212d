package research

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/collect"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/questions"
	"synod.dev/synod/core/param"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/llm/probe"
)

// collectFlags are the flags that select the questions, the model and the states.
type collectFlags struct {
	source    questions.Flags // selects the questions
	model     string
	sets      []string
	layers    []int
	positions []string
	noStated  bool
}

func (f *collectFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVarP(&f.source.N, "number", "n", 0, "number of questions (default: all)")
	fl.Uint64Var(&f.source.Seed, "seed", 1, "seed of built-in problems, answers and the split")
	fl.StringVar(&f.source.Form, "form", "", "form of the answers to your own questions (default: guessed for each "+
		"line)")
	fl.StringVar(&f.source.Data, "data", "", "`file` of the task, or a folder that contains it (default: the file "+
		"that synod data pull fetched)")
	fl.IntSliceVar(&f.source.Levels, "level", nil, "only questions of these levels, such as 4,5")
	fl.StringVar(&f.model, "model", models.Default, "`name` of the model")
	fl.StringArrayVar(&f.sets, "set", nil, "a setting of the model, such as temperature=0.6, path=FILE, "+
		"answers=written or provider=hidden (repeatable)")
	fl.IntSliceVar(&f.layers, "layers", nil, "layers to collect, counted from 0 (default: all)")
	fl.StringSliceVar(&f.positions, "positions", []string{"query", "last", "mean"},
		"query (last token of the prompt), last (of the answer), mean (over the answer)")
	fl.BoolVar(&f.noStated, "no-stated", false, "do not ask the model for its confidence, which needs another call "+
		"for each question")
}

func probeCollect(a *app.App) *cobra.Command {
	var f collectFlags
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "collect TASK|FILE",
		Short: "Collect graded answers with their hidden states",
		Long: `Asks the embedded model the first N questions of a task, at temperature 0 unless --set
changes it. With --set provider=hidden it asks any open model behind a server that shows
hidden states ("synod explain hidden"). Records hidden states while it answers, grades the answers, and asks for
its confidence in each answer (not with answers=written, where the confidence would be
part of the reply whose states are read). A question with options is answered by the
likelihood of the options; the tokens of the answer are those of the chosen option.

The same command continues an interrupted collection, or collects more with a larger
-n.

Exit codes: 0 ok · 1 a call failed, or the folder cannot be written · 2 usage · 130
interrupted: collected answers are kept.`,
		Example: `  synod research probe collect arc-easy --data ./data -n 500 -o runs/arc
  synod research probe collect builtin -n 300 -o runs/builtin --layers 10,14,18 --positions mean
  synod research probe collect arc-easy --data ./data -n 500 -o runs/llama --set provider=hidden \
    --model meta-llama/Llama-3.1-8B-Instruct`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return app.Fail(app.ExitUsage, errors.New("-o is missing: the folder for the answers"))
			}
			folder, err := collectAnswers(a, cmd, args[0], out, f)
			if err != nil {
				return err
			}
			return collected(cmd, folder, asJSON)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` for the answers")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// collectAnswers opens the model and collects answers into a new or existing folder.
func collectAnswers(a *app.App, cmd *cobra.Command, name, dir string, f collectFlags) (*collect.Folder, error) {
	f.source.Pulled = questions.Store(a).Dir
	if err := f.source.CheckNumber(cmd); err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	items, err := f.source.Items(name, &plan.Spec{})
	if err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	if len(items) == 0 {
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("%s has no questions", name))
	}
	settings, err := f.settings()
	if err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	spec := plan.Spec{Models: map[string]plan.Params{"m": settings}, Seats: []plan.SeatSpec{{Model: "m"}}}
	if err := a.FetchModels(cmd, spec); err != nil {
		return nil, err
	}
	env := a.Env()
	env.Hidden = true
	member, err := council.OpenModel(settings, env)
	if err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	if c, can := member.(llm.Closer); can {
		defer c.Close()
	}
	prober, can := llm.AsProber(member)
	if !can {
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("%s is of kind %s and shows no hidden states; models "+
			"of the providers embedded and hidden do", member.Info().Name, member.Info().Kind))
	}
	asker := collect.Asker{Member: prober, Seed: f.source.Seed}
	return collectFrom(a, cmd, member.Info().Identity, filepath.Base(name), dir, items, asker, f)
}

// settings returns those of the model whose states are collected.
func (f *collectFlags) settings() (plan.Params, error) {
	settings, given := plan.Params{"provider": "embedded", "model": f.model, "temperature": 0}, plan.Params{}
	layer, err := plan.Set("--set", f.sets)
	if err == nil {
		err = param.UnmarshalAny(layer.Text, &given)
	}
	if err != nil {
		return nil, err
	}
	if given["path"] != nil { // path replaces the model name
		delete(settings, "model")
	}
	maps.Copy(settings, given)
	return settings, nil
}

// collectFrom creates a folder or continues the collection in it.
func collectFrom(a *app.App, cmd *cobra.Command, identity, name, dir string, items []task.Item, asker collect.Asker,
	f collectFlags) (*collect.Folder, error) {
	subject, err := asker.Member.Subject(cmd.Context())
	if err != nil {
		return nil, collectionCut(err, nil, len(items))
	}
	subject.Form = collect.Form(items)
	want := collect.Head{Program: "synod " + app.Release, Task: name, Seed: f.source.Seed, Subject: subject,
		Identity: identity, Stated: !f.noStated && subject.Answers != "written", Layers: f.layers}
	for _, p := range f.positions {
		want.Positions = append(want.Positions, engine.Position(p))
	}
	for l := range subject.Layers {
		if len(f.layers) == 0 {
			want.Layers = append(want.Layers, l)
		}
	}
	folder, err := collect.Resume(dir, want)
	if errors.Is(err, collect.ErrOtherSettings) {
		return nil, app.Fail(app.ExitUsage, err, "choose another folder, or use the settings that the collection "+
			"started with")
	}
	if err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	show, at := a.Steps(cmd, "questions")
	asker.Progress = at
	err = folder.Collect(cmd.Context(), items, asker)
	show.Done()
	if err != nil {
		return nil, collectionCut(err, folder, len(items))
	}
	return folder, nil
}

// collectionCut returns the error of a collection that ended early, and tells what is kept.
func collectionCut(err error, folder *collect.Folder, total int) error {
	kept := "nothing was collected"
	if folder != nil {
		kept = fmt.Sprintf("%d of %d answers are kept in %s; the same command continues", len(folder.Lines), total,
			folder.Dir)
	}
	var f *llm.Failure
	if errors.Is(err, context.Canceled) || errors.As(err, &f) && errors.Is(f.Err, context.Canceled) {
		return app.Fail(app.ExitInterrupted, nil, "interrupted: "+kept)
	}
	return app.Fail(app.ExitFailure, err, kept)
}

// collectedJSON is the output of "probe collect --json".
type collectedJSON struct {
	Version  int           `json:"version"`
	Folder   string        `json:"folder"`
	Task     string        `json:"task"`
	Subject  probe.Subject `json:"subject"`
	Answers  int           `json:"answers"`
	Right    int           `json:"right"`
	Left     collect.Left  `json:"left_out"`
	Unstated *int          `json:"unstated"` // answers whose stated confidence could not be read; null: not asked for
}

// collected prints what a folder contains.
func collected(cmd *cobra.Command, folder *collect.Folder, asJSON bool) error {
	data, left, err := folder.Data()
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	o := collectedJSON{Version: 1, Folder: folder.Dir, Task: folder.Head.Task, Subject: folder.Head.Subject,
		Answers: len(data.Samples), Left: left}
	unread := 0
	for _, s := range data.Samples {
		if s.Right {
			o.Right++
		}
		if s.Asked && s.Stated == nil {
			unread++
		}
	}
	if folder.Head.Stated {
		o.Unstated = &unread
	}
	if asJSON {
		return app.WriteJSON(cmd.OutOrStdout(), o)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d answers to %s in %s, %d right; left out: %d unreadable, %d without tokens\n",
		o.Answers, app.OneLine(o.Task), app.OneLine(o.Folder), o.Right, left.Unreadable, left.Empty)
	if o.Unstated != nil {
		fmt.Fprintf(cmd.OutOrStdout(), "stated confidence: %d of %d could not be read\n", unread, o.Answers)
	}
	return nil
}
