package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/bench/presets"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/core/table"
)

// addManifest adds the flags that say which cells the folder of a manifest has.
func (f *benchFlags) addManifest(fl *pflag.FlagSet, full *bool) {
	fl.StringArrayVar(&f.source.Sets, "set", nil, "set a `key=value` of every cell, such as f=2, questions=5 or "+
		"prompts=FOLDER")
	fl.IntVarP(&f.N, "number", "n", 0, "number of questions of every cell (default: that of the manifest)")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the grid")
	fl.IntVar(&f.repeat, "repeat", 1, "how often each question is asked (default: that of the manifest)")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of all random choices (default: that of the manifest)")
	fl.StringVar(&f.Data, "data", "", "`file` or folder of the questions (default: what synod data pull fetched)")
	fl.StringVar(&f.members, "members", "", "simulated, embedded, recorded, or a council `file` whose models replace "+
		"those of the same names")
	fl.StringVar(&f.cell, "cell", "", "only the cells whose names match a `pattern`, such as 'sac-*'")
	f.addQuestions(fl)
	fl.BoolVar(full, "full", false, "the complete form of the experiment, such as with more repeats")
}

// runGrid makes the folder of an experiment, or takes the one that is there, and works on its cells.
func runGrid(a *app.App, cmd *cobra.Command, m *manifest.Manifest, f benchFlags, o manifest.Options) error {
	grid, err := m.Draft(o)
	if err != nil {
		return app.ConfigError(err)
	}
	if f.dryRun {
		if err := printPlan(cmd, grid, f.asJSON); err != nil || len(grid.Runs) == 0 {
			return err
		}
		return f.showPower(cmd, grid.Runs[0].N, grid.Runs[0].Repeat)
	}
	if err := bringFiles(a, cmd, m, grid, f); err != nil {
		return err
	}
	if err := computeGrid(a, cmd, grid); err != nil {
		return err
	}
	if len(grid.Cells) == 0 {
		a.Say(cmd, "all cells are computed without asking a member · see: synod bench report "+
			app.ShellWord(grid.Dir()))
		return nil
	}
	return benchWork(a, cmd, grid, f)
}

// computeGrid computes the cells that ask no member.
func computeGrid(a *app.App, cmd *cobra.Command, grid *bench.Grid) error {
	show, at := benchProgress(a, cmd, 0)
	err := grid.Compute(cmd.Context(), at)
	show.Done()
	if errors.Is(err, context.Canceled) {
		return app.Fail(app.ExitInterrupted, nil, "interrupted: what is computed is kept. Go on with the same command")
	}
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return nil
}

// checkManifest fails if a flag is given that is for tasks, or for other experiments.
func (f *benchFlags) checkManifest(cmd *cobra.Command, m *manifest.Manifest) error {
	for _, name := range []string{"council", "model", "form", "schema", "tools", "level"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for tasks; an experiment defines its own councils and takes --members", name)
		}
	}
	if f.rounds > 0 && !m.Plays("game") {
		return fmt.Errorf("%s: --rounds is only for presets with games; set the rounds of its protocols with: "+
			"--set protocol.rounds=%d", m.Experiment, f.rounds)
	}
	return nil
}

// experiment returns the preset or the manifest that a name means; nil if it means a task or a file of questions.
func experiment(name string) (*manifest.Manifest, error) {
	if p, err := manifest.FindPreset(name); err == nil {
		return p.Manifest, nil
	}
	if is, err := manifest.Is(name); err == nil && !is {
		return nil, nil
	}
	m, err := manifest.Load(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, app.Fail(app.ExitUsage, err, "check the path; begin a manifest with: synod bench show "+
			"sac-table1 > "+app.ShellWord(name))
	}
	if err != nil {
		return nil, app.ConfigError(err)
	}
	return m, nil
}

// printPlan prints the cells of a grid and what they would cost.
func printPlan(cmd *cobra.Command, grid *bench.Grid, asJSON bool) error {
	if !asJSON {
		t := table.Table{Head: []string{"cell", "questions", "seats", "calls at most"}, Align: "lr"}
		for i, run := range grid.Runs {
			n := run.N * run.Repeat
			t.Add(grid.Cells[i].Name, n, len(run.Seats), n*run.Planned)
		}
		for _, c := range grid.Computed {
			t.Add(c.Name, "computed", "", "")
		}
		for _, c := range grid.Readings {
			t.Add(c.Name, "of "+c.Of, "", "")
		}
		for _, c := range grid.Blank {
			t.Add(c.Name, "cannot be run", "", "")
		}
		if err := t.Write(cmd.OutOrStdout(), "text"); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "\n%s with a run, %d without\n", app.Count(len(grid.Runs), "cell"),
			len(grid.Computed)+len(grid.Readings)+len(grid.Blank))
		if err := printPlannedPower(cmd, grid); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	return display.PrintEstimate(cmd, cmd.OutOrStdout(), grid, asJSON, nil)
}

// printPlannedPower prints the power of the claims of a paper, of which the planned questions decide.
func printPlannedPower(cmd *cobra.Command, grid *bench.Grid) error {
	if len(grid.Claims) == 0 {
		return nil
	}
	cells := map[string]report.PlannedCell{}
	for i, run := range grid.Runs {
		cells[grid.Cells[i].Name] = report.PlannedCell{Paper: grid.Cells[i].Paper, Questions: run.N}
	}
	fmt.Fprintln(cmd.OutOrStdout())
	if err := report.PlannedPower(grid.Claims, cells).Write(cmd.OutOrStdout(), "text"); err != nil {
		return err
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), "power: the chance that these questions show the paper's difference, from "+
		"its figures alone; –: it prints no shares\n\n")
	return err
}

// bringFiles makes the folder that of the grid and says what is new.
func bringFiles(a *app.App, cmd *cobra.Command, m *manifest.Manifest, grid *bench.Grid, f benchFlags) error {
	var e *bench.OccupiedError
	_, err := grid.Before(f.out)
	if err == nil && m.Preset() { // only a manifest of the user changes
		err = grid.Same(f.out)
	}
	if errors.As(err, &e) {
		return app.Fail(app.ExitUsage, err, "choose another folder with -o")
	}
	if err != nil {
		return unreportable(err)
	}
	if err := fetchGrid(a, cmd, grid); err != nil {
		return err
	}
	if err := preflightBench(a, cmd, f, grid.Runs...); err != nil {
		return err
	}
	u, err := grid.Update(f.out)
	if err != nil {
		return unreportable(err)
	}
	text := fmt.Sprintf("%d cells", len(grid.Cells)+len(grid.Computed)+len(grid.Readings))
	if u.Kept+u.Put > 0 {
		text += fmt.Sprintf(", of which %d are there and %d new", u.Kept, u.New)
	}
	if u.Put > 0 {
		text += fmt.Sprintf("; %s that no cell needs any more are kept", app.Count(u.Put, "earlier run"))
	}
	a.Say(cmd, strings.TrimSpace(text+". "+grid.Note))
	return nil
}

func showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show PRESET|FILE.csv",
		Short: "Print the manifest of a preset, or the figures of its paper",
		Example: `  synod bench show sac-table1 > mine.yaml
  synod bench show sac.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.TrimPrefix(args[0], "preset:")
			if filepath.Ext(name) == "" || !strings.Contains(name, ".csv") {
				if _, err := manifest.FindPreset(name); err != nil {
					return app.Fail(app.ExitUsage, err, "see: synod list presets")
				}
				name += ".yaml"
			}
			text, err := presets.File(name)
			if err != nil {
				return app.Fail(app.ExitUsage, fmt.Errorf("no preset has the file %s", name), "the files are named in "+
					"the key paper of a preset, such as preset:sac.csv")
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON schema of a manifest",
		Example: "  synod bench schema > manifest.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := manifest.Schema()
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(b))
			return err
		},
	}
}

func statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status DIR",
		Short:   "Print how far the cells of a grid are",
		Example: "  synod bench status runs/mine\n  synod bench status runs/mine --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			grid, err := openGrid(args[0])
			if err != nil {
				return err
			}
			states, err := grid.States()
			if err != nil {
				return unreportable(err)
			}
			hub, err := bench.ReadHubStatus(args[0])
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), struct {
					Version    int               `json:"version"`
					Experiment string            `json:"experiment"`
					Cells      []bench.CellState `json:"cells"`
					Hub        *bench.HubStatus  `json:"hub,omitempty"`
				}{1, grid.Preset, states, hub})
			}
			if err := printStates(cmd.OutOrStdout(), states); err != nil || hub == nil {
				return err
			}
			return printHub(cmd.OutOrStdout(), hub)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printStates(out io.Writer, states []bench.CellState) error {
	t := table.Table{Head: []string{"cell", "state", "finished", "failed", "of", "hash"}, Align: "llrrrl"}
	finished, total, cells := 0, 0, map[string]int{}
	for _, s := range states {
		hash := s.Hash[:min(len(s.Hash), 12)]
		t.Add(s.Cell, s.State, s.Finished, s.Failed, s.Total, hash)
		finished, total = finished+s.Finished, total+s.Total
		cells[s.State]++
	}
	if err := t.Write(out, "text"); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	var parts []string
	for _, state := range []string{"finished", "partly", "waiting", "computed", "derived", "blank"} {
		if cells[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", cells[state], state))
		}
	}
	fmt.Fprintf(out, "\n%d of %d questions finished · cells: %s\n", finished, total, strings.Join(parts, ", "))
	return nil
}

// openGrid opens the folder of a grid.
func openGrid(dir string) (*bench.Grid, error) {
	run, grid, err := openBench(dir)
	if err == nil && run != nil {
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("%s contains a single run, not a grid", dir),
			"report it with: synod bench report "+app.ShellWord(dir))
	}
	return grid, err
}
