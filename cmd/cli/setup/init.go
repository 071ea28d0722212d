// Package setup has the commands with which somebody begins: init proposes a council, doctor tests this machine and the
// members of a council, demo plays scenes with simulated members, models fetches embedded models, and config shows the
// council in effect.
package setup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/seating"
)

// initFlags are the flags of "synod init".
type initFlags struct {
	out     string
	servers []string
	force   bool
	dryRun  bool
	yes     bool
	asJSON  bool
}

// InitCommand is "synod init".
func InitCommand(a *app.App) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Find models and propose a council file",
		Long: `Finds keys in the environment (their names; values are not shown or stored), Ollama, and
servers with OpenAI's API on this machine, asks each for its list of models, and proposes a council
of models of different makers with its F, graph, guarantee and cost. It writes synod.yaml, which
"synod ask" uses from then on. Nothing is sent but these requests for lists, which cost nothing.
Without any model it proposes the model in the box, and says what that is worth.

docs/use/models.md has the rule that chooses models from a long list.`,
		Example: `  synod init
  synod init --dry-run
  synod init --server http://10.0.0.5:8000/v1 -o team.yaml
  OPENAI_BASE_URL=http://127.0.0.1:8000/v1 synod init --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runInit(a, cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "o", "synod.yaml", "council `file` to write")
	fl.StringSliceVar(&f.servers, "server", usualServers, "`HOST:PORT` or URL of servers with OpenAI's API to look for")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the council file on stdout, and write nothing")
	fl.BoolVarP(&f.yes, "yes", "y", false, "do not ask before writing, on a terminal")
	fl.BoolVar(&f.asJSON, "json", false, "print what was found and the proposal as JSON")
	return cmd
}

// proposal is the JSON of "synod init".
type proposal struct {
	Version int                 `json:"version"`
	Found   []foundServer       `json:"found"`
	Seats   []proposedSeat      `json:"seats"`
	Box     bool                `json:"box"` // nothing was found: the seats are of the embedded model
	Plan    proposedCouncil     `json:"council"`
	Cost    *bench.CostEstimate `json:"cost"`            // of a question; null: the embedded model costs nothing
	Alone   *aloneCost          `json:"alone,omitempty"` // of the dearest model; null: seats are not asked in tiers
	Votes   *metrics.Rate       `json:"effective_votes"` // null: not known until the members are calibrated
	File    string              `json:"file"`
	Written bool                `json:"written"`
	Text    string              `json:"text"` // of the file
}

// aloneCost is what a question to one model alone costs.
type aloneCost struct {
	Model string              `json:"model"`
	Cost  *bench.CostEstimate `json:"cost"`
}

type foundServer struct {
	What     string `json:"what"`
	Provider string `json:"provider"`
	Server   string `json:"server,omitempty"`
	KeyEnv   string `json:"key_env,omitempty"` // the variable with the key
	Models   int    `json:"models"`
	Error    string `json:"error,omitempty"`
}

type proposedSeat struct {
	Model  string `json:"model"`
	Family string `json:"family"`
	Server string `json:"server"`
	Seats  int    `json:"seats"`
	Price  string `json:"price"` // for people
}

type proposedCouncil struct {
	Protocol string `json:"protocol"`
	Graph    string `json:"graph"`
	Seats    int    `json:"seats"`
	plan.Bound
	Real string `json:"real_bound,omitempty"` // how the seats can get the bound that F promises
}

func runInit(a *app.App, cmd *cobra.Command, f initFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	sources, err := findSources(f.servers, cmd.Flags().Changed("server"))
	if err != nil {
		return err
	}
	show := a.NewBar(cmd, true, "asking for lists of models")
	sources = probeSources(a, cmd.Context(), sources)
	show.Done()
	if err := cmd.Context().Err(); err != nil {
		return app.ConfigError(err)
	}
	p, err := propose(a, cmd.Context(), sources)
	if err != nil {
		return err
	}
	p.File = f.out
	if !f.asJSON && !a.Quiet {
		if err := p.print(cmd.ErrOrStderr()); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	if !f.dryRun {
		if p.Written, err = writeProposal(a, cmd, p, f); err != nil {
			return err
		}
	}
	switch {
	case f.asJSON:
		return app.WriteJSON(cmd.OutOrStdout(), p)
	case f.dryRun:
		_, err = io.WriteString(cmd.OutOrStdout(), p.Text)
	}
	return err
}

// check refuses to replace a file before any server is asked.
func (f *initFlags) check() error {
	if err := app.FolderOf("-o", f.out); err != nil || f.dryRun || f.force {
		return err
	}
	if _, err := os.Lstat(f.out); !errors.Is(err, os.ErrNotExist) {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s exists already", f.out), "replace it with --force, choose "+
			"another file with -o, or only look with --dry-run")
	}
	return nil
}

// propose returns the council of what was found.
func propose(a *app.App, ctx context.Context, sources []source) (*proposal, error) {
	p := &proposal{Version: 1, Found: []foundServer{}, Seats: []proposedSeat{}}
	for i := range sources {
		s := &sources[i]
		found := foundServer{What: s.what, Provider: s.provider, Server: s.info.Server, KeyEnv: s.keyEnv,
			Models: len(s.names)}
		if s.err != nil {
			found.Error, found.Models, s.names = s.err.Error(), 0, nil
		}
		p.Found = append(p.Found, found)
	}
	picks := seating.Choose(candidates(a, sources))
	p.Box, p.Text = len(picks) == 0, boxFile
	if !p.Box {
		for _, pick := range picks {
			p.Seats = append(p.Seats, seatOf(a, pick, &sources[pick.Source]))
		}
		p.Text = councilFile(picks, sources)
	}
	spec, _, err := plan.Merge(plan.Layer{Name: "the proposal", Text: []byte(p.Text)})
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	made, err := plan.New(spec)
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	p.Plan = proposedCouncil{Protocol: fmt.Sprint(spec.Protocol["name"]), Graph: fmt.Sprint(spec.Graph["family"]),
		Seats: len(made.Seats()), Bound: made.Bound(), Real: plan.RealBound(made)}
	if p.Box {
		return p, nil
	}
	c, err := council.Convene(spec, a.Env())
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	defer c.Close()
	p.Votes, _ = display.KnownVotes(a, spec.Council, c.Seats())
	if p.Cost, err = costOf(a, ctx, spec); err != nil {
		return nil, err
	}
	p.Alone, err = dearestAlone(a, ctx, spec)
	return p, err
}

// dearestAlone estimates the cost of a question to the last seat alone, where seats are asked in tiers by price.
func dearestAlone(a *app.App, ctx context.Context, spec plan.Spec) (*aloneCost, error) {
	if spec.Protocol["tiers"] == nil {
		return nil, nil
	}
	spec.Protocol = maps.Clone(spec.Protocol)
	delete(spec.Protocol, "tiers")
	spec.Seats, spec.F = spec.Seats[len(spec.Seats)-1:], 0
	cost, err := costOf(a, ctx, spec)
	return &aloneCost{Model: spec.Seats[0].Model, Cost: cost}, err
}

// costOf estimates the cost of a question. Servers on this machine or in a private network cost nothing.
func costOf(a *app.App, ctx context.Context, spec plan.Spec) (*bench.CostEstimate, error) {
	env := a.Env()
	q := synod.Question{ID: "question", Text: "What is 17 + 25?", Form: synod.Number}
	run, err := bench.Draft(bench.RunPlan{Task: "init", Items: []task.Item{task.Ungraded(q)}, Repeat: 1, Seed: 1,
		Spec: spec, Env: env})
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	e, err := run.Estimate(ctx)
	if err != nil {
		return nil, app.ConfigError(err)
	}
	return e, nil
}

func seatOf(a *app.App, pick seating.Pick, s *source) proposedSeat {
	seat := proposedSeat{Model: pick.Name, Family: pick.Family, Server: s.info.Server, Seats: pick.Seats,
		Price: "unknown"}
	switch p, known := priceOf(a, s, pick.Name); {
	case pick.Local && p.Prompt+p.Completion == 0:
		seat.Price = "none: your own machine"
	case known:
		seat.Price = fmt.Sprintf("%g / %g USD (%s)", p.Prompt, p.Completion, cmp.Or(p.Date, "your price file"))
	}
	return seat
}

// print describes the proposal for people.
func (p *proposal) print(w io.Writer) error {
	t := table.Table{Head: []string{"found", "by", "models"}, Align: "llr"}
	for _, s := range p.Found {
		by, models := cmp.Or(s.Server, s.Provider), fmt.Sprint(s.Models)
		if s.KeyEnv != "" {
			by = "key " + s.KeyEnv
		}
		if s.Error != "" {
			models = "not asked: " + app.OneLine(s.Error)
		}
		t.Add(app.OneLine(s.What), app.OneLine(by), models)
	}
	if p.Box {
		if len(p.Found) > 0 {
			if err := t.Write(w, "text"); err != nil {
				return err
			}
		}
		return app.Sayf(w, "%s", boxWorth)
	}
	seats := table.Table{Head: []string{"seats", "family", "model", "server", "price of a million tokens, in / out"},
		Align: "rllll"}
	for _, s := range p.Seats {
		seats.Add(s.Seats, app.OneLine(s.Family), app.OneLine(s.Model), s.Server, s.Price)
	}
	err := errors.Join(t.Write(w, "text"), fprintln(w), seats.Write(w, "text"), fprintln(w))
	b, text := p.Plan, strings.Builder{}
	fmt.Fprintf(&text, "%d seats · protocol %s · %s graph, %s · F=%d\n", b.Seats, b.Protocol, b.Graph,
		display.RobustnessOf(b.R, b.Exact), b.F)
	fmt.Fprintf(&text, "guarantee %s: %s\n", b.Guarantee, b.Note)
	if b.Real != "" {
		fmt.Fprintln(&text, b.Real)
	}
	fmt.Fprintf(&text, "a question: expected %d calls, %s; at most %d calls, %s\n", p.Cost.Expected.Calls,
		p.Cost.Expected.Money, p.Cost.Worst.Calls, p.Cost.Worst.Money)
	if p.Alone != nil && len(p.Cost.Expected.Money.Unknown) == 0 {
		fmt.Fprintf(&text, "the dearest of them alone, %s: %s; where the first three agree the others are not asked. "+
			"Measure your own with synod calibrate\n", app.OneLine(p.Alone.Model), p.Alone.Cost.Expected.Money)
	}
	if heavy := p.heaviest(); heavy != "" {
		fmt.Fprintln(&text, heavy)
	}
	if p.Votes == nil {
		fmt.Fprintln(&text, "effective votes: unknown until calibrated (synod calibrate)")
	} else {
		fmt.Fprintln(&text, "effective votes:", display.VotesText(p.Votes, b.Seats))
	}
	return errors.Join(err, app.Sayf(w, "%s", text.String()))
}

// heaviest warns of a family with more seats than F: an error that its models share is not tolerated.
func (p *proposal) heaviest() string {
	seats, most, of := map[string]int{}, 0, ""
	for _, s := range p.Seats {
		if seats[s.Family] += s.Seats; seats[s.Family] > most {
			most, of = seats[s.Family], s.Family
		}
	}
	if most <= p.Plan.F {
		return ""
	}
	return fmt.Sprintf("%d of %d seats are of family %s: an error that its models share is more than F=%d. Add keys "+
		"or servers of other makers.", most, p.Plan.Seats, app.OneLine(of), p.Plan.F)
}

func fprintln(w io.Writer) error {
	_, err := fmt.Fprintln(w)
	return err
}

// writeProposal writes the file, and reports whether it did.
func writeProposal(a *app.App, cmd *cobra.Command, p *proposal, f initFlags) (bool, error) {
	if in, ok := cmd.InOrStdin().(*os.File); ok && !f.yes && a.OnTerminal(cmd) && app.IsTerminal(in) {
		fmt.Fprintf(cmd.ErrOrStderr(), "write %s? [Y/n] ", app.OneLine(f.out))
		line, err := bufio.NewReader(in).ReadString('\n')
		if line = strings.ToLower(strings.TrimSpace(line)); err != nil || line != "" && line != "y" && line != "yes" {
			a.Say(cmd, "nothing was written")
			return false, nil
		}
	}
	if err := app.WriteNew(f.out, p.Text, f.force); err != nil {
		return false, err
	}
	ask := "synod ask"
	if filepath.Clean(f.out) != "synod.yaml" {
		ask += " -c " + app.ShellWord(f.out)
	}
	a.Say(cmd, fmt.Sprintf("%s is written. Check it with: synod doctor -c %s · ask with: %s \"What is 17 + 25?\"",
		f.out, app.ShellWord(f.out), ask))
	return true, nil
}
