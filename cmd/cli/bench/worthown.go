package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/seating"
	"synod.dev/synod/llm"
)

// ownExperiment is the preset that can measure models of the user.
const ownExperiment = "worth-it"

// most is how often the best model is asked a question, at most.
const mostAsked = 15

// ownCopy is worth-it with the models and the questions of the user.
type ownCopy struct {
	*app.App
	cmd   *cobra.Command
	flags benchFlags
	spec  plan.Spec   // with all models of the file, a seat each
	items []task.Item // with known answers
	// incomplete is why not all questions are finished; nil: they are.
	incomplete error
}

// runOwn asks the models of a file the questions of the user, each model alone, and then the best one several times.
func runOwn(a *app.App, cmd *cobra.Command, m *manifest.Manifest, f benchFlags) error {
	c := &ownCopy{App: a, cmd: cmd, flags: f}
	if err := c.check(m); err != nil {
		return app.Fail(app.ExitUsage, err, "example: synod bench run worth-it --members models.yaml --task mine.csv "+
			"-o runs/mine")
	}
	if err := c.open(); err != nil {
		return err
	}
	alone, err := c.measured("models", c.spec)
	if err != nil || f.dryRun {
		return err
	}
	w, err := c.worth(alone)
	if err != nil {
		return err
	}
	if err := c.again(w); err != nil {
		return err
	}
	if err := app.WriteFile(filepath.Join(f.out, "worth.json"), w.WriteJSON); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return errors.Join(w.Print(cmd.OutOrStdout()), c.incomplete)
}

func (c *ownCopy) check(m *manifest.Manifest) error {
	switch {
	case m == nil || m.Experiment != ownExperiment || c.flags.task == "":
		return errors.New("--task and --budget-usd are for worth-it with the models of --members")
	case slices.Contains([]string{"", "simulated", "embedded", "recorded"}, c.flags.members):
		return errors.New("--task needs --members with a council file: its models are asked")
	case c.flags.repeat != 1 || c.flags.cell != "" || c.flags.asJSON:
		return errors.New("--repeat, --cell and --json are not for --task")
	case c.flags.budget.USD < 0:
		return errors.New("--budget-usd must be 0 or more")
	}
	return nil
}

// open reads the models and the questions.
func (c *ownCopy) open() error {
	f := &c.flags
	spec, err := plan.Load(f.members)
	if err != nil {
		return app.ConfigError(err)
	}
	if err := c.FillKey(&spec); err != nil {
		return app.ConfigError(err)
	}
	spec.Seats = nil
	for _, name := range slices.Sorted(maps.Keys(spec.Models)) {
		spec.Seats = append(spec.Seats, plan.SeatSpec{ID: name, Model: name})
	}
	if len(spec.Seats) < 2 {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s has %s; a council needs two", app.OneLine(f.members),
			app.Count(len(spec.Seats), "model")))
	}
	if c.spec, err = measuring(&spec, nil); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	if c.items, err = f.Items(f.task, &c.spec); err != nil {
		return err
	}
	c.items = slices.DeleteFunc(c.items, func(it task.Item) bool { return it.Record().Ungraded })
	if len(c.items) < leastForChoices {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s has %s with a known answer; a recommendation needs %d", f.task,
			app.Count(len(c.items), "question"), leastForChoices))
	}
	return c.priced()
}

// priced refuses a budget in money for models whose price is not known: it would not hold.
func (c *ownCopy) priced() error {
	if c.flags.budget.USD == 0 {
		return nil
	}
	members, err := council.Convene(c.spec, c.Env())
	if err != nil {
		return app.ConfigError(err)
	}
	defer members.Close()
	prices := c.Prices
	if prices == nil {
		prices = llm.Published()
	}
	for _, s := range members.Seats() {
		if _, known := prices.Of(llm.Info{Kind: s.Kind, Server: s.Server, Model: s.Served}); !known {
			return app.Fail(app.ExitUsage, fmt.Errorf("--budget-usd cannot hold, because the price of %s is not known",
				app.OneLine(s.Model)), "give its price in a file with --prices")
		}
	}
	return nil
}

// measured asks a council the questions, in a folder of its own, which is resumed.
func (c *ownCopy) measured(folder string, spec plan.Spec) (*bench.Run, error) {
	f := c.flags
	f.out = filepath.Join(f.out, folder)
	run, err := draftBench(c.App, f.task, &f, spec, c.items)
	if err != nil {
		return nil, err
	}
	if f.dryRun {
		return nil, display.PrintEstimate(c.cmd, c.cmd.OutOrStdout(), run, false, nil)
	}
	if err := c.FetchModels(c.cmd, spec); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.flags.out, 0o777); err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	f.again = c.command()
	err = startRun(c.App, c.cmd, run, f)
	var how *app.Error
	if errors.As(err, &how) && (how.Code == app.ExitBudget || how.Code == app.ExitFailure) {
		c.incomplete = cmp.Or(c.incomplete, err) // the tables are of what is finished
	} else if err != nil {
		return nil, err
	}
	run, err = bench.Open(f.out)
	if err != nil {
		return nil, unreportable(err)
	}
	run.Prices = c.Prices
	return run, nil
}

// command is the command that goes on.
func (c *ownCopy) command() string {
	words := "synod bench run " + ownExperiment
	for _, name := range []string{"members", "task", "out", "number", "seed", "form", "budget-usd", "data"} {
		if fl := c.cmd.Flags().Lookup(name); fl.Changed {
			words += " --" + name + " " + app.ShellWord(fl.Value.String())
		}
	}
	return words
}

// worth computes the tables from the recorded replies.
func (c *ownCopy) worth(run *bench.Run) (*display.OwnWorth, error) {
	rep, err := run.Report()
	if err != nil {
		return nil, unreportable(err)
	}
	models, questions, err := bench.Labelled(run)
	if err != nil {
		return nil, unreportable(err)
	}
	if len(questions) < leastForChoices {
		return nil, cmp.Or(c.incomplete, app.Fail(app.ExitFailure, fmt.Errorf("all models replied to %s; the "+
			"tables need %d", app.Count(len(questions), "question"), leastForChoices), "go on with:\n  "+c.command()))
	}
	m, err := run.Measured()
	if err != nil {
		return nil, unreportable(err)
	}
	w := &display.OwnWorth{Version: 1, Task: run.Task, Questions: len(questions), Runs: c.flags.out, Priced: true,
		Councils: []display.OwnCouncil{}}
	s := &seating.Sample{Models: models, USD: make([]float64, len(models)), Questions: questions}
	for i := range rep.Models {
		one := measuredModel(m, &rep.Models[i], rep.Finished)
		w.Models = append(w.Models, one)
		if k := slices.Index(models, one.Model); k >= 0 && one.USD != nil {
			s.USD[k] = *one.USD
		}
		w.Priced = w.Priced && one.USD != nil
		w.Spent += usdOf(one.USD) * float64(rep.Finished)
	}
	ownCouncils(w, s, run.Seed)
	return w, nil
}

func usdOf(known *float64) float64 {
	if known == nil {
		return 0
	}
	return *known
}

// ownCouncils adds the councils of the models, with figures that do not flatter them.
func ownCouncils(w *display.OwnWorth, s *seating.Sample, seed uint64) {
	n := len(s.Questions)
	add := func(name, what string, p seating.Played) {
		w.Councils = append(w.Councils, display.OwnCouncil{Name: name, What: what, N: n,
			Right: metrics.Share(p.Right, n), Wrong: metrics.Share(p.Wrong, n), USD: p.USD / float64(n)})
	}
	add("most frequent", "the most frequent answer of all", s.MostFrequent())
	if p, ok := s.ByPrice(); ok {
		add("by price", "tiers by price, without labels: the three cheapest, then the others", p)
	}
	for _, a := range aims {
		r := s.Recommend(a.aim, seed)
		if r == nil {
			continue
		}
		single := display.OwnCouncil{Name: "best alone", What: s.Models[r.Single.Model], N: n, Right: r.Single.Right,
			USD: r.Single.USD}
		single.Wrong = metrics.Share(n-int(r.Single.Right.Value*float64(n)+0.5), n)
		if w.Best == "" {
			w.Best, w.Councils = single.What, append([]display.OwnCouncil{single}, w.Councils...)
		}
		var tiers [][]string
		for _, tier := range r.Tiers.Tiers {
			var names []string
			for _, i := range tier {
				names = append(names, s.Models[i])
			}
			tiers = append(tiers, names)
		}
		w.Councils = append(w.Councils, display.OwnCouncil{Name: a.name, What: display.TiersText(tiers), N: n,
			Right: r.Right, Wrong: r.Wrong, USD: r.USD})
	}
}

// again asks the best model as often as the price of the dearest recommended council allows.
func (c *ownCopy) again(w *display.OwnWorth) error {
	k, why := w.Affordable(mostAsked)
	if k < 2 {
		w.NotAgain = why
		return nil
	}
	f := &c.flags
	if f.budget.USD > 0 {
		left := f.budget.USD - w.Spent
		if left <= 0 {
			w.NotAgain = "the budget is used"
			return nil
		}
		f.budget.USD = left
	}
	spec := c.spec
	spec.Models = map[string]plan.Params{w.Best: c.spec.Models[w.Best]}
	spec.Seats = []plan.SeatSpec{{ID: w.Best + "-", Model: w.Best, Count: k}}
	run, err := c.measured("again", spec)
	if err != nil {
		return err
	}
	questions, err := bench.LabelledSeats(run)
	if err != nil {
		return unreportable(err)
	}
	if len(questions) == 0 {
		w.NotAgain = "no question was answered by all of its calls"
		return nil
	}
	rep, err := run.Report()
	if err != nil {
		return unreportable(err)
	}
	s := &seating.Sample{Models: slices.Repeat([]string{w.Best}, k), USD: make([]float64, k), Questions: questions}
	p, n := s.MostFrequent(), len(questions)
	usd := 0.0
	if rep.Cost != nil && rep.Finished > 0 {
		usd = rep.Cost.USD / float64(rep.Finished)
	}
	w.Councils = append(w.Councils, display.OwnCouncil{Name: fmt.Sprintf("best %d times", k), N: n, USD: usd,
		What:  "the most frequent answer of " + w.Best,
		Right: metrics.Share(p.Right, n), Wrong: metrics.Share(p.Wrong, n)})
	return nil
}
