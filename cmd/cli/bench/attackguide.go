package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/durable"
)

func attackGuideCommand() *cobra.Command {
	formats, format := attack.GuideFormats(), "md"
	cmd := &cobra.Command{
		Use:   "guide FOLDER|FILE.json…",
		Short: "Compare protocols by what every adversary does to them",
		Long: `Reads folders of the preset attack-table, of one or several kinds of members, and prints for
each kind what the worst of one and of two adversaries did to each protocol, and what every
adversary did. Cells that are not finished are left out and counted. A folder of the preset
judge-range adds how the protocols do as judges judge worse and better. A FILE.json is a guide
that was written earlier with --format json; its figures are added.`,
		Example: `  synod bench run attack-table -o runs/simulated
  synod bench run attack-table --members recorded --data FOLDER -o runs/recorded
  synod attack guide runs/simulated runs/recorded --format html > guide.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return app.Fail(app.ExitUsage, fmt.Errorf("--format is %q%s; it must be one of %s", format,
					synod.Hint(format, formats), strings.Join(formats, ", ")))
			}
			all := &attack.Guide{Version: attack.Version}
			for _, path := range args {
				g, err := guideOf(path)
				if err == nil {
					err = all.Join(g)
				}
				if err != nil {
					return unreportable(fmt.Errorf("%s: %w", path, err))
				}
			}
			if err := all.Write(cmd.OutOrStdout(), format); err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "format: "+strings.Join(formats, ", "))
	return cmd
}

// guideOf reads the figures of a grid, or a guide that was written as JSON.
func guideOf(path string) (*attack.Guide, error) {
	if filepath.Ext(path) == ".json" {
		f, err := durable.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return attack.ReadGuide(f)
	}
	grid, err := bench.OpenGrid(path)
	if err != nil {
		return nil, err
	}
	return attack.NewGuide(grid)
}
