package operate

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/trust"
)

// trustFlags are those that all verbs of "synod operate trust" share.
type trustFlags struct {
	file, kind string
	f          int
	asJSON     bool
}

// TrustCommand is "synod operate trust".
func TrustCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Show how reliable members are, learned without labels",
		Long: `A council with "trust: {file: default, learn: true}" remembers the first answers of its members,
as hashes. From them Synod estimates, without knowing the right answers, how reliable each
member is on each kind of question; protocol cascade weighs answers by that. Nothing is
learned without that setting. docs/research/cascade.md explains the estimate.`,
	}
	cmd.AddCommand(trustShow(a), trustExplain(a), trustLearn(a), trustReset(a), trustExport(a))
	return cmd
}

func (f *trustFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.file, "file", "", "trust `file` (default: "+filepath.Join("STATE", "trust.json")+", the user's)")
	fl.StringVar(&f.kind, "kind", "", "only this kind of task: the form of questions, such as number")
	fl.IntVarP(&f.f, "bound", "f", -1, "F, the number of members that must not outweigh the others (default: "+
		"the largest possible)")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
}

func (f *trustFlags) path(a *app.App) string {
	if f.file != "" {
		return f.file
	}
	return a.TrustPath()
}

// trusted is the JSON of "synod operate trust".
type trusted struct {
	Version      int                       `json:"version"`
	Members      []trustedMember           `json:"members"`
	Cap          float64                   `json:"cap"` // the least of all kinds
	Pairs        []trustedPair             `json:"pairs"`
	Kinds        []trustedKind             `json:"kinds"`
	Observations []reliability.Observation `json:"observations,omitempty"`
}

type trustedMember struct {
	Model       string  `json:"model"`
	TaskKind    string  `json:"task_kind"`
	Answers     int     `json:"answers"`
	Labelled    int     `json:"labelled"` // answers with a label from a graded run
	Reliability float64 `json:"reliability"`
	Overall     float64 `json:"overall"`
	Latest      float64 `json:"latest"`
	Share       float64 `json:"share"`
	Weight      float64 `json:"weight"` // after the cap
	Capped      bool    `json:"capped"`
	Changed     bool    `json:"changed"` // its answers differ from its record: it has the least weight for now
}

type trustedPair struct {
	A         string  `json:"a"`
	B         string  `json:"b"`
	TaskKind  string  `json:"task_kind"`
	CoError   float64 `json:"co_error"`
	Agreement float64 `json:"agreement"` // on questions to which not all members gave the same answer
	Questions int     `json:"questions"`
	Together  bool    `json:"together"`
}

// trustedKind is what is known of one kind of task.
type trustedKind struct {
	TaskKind  string  `json:"task_kind"`
	Questions int     `json:"questions"`
	F         int     `json:"f"`
	Cap       float64 `json:"cap"`
	Collision float64 `json:"collision"` // probability that two wrong answers are equal
}

// estimate fits the file.
func (f *trustFlags) estimate(a *app.App) (*trust.History, *trusted, error) {
	h, err := trust.Load(f.path(a))
	if err != nil {
		return nil, nil, app.Fail(app.ExitFailure, err)
	}
	out := &trusted{Version: trust.Version, Members: []trustedMember{}, Pairs: []trustedPair{}, Kinds: []trustedKind{}}
	all := h.Observations()
	for _, kind := range reliability.Kinds(all) {
		if f.kind != "" && kind != f.kind {
			continue
		}
		if err := f.addKind(out, all, kind); err != nil {
			return nil, nil, err
		}
	}
	return h, out, nil
}

func (f *trustFlags) addKind(out *trusted, all []reliability.Observation, kind string) error {
	members := 0
	if e := reliability.Estimate(all, kind, 0); e != nil {
		members = len(e.Members)
	} else {
		return nil
	}
	bound := (members - 1) / 2
	if f.f >= 0 {
		if f.f > bound {
			return app.Fail(app.ExitUsage, fmt.Errorf("--bound is %d, and %d members answered questions of kind %s; "+
				"it must be at most %d", f.f, members, kind, bound))
		}
		bound = f.f
	}
	e := reliability.Estimate(all, kind, bound)
	weights := make([]float64, members)
	for i := range e.Members {
		weights[i] = e.Members[i].LogOdds
	}
	capped, limit := reliability.Cap(weights, bound)
	for i, m := range e.Members {
		out.Members = append(out.Members, trustedMember{Model: m.Name, TaskKind: kind, Answers: m.Answers,
			Labelled: m.Labelled, Reliability: m.Reliability, Overall: m.Overall, Latest: m.Latest, Share: m.Share,
			Weight: capped[i], Capped: weights[i] > limit+1e-6, Changed: m.Changed})
	}
	for _, p := range e.Pairs {
		out.Pairs = append(out.Pairs, trustedPair{A: p.A, B: p.B, TaskKind: kind, CoError: p.CoError,
			Agreement: p.Agreement, Questions: p.Questions, Together: p.Together})
	}
	if len(out.Kinds) == 0 || limit < out.Cap {
		out.Cap = limit
	}
	out.Kinds = append(out.Kinds, trustedKind{kind, e.Questions, bound, limit, e.Collision})
	return nil
}

func trustShow(a *app.App) *cobra.Command {
	f := &trustFlags{}
	cmd := &cobra.Command{
		Use: "show", Short: "Show the reliability and the weight of every member", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, out, err := f.estimate(a)
			if err != nil {
				return err
			}
			if h.Unsealed {
				a.Say(cmd, f.path(a)+" has no checksum, because an earlier version wrote it: a damaged file would not "+
					"be noticed; it gets one when something is learned or forgotten")
			}
			if f.asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), out)
			}
			return out.print(cmd.OutOrStdout(), len(h.Questions))
		},
	}
	f.add(cmd)
	return cmd
}

func (t *trusted) print(w io.Writer, questions int) error {
	if len(t.Members) == 0 {
		return app.Sayf(w, "%d questions learned; %d of a kind, answered by two members, are needed: all members "+
			"weigh the same\n", questions, reliability.MinQuestions)
	}
	tab := &table.Table{Head: []string{"model", "task", "answers", "reliability", "weight", ""}, Align: "llrrrl"}
	for _, m := range t.Members {
		note := ""
		if m.Capped {
			note = "capped"
		}
		if m.Changed {
			note = "changed"
		}
		tab.Add(app.OneLine(m.Model), app.OneLine(m.TaskKind), m.Answers, fmt.Sprintf("%.2f", m.Reliability),
			fmt.Sprintf("%.2f", m.Weight), note)
	}
	return tab.Write(w, "text")
}

func trustExplain(a *app.App) *cobra.Command {
	f := &trustFlags{}
	cmd := &cobra.Command{
		Use: "explain [MODEL]", Short: "Explain where reliability and weight come from", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, out, err := f.estimate(a)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				known := out.models()
				if !slices.Contains(known, args[0]) {
					return app.Fail(app.ExitUsage, fmt.Errorf("no model is called %q in the trust file%s", args[0],
						synod.Hint(args[0], known)))
				}
				out.Members = slices.DeleteFunc(out.Members, func(m trustedMember) bool { return m.Model != args[0] })
				out.Pairs = slices.DeleteFunc(out.Pairs, func(p trustedPair) bool {
					return p.A != args[0] &&
						p.B != args[0]
				})
			}
			if f.asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), out)
			}
			out.explain(cmd.OutOrStdout())
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func (t *trusted) models() (names []string) {
	for _, m := range t.Members {
		names = append(names, m.Model)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t *trusted) explain(w io.Writer) {
	for _, k := range t.Kinds {
		fmt.Fprintf(w, "%s: %d questions, F=%d, cap %.2f; two wrong answers are equal with probability %.2f\n",
			app.OneLine(k.TaskKind), k.Questions, k.F, k.Cap, k.Collision)
		for _, m := range t.Members {
			if m.TaskKind == k.TaskKind {
				t.explainMember(w, m)
			}
		}
	}
}

func (t *trusted) explainMember(w io.Writer, m trustedMember) {
	fmt.Fprintf(w, "  %s: right with probability %.2f over all %d answers (%d with a label), %.2f over the last "+
		"%d; the lower counts\n", app.OneLine(m.Model), m.Overall, m.Answers, m.Labelled, m.Latest, min(m.Answers,
		reliability.Recent))
	capped := ""
	if m.Capped {
		capped = ", capped at the median and so that no F members outweigh the others"
	}
	if m.Changed {
		capped = fmt.Sprintf(": its answers differ from its record, so it has the least weight until %d new answers",
			reliability.Recent)
	}
	fmt.Fprintf(w, "    share of a voice %.2f, weight %.2f%s\n", m.Share, m.Weight, capped)
	for _, p := range t.Pairs {
		if p.TaskKind == m.TaskKind && p.A == m.Model && (p.Together || m.Share < 0.9) {
			joined := ""
			if p.Together {
				joined = "; they count as one supporter"
			}
			fmt.Fprintf(w, "    co-error with %s: %.2f, from the %d questions on which one of them deviated; "+
				"agreement on contested questions %.2f%s\n", app.OneLine(p.B), p.CoError, p.Questions, p.Agreement,
				joined)
		}
	}
}

func trustLearn(a *app.App) *cobra.Command {
	f, labels := &trustFlags{}, false
	cmd := &cobra.Command{
		Use:   "learn RUN|JOURNAL…",
		Short: "Learn from folders of bench runs and from journals",
		Long: `Adds the first answers of finished questions to the trust file: of a run, of all cells of an
experiment, or of a journal. --labels also adds whether each
was right by the key of a bench run: such answers are marked, and estimates count them as known.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []reliability.Observation
			for _, path := range args {
				some, err := observed(path, labels)
				if err != nil {
					return err
				}
				all = append(all, some...)
			}
			t := plan.Trust{File: f.path(a), Learn: true}
			if err := a.Learn(cmd.ErrOrStderr(), t, all); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%d answers learned\n", len(all))
			return nil
		},
	}
	cmd.Flags().StringVar(&f.file, "file", "", "trust `file` (default: the user's)")
	cmd.Flags().BoolVar(&labels, "labels", false, "of bench runs: learn which answers are right")
	return cmd
}

// observed returns the observations of a bench run, of the runs of a grid, or of a journal.
func observed(path string, labels bool) (all []reliability.Observation, err error) {
	var runs []*bench.Run
	grid, err := bench.OpenGrid(path)
	if err == nil {
		for i, run := range grid.Runs {
			if grid.Cells[i].Control == "" { // a control asks the same questions again, of hindered members
				runs = append(runs, run)
			}
		}
	} else if run, one := bench.Open(path); one == nil {
		runs, err = []*bench.Run{run}, nil
	} else if errors.Is(err, bench.ErrNoRun) {
		err = one
	}
	for _, run := range runs {
		some, err := run.Observations(labels)
		if err != nil {
			return nil, app.Fail(app.ExitFailure, err)
		}
		all = append(all, some...)
	}
	if err == nil {
		return all, nil
	}
	if labels || !errors.Is(err, bench.ErrNoRun) && !strings.HasSuffix(path, ".jsonl") {
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("%s is not the folder of a bench run: %w", path, err))
	}
	recorded, o, err := recalled(path)
	if err != nil {
		return nil, app.Unreadable(err)
	}
	return observations(recorded, &o)
}

func observations(run *journal.Run, o *outcome.Outcome) ([]reliability.Observation, error) {
	p, err := plan.Of(run)
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	return outcome.Observations(p, &run.Head.Question, o, nil), nil
}

func trustReset(a *app.App) *cobra.Command {
	f, model, all := &trustFlags{}, "", false
	cmd := &cobra.Command{
		Use: "reset", Short: "Forget what was learned", Args: cobra.NoArgs,
		Example: "  synod operate trust reset --model gpt-4o-mini\n" +
			"  synod operate trust reset --kind number\n  synod operate trust " +
			"reset --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all == (model != "" || f.kind != "") {
				return app.Fail(app.ExitUsage, errors.New("name what to forget: --model NAME, --kind KIND, or --all"))
			}
			removed := 0
			err := trust.Update(f.path(a), func(h *trust.History) error {
				removed = h.Forget(model, f.kind)
				return nil
			})
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if f.asJSON {
				_, out, err := f.estimate(a)
				if err != nil {
					return err
				}
				return app.WriteJSON(cmd.OutOrStdout(), out)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%d answers forgotten\n", removed)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&model, "model", "", "only the answers of this model")
	cmd.Flags().BoolVar(&all, "all", false, "everything")
	return cmd
}

func trustExport(a *app.App) *cobra.Command {
	f := &trustFlags{}
	cmd := &cobra.Command{
		Use: "export", Short: "Print the estimates with all observations, as JSON", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, out, err := f.estimate(a)
			if err != nil {
				return err
			}
			out.Observations = h.Observations()
			return app.WriteJSON(cmd.OutOrStdout(), out)
		},
	}
	f.add(cmd)
	return cmd
}
