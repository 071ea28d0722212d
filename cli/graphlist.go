package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// familyEntry is a family as "synod graph list --json" prints it.
type familyEntry struct {
	Name    string       `json:"name"`
	Summary string       `json:"summary"`
	Known   string       `json:"known"`
	Seeded  bool         `json:"seeded"`
	Params  []paramEntry `json:"params"`
}

type paramEntry struct {
	Key     string `json:"key"`
	Default any    `json:"default"`
	Doc     string `json:"doc"`
}

func graphListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the families of graphs, their parameters and what is known of them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), familyEntries())
			}
			w := cmd.OutOrStdout()
			for _, f := range graph.Families() {
				fmt.Fprintf(w, "%s: %s\n    known r: %s\n", f.Name, f.Summary, f.Known)
				for _, p := range f.Params {
					fmt.Fprintf(w, "    %s (%v): %s\n", p.Key, p.Default, p.Doc)
				}
				if f.Seeded {
					fmt.Fprintln(w, "    seed: drawn at random from it")
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func familyEntries() []familyEntry {
	var all []familyEntry
	for _, f := range graph.Families() {
		e := familyEntry{f.Name, f.Summary, f.Known, f.Seeded, []paramEntry{}}
		for _, p := range f.Params {
			e.Params = append(e.Params, paramEntry{p.Key, p.Default, p.Doc})
		}
		all = append(all, e)
	}
	return all
}
