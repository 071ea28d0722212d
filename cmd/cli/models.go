package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"synod.dev/synod/core/table"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
)

// env returns the folders and prices that models use on this machine.
func (a *app) env() llm.Env {
	return llm.Env{Models: a.store().Dir, Cache: a.cacheDir(), Prices: a.prices,
		Habits: filepath.Join(a.dirs.state, "servers.json")}
}

func (a *app) store() models.Store {
	if dir := os.Getenv("SYNOD_MODELS"); dir != "" {
		return models.Store{Dir: dir}
	}
	return models.Store{Dir: filepath.Join(a.dirs.data, "models")}
}

func modelsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Fetch, list and remove embedded models",
		Example: `  synod models list
  synod models pull
  synod models pull smollm2-135m-instruct --from ./SmolLM2-135M-Instruct.Q4_1.gguf
  synod models rm smollm2-135m-instruct`,
	}
	cmd.AddCommand(modelsPull(a), modelsList(a), modelsRemove(a))
	return cmd
}

func modelsPull(a *app) *cobra.Command {
	var opts models.Options
	cmd := &cobra.Command{
		Use:   "pull [NAME]",
		Short: "Fetch a model and the library that runs it",
		Long: `Fetches a model and the llama.cpp library, unless they are already there, and checks
them against the digests in the catalogue. An interrupted fetch continues where it
stopped.`,
		Example: "  synod models pull\n  synod models pull gemma3-270m\n  synod models pull llama.cpp --from " +
			"/opt/llama/lib",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := models.Default
			if len(args) == 1 {
				name = args[0]
			}
			return a.pull(cmd, name, opts)
		},
	}
	cmd.Flags().StringVar(&opts.From, "from", "", "use this GGUF `file` or folder of libraries instead of fetching")
	cmd.Flags().BoolVar(&opts.AcceptUnpinned, "accept-unpinned", false,
		"fetch a file without a known digest; its digest is recorded, and later fetches must have the same")
	return cmd
}

// pull fetches one entry of the catalogue of models and shows the progress.
func (a *app) pull(cmd *cobra.Command, name string, opts models.Options) error {
	show, at := a.download(cmd, name)
	opts.Progress = at
	if !a.quiet {
		opts.Notice = func(line string) {
			if !a.onTerminal(cmd) {
				fmt.Fprintln(cmd.ErrOrStderr(), oneLine(line))
			}
		}
	}
	store := a.store()
	var err error
	if opts.From != "" || name == models.Library {
		err = store.Pull(cmd.Context(), name, opts)
	} else {
		err = store.Ensure(cmd.Context(), name, opts)
	}
	show.done()
	if err == nil {
		return nil
	}
	if cmd.Context().Err() != nil {
		return fail(exitInterrupted, errors.New("interrupted; what was fetched is kept, and the same command "+
			"continues"))
	}
	return fail(exitError1, err, "see the models with: synod models list")
}

// absentModels lists the models of the embedded seats of a council that are not on this machine.
func (a *app) absentModels(spec plan.Spec) (names []string) {
	for _, seat := range spec.Seats {
		m := spec.Models[seat.Model]
		if name, ok := m["model"].(string); ok && m["provider"] == "embedded" && m["path"] == nil &&
			!slices.Contains(names, name) {
			if _, err := a.store().Resolve(name); err != nil {
				names = append(names, name)
			}
		}
	}
	return names
}

// fetchModels fetches the missing models of the embedded seats of a council.
func (a *app) fetchModels(cmd *cobra.Command, spec plan.Spec) error {
	for _, name := range a.absentModels(spec) {
		if !a.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "fetching %s and its library (only this time; see: synod models list)\n",
				oneLine(name))
		}
		if err := a.pull(cmd, name, models.Options{}); err != nil {
			return err
		}
	}
	return nil
}

func modelsList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the models that are installed or can be fetched",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := a.modelRows()
			if err != nil {
				return fail(exitError1, err)
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), rows)
			}
			t := table.Table{Head: []string{"NAME", "HERE", "TRIED", "SIZE", "LICENCE", "SUMMARY"}}
			for _, r := range rows {
				t.Add(r.Name, yes(r.Here), yes(r.Tried), fmt.Sprintf("%d MB", (r.Bytes+500_000)/1_000_000), r.Licence,
					r.Summary)
			}
			return t.Write(cmd.OutOrStdout(), "text")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// modelRow is a row of "synod models list".
type modelRow struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Summary string `json:"summary"`
	Here    bool   `json:"here"`
	Tried   bool   `json:"tried"` // it was run on a machine of the project
	Pinned  bool   `json:"pinned"`
	Bytes   int64  `json:"bytes"`
	Licence string `json:"licence"`
	SHA256  string `json:"sha256,omitempty"`
}

func (a *app) modelRows() ([]modelRow, error) {
	here, err := a.store().List()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	installed := map[string]models.Installed{}
	for _, i := range here {
		installed[i.Name] = i
	}
	var rows []modelRow
	for _, e := range models.Catalog() {
		_, got := installed[e.Name]
		delete(installed, e.Name)
		rows = append(rows, modelRow{e.Name, e.Kind, e.Summary, got, e.Tried, e.Pinned(), e.Bytes, e.Licence, e.SHA256})
	}
	for _, i := range here {
		if _, own := installed[i.Name]; own {
			rows = append(rows, modelRow{Name: i.Name, Kind: i.Kind, Summary: "from " + i.Source, Here: true,
				Pinned: i.Pinned, Bytes: i.Bytes(), Licence: i.Licence})
		}
	}
	return rows, nil
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func modelsRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "rm NAME",
		Short:   "Remove an installed model",
		Example: "  synod models rm gemma3-270m",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.store().Remove(args[0]); err != nil {
				return fail(exitError1, err, "see the models with: synod models list")
			}
			return nil
		},
	}
}

// engineCommand runs an embedded model; Synod starts it as a child process.
func engineCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "engine",
		Hidden:             true,
		DisableFlagParsing: true,
		PersistentPreRunE:  func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := engine.ParseArgs(args)
			if err != nil {
				return fail(exitUsage, err)
			}
			if err := engine.Serve(cmd.Context(), opts, cmd.InOrStdin(), rawOut(cmd)); err != nil {
				return fail(exitError1, err)
			}
			return nil
		},
	}
}
