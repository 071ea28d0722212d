package graph

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/scale"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/graph"
	"synod.dev/synod/internal/durable"
)

func graphScaleCommand() *cobra.Command {
	var sizes []int
	var out string
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Compute what happens with 1,000 to 10,000 members",
		Long: `Computes what happens beyond one council: sparse graphs that are robust by construction
and runs of W-MSR on them with Byzantine members, the exact probability that a committee
drawn from a large pool has more than a third of hostile members, and the sizes at which
parts of today's protocol stop. Members are SIMULATED. With the default sizes it takes a
minute or more.`,
		Example: "  synod graph scale\n  synod graph scale --nodes 1000 -o plots",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, n := range sizes {
				if n < 9 || n > graph.MaxNodes {
					return app.Fail(app.ExitUsage, fmt.Errorf("--nodes is %d; it must be between 9 and %d", n,
						graph.MaxNodes))
				}
			}
			for _, part := range []func() (scale.Page, error){scale.Limits, scale.Committees,
				func() (scale.Page, error) { return scale.Runs(sizes) }} {
				p, err := part()
				if err != nil {
					return app.Fail(app.ExitFailure, err)
				}
				for _, name := range slices.Sorted(maps.Keys(p.Tables)) {
					fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s\n", name, p.Tables[name])
				}
				for name, svg := range p.Plots {
					if out == "" {
						continue
					}
					if err := durable.WriteFile(filepath.Join(out, name), svg); err != nil {
						return app.Fail(app.ExitFailure, err)
					}
				}
			}
			return nil
		},
	}
	cmd.Flags().IntSliceVar(&sizes, "nodes", scale.Sizes, "numbers of members of the runs")
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the plots into this `folder`, which must be there")
	return cmd
}
