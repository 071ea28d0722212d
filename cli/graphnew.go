package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// cheap is how long a remark on robustness may take to find.
const cheap = time.Second

func graphNewCommand(a *app) *cobra.Command {
	var source graphSource
	var out graphOut
	var n int
	cmd := &cobra.Command{
		Use:   "new FAMILY -n N",
		Short: "Build a graph of a family",
		Long: `Builds a graph and writes it; stderr says how robust it is, where that is found
within a second, and how many graphs were drawn until one was acceptable. The same
command always builds the same graph.`,
		Example: `  synod graph new merg -n 7
  synod graph new er -n 9 --param r=4 --seed 3 -o er.graphml
  synod graph new layered -n 7 --param layers=[3,2,2] --format dot`,
		Args: exactly(1, "a family; see them with: synod graph list"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source.families = args
			params, err := source.sortParams()
			if err != nil {
				return err
			}
			b, err := graph.Build(args[0], n, params[args[0]], source.seed)
			if err != nil {
				return fail(exitUsage, err)
			}
			if err := out.write(cmd, graph.File{Graph: b.Graph}); err != nil {
				return err
			}
			a.remark(cmd, b)
			return nil
		},
	}
	cmd.ValidArgs = graph.FamilyNames()
	source.addParams(cmd)
	out.add(cmd, "-")
	cmd.Flags().IntVarP(&n, "nodes", "n", 0, "number of nodes")
	return cmd
}

// remark says in a line what was built.
func (a *app) remark(cmd *cobra.Command, b graph.Built) {
	if a.quiet {
		return
	}
	quick := patience{limit: cheap}
	res := graph.Robustness(b.Graph, quick.start(cmd))
	line := fmt.Sprintf("%s on %s: %s, r=%s", b.Family, count(b.N(), "node"), count(b.EdgeCount(), "edge"), bounds(max(res.Lower, b.AtLeast), res.Upper))
	if b.Draws > 0 {
		line += fmt.Sprintf(" (%s until one was accepted)", count(b.Draws, "draw"))
	}
	fmt.Fprintln(cmd.ErrOrStderr(), line)
}

// exactly refuses any other number of arguments, in words.
func exactly(n int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return fail(exitUsage, fmt.Errorf("%s takes %s", cmd.CommandPath(), want))
		}
		return nil
	}
}
