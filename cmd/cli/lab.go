package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod"
	"synod.dev/synod/bench/lab"
	"synod.dev/synod/bench/lab/manifest"
	"synod.dev/synod/bench/lab/presets"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/table"
	counciloutcome "synod.dev/synod/council/outcome"
)

func labCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Run experiments that a file describes",
		Long: `Runs the experiment of a manifest: a YAML file with axes, such as protocols, graphs and
adversaries, of which every combination is a cell. The experiments of the papers are
such files: synod lab show NAME prints one to copy. docs/measure/experiments.md describes the
format.`,
		Example: `  synod lab show sac-table1 > mine.yaml
  synod lab run mine.yaml -o runs/mine --dry-run
  synod lab run mine.yaml -o runs/mine
  synod bench report runs/mine --format html -o mine.html --plots plots`,
	}
	cmd.AddCommand(labRun(a), labHub(a), labWorker(a), labStatus(a), labWatch(a), labResume(a), labExport(a),
		labCompare(a), labFigures(a), labPower(a), labShow(a), labSchema())
	return cmd
}

func labRun(a *app) *cobra.Command {
	var f benchFlags
	var full bool
	cmd := &cobra.Command{
		Use:   "run MANIFEST.yaml|PRESET|all",
		Short: "Run the experiment of a manifest, or bring its folder up to date",
		Long: `Makes a run of every cell of a manifest or preset and works on them. The folder may be
that of an earlier version of the manifest: cells that have not changed are kept, also
under another name, and are not asked again; what no cell needs any more is kept without
a name. "all" runs every preset of the program in the complete form (--full)
into folders of -o, and prints one table of verdicts.

Exit codes: 0 all finished · 1 some failed, or the folder cannot be written · 2
usage · 5 the budget of the manifest is used · 130 interrupted: finished questions
are kept, and the same command goes on.`,
		Example: `  synod lab run mine.yaml -o runs/mine --dry-run
  synod lab run mine.yaml -o runs/mine --set protocol.rounds=3 --set prompts=words
  synod lab run sac-table1 --members models.yaml --data ./data -o runs/t1
  synod lab run all --data ./data -o runs/all`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.labRun(cmd, args[0], f, full) },
	}
	fl := cmd.Flags()
	f.addManifest(fl, &full)
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the cells and low, expected and worst-case cost; ask no model")
	fl.BoolVar(&f.asJSON, "json", false, "with --dry-run: print JSON")
	f.addDetect(fl)
	f.addWork(cmd)
	return cmd
}

// addManifest adds the flags that say which cells the folder of a manifest has.
func (f *benchFlags) addManifest(fl *pflag.FlagSet, full *bool) {
	fl.StringArrayVar(&f.source.sets, "set", nil, "set a `key=value` of every cell, such as f=2, questions=5 or "+
		"prompts=FOLDER")
	fl.IntVarP(&f.n, "number", "n", 0, "number of questions of every cell (default: that of the manifest)")
	fl.StringVarP(&f.out, "out", "o", "", "`folder` of the grid")
	fl.IntVar(&f.repeat, "repeat", 1, "how often each question is asked (default: that of the manifest)")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices (default: that of the manifest)")
	fl.StringVar(&f.data, "data", "", "`file` or folder of the questions (default: what synod data pull fetched)")
	fl.StringVar(&f.members, "members", "", "simulated, embedded, recorded, or a council `file` whose models replace "+
		"those of the same names")
	fl.StringVar(&f.cell, "cell", "", "only the cells whose names match a `pattern`, such as 'sac-*'")
	fl.BoolVar(full, "full", false, "the complete form of the experiment, such as with more repeats")
}

const allPresets = "all"

func (a *app) labRun(cmd *cobra.Command, name string, f benchFlags, full bool) error {
	if err := f.check(cmd); err != nil {
		return fail(exitUsage, err)
	}
	f.pulled = a.tasks().Dir
	o := f.manifestOptions(cmd, a)
	o.Full = full
	if name == allPresets {
		return a.labAll(cmd, f, o)
	}
	m, err := findManifest(name)
	if err != nil {
		return err
	}
	grid, err := m.Draft(o)
	if err != nil {
		return configError(err)
	}
	if f.dryRun {
		if err := printPlan(cmd, grid, f.asJSON); err != nil || len(grid.Runs) == 0 {
			return err
		}
		return f.showPower(cmd, grid.Runs[0].N, grid.Runs[0].Repeat)
	}
	if err := a.bring(cmd, grid, f); err != nil {
		return err
	}
	if len(grid.Cells) == 0 {
		a.say(cmd, "all cells are computed without asking a member · see: synod bench report "+
			counciloutcome.ShellWord(grid.Dir()))
		return nil
	}
	return a.benchWork(cmd, grid, f)
}

// findManifest returns a preset, or the manifest in a file.
func findManifest(name string) (*manifest.Manifest, error) {
	if p, err := manifest.Presets().Find(name); err == nil {
		return p.Manifest, nil
	}
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return nil, fail(exitUsage, fmt.Errorf("no preset is called %q%s", name, synod.Hint(name,
			manifest.Presets().Names())), "see: synod list presets; the name of a manifest ends in .yaml")
	}
	m, err := manifest.Load(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fail(exitUsage, err, "check the path; begin one with: synod lab show sac-table1 > "+
			counciloutcome.ShellWord(name))
	}
	if err != nil {
		return nil, configError(err)
	}
	return m, nil
}

// printPlan prints the cells of a grid and what they would cost.
func printPlan(cmd *cobra.Command, grid *lab.Grid, asJSON bool) error {
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
			return fail(exitError1, err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "\n%s with a run, %d without\n", count(len(grid.Runs), "cell"),
			len(grid.Computed)+len(grid.Readings)+len(grid.Blank))
	}
	return printEstimate(cmd, cmd.OutOrStdout(), grid, asJSON, nil)
}

// bring makes the folder that of the grid and says what is new.
func (a *app) bring(cmd *cobra.Command, grid *lab.Grid, f benchFlags) error {
	var e *lab.OccupiedError
	if _, err := grid.Before(f.out); errors.As(err, &e) {
		return fail(exitUsage, err, "choose another folder with -o")
	} else if err != nil {
		return unreportable(err)
	}
	if err := a.fetchGrid(cmd, grid); err != nil {
		return err
	}
	if err := a.preflightBench(cmd, f, grid.Runs...); err != nil {
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
		text += fmt.Sprintf("; %s that no cell needs any more are kept", count(u.Put, "earlier run"))
	}
	a.say(cmd, strings.TrimSpace(text+". "+grid.Note))
	return nil
}

// labAll runs every preset in its complete form and prints one table of verdicts.
func (a *app) labAll(cmd *cobra.Command, f benchFlags, o manifest.Options) error {
	o.Full = true
	var all report.Verdicts
	for _, p := range manifest.Presets().All() {
		grid, err := p.Manifest.Draft(o)
		if err != nil {
			return configError(err)
		}
		if f.dryRun {
			fmt.Fprintf(cmd.OutOrStdout(), "\n%s\n", p.Name)
			if err := printEstimate(cmd, cmd.OutOrStdout(), grid, f.asJSON, nil); err != nil {
				return err
			}
			continue
		}
		one := f
		one.out = filepath.Join(f.out, p.Name)
		a.say(cmd, p.Name)
		if err := a.bring(cmd, grid, one); err != nil {
			return err
		}
		if len(grid.Cells) > 0 {
			if err := a.benchWork(cmd, grid, one); err != nil {
				return err
			}
		}
		r, err := grid.Report()
		if err != nil {
			return unreportable(err)
		}
		all.Add(r)
	}
	if f.dryRun {
		return nil
	}
	return all.Write(cmd.OutOrStdout(), "text")
}

func labResume(a *app) *cobra.Command {
	cmd := benchResume(a)
	cmd.Short = "Resume a grid without its manifest"
	cmd.Example = "  synod lab resume runs/mine --parallel 8"
	return cmd
}

func labShow(*app) *cobra.Command {
	return &cobra.Command{
		Use:   "show PRESET|FILE.csv",
		Short: "Print the manifest of a preset, or the figures of its paper",
		Example: `  synod lab show sac-table1 > mine.yaml
  synod lab show sac.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.TrimPrefix(args[0], "preset:")
			if filepath.Ext(name) == "" || !strings.Contains(name, ".csv") {
				if _, err := manifest.Presets().Find(name); err != nil {
					return fail(exitUsage, err, "see: synod list presets")
				}
				name += ".yaml"
			}
			text, err := presets.File(name)
			if err != nil {
				return fail(exitUsage, fmt.Errorf("no preset has the file %s", name), "the files are named in the key "+
					"paper of a preset, such as preset:sac.csv")
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}

func labSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON schema of a manifest",
		Example: "  synod lab schema > manifest.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := manifest.Schema()
			if err != nil {
				return fail(exitError1, err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(b))
			return err
		},
	}
}

func labStatus(*app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status DIR",
		Short:   "Print how far the cells of a grid are",
		Example: "  synod lab status runs/mine\n  synod lab status runs/mine --json",
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
			hub, err := lab.ReadHubStatus(args[0])
			if err != nil {
				return fail(exitError1, err)
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), struct {
					Version    int            `json:"version"`
					Experiment string         `json:"experiment"`
					Cells      []lab.State    `json:"cells"`
					Hub        *lab.HubStatus `json:"hub,omitempty"`
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

func printStates(out io.Writer, states []lab.State) error {
	t := table.Table{Head: []string{"cell", "state", "finished", "failed", "of", "hash"}, Align: "llrrrl"}
	finished, total, cells := 0, 0, map[string]int{}
	for _, s := range states {
		hash := s.Hash[:min(len(s.Hash), 12)]
		t.Add(s.Cell, s.State, s.Finished, s.Failed, s.Total, hash)
		finished, total = finished+s.Finished, total+s.Total
		cells[s.State]++
	}
	if err := t.Write(out, "text"); err != nil {
		return fail(exitError1, err)
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
func openGrid(dir string) (*lab.Grid, error) {
	run, grid, err := openBench(dir)
	if err == nil && run != nil {
		return nil, fail(exitUsage, fmt.Errorf("%s contains a single run, not a grid", dir),
			"report it with: synod bench report "+counciloutcome.ShellWord(dir))
	}
	return grid, err
}

func labCompare(a *app) *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "compare DIR DIR…",
		Short: "Compare the cells of grids that have the same name",
		Long: `Compares every later grid with the first: cells of the same name, on the questions that
both have finished. Differences are paired and have 95 % intervals; p-values are
corrected by Holm's method. No model is asked.`,
		Example: `  synod lab compare runs/before runs/after
  synod lab compare runs/simulated runs/real --format md -o difference.md`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var grids []*lab.Grid
			for _, dir := range args {
				grid, err := openGrid(dir)
				if err != nil {
					return err
				}
				for _, run := range grid.Runs {
					run.Prices = a.prices
				}
				grids = append(grids, grid)
			}
			c, err := lab.CompareGrids(grids)
			if err != nil {
				return unreportable(err)
			}
			f := reportFlags{out: out}
			return f.write(cmd, func(w io.Writer) error { return c.Write(w, format) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&format, "format", "text", "text, json, csv or md")
	fl.StringVarP(&out, "out", "o", "-", "output `file`; - is stdout")
	return cmd
}
