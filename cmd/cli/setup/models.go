package setup

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
	"synod.dev/synod/llm/models"
)

// ModelsCommand is "synod models".
func ModelsCommand(a *app.App) *cobra.Command {
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

func modelsPull(a *app.App) *cobra.Command {
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
			return a.Pull(cmd, name, opts)
		},
	}
	cmd.Flags().StringVar(&opts.From, "from", "", "use this GGUF `file` or folder of libraries instead of fetching")
	cmd.Flags().BoolVar(&opts.AcceptUnpinned, "accept-unpinned", false,
		"fetch a file without a known digest; its digest is recorded, and later fetches must have the same")
	return cmd
}

func modelsList(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the models that are installed or can be fetched",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := modelRows(a)
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), rows)
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

func modelRows(a *app.App) ([]modelRow, error) {
	here, err := a.Store().List()
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

func modelsRemove(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "rm NAME",
		Short:   "Remove an installed model",
		Example: "  synod models rm gemma3-270m",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.Store().Remove(args[0]); err != nil {
				return app.Fail(app.ExitFailure, err, "see the models with: synod models list")
			}
			return nil
		},
	}
}
