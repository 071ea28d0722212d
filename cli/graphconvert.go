package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

func graphConvertCommand(a *app) *cobra.Command {
	var source graphSource
	var to string
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Write a graph in another format",
		Long:  "Writes a graph in another format.\n\n" + formatLines() + "\n- is stdin or stdout.",
		Example: `  synod graph convert net.graphml net.json
  synod graph convert --from edges - net.dot < list`,
		Args: exactly(2, "two files, IN and OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := source.read(cmd, args[0])
			if err != nil {
				return err
			}
			out := graphOut{args[1], to}
			if err := out.write(cmd, s.file); err != nil {
				return err
			}
			return a.sameNames(cmd, s.file, out)
		},
	}
	source.addFrom(cmd)
	cmd.Flags().StringVar(&to, "to", "", "`format` of OUT: "+formatNames()+" (default: by the file's ending)")
	return cmd
}

// sameNames warns when a format cannot hold the names of nodes.
func (a *app) sameNames(cmd *cobra.Command, file graph.File, out graphOut) error {
	format, err := formatFor(out.path, out.format)
	if err != nil || a.quiet || file.Names == nil {
		return err
	}
	again, err := format.Parse(format.Write(file))
	if err != nil {
		return fail(exitError1, fmt.Errorf("what was written cannot be read again: %w", err))
	}
	if again.Names == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "the nodes have lost their names: %s cannot hold them\n", format.Name)
	}
	return nil
}

func formatLines() (lines string) {
	for _, f := range graph.Formats() {
		lines += fmt.Sprintf("  %-8s %s\n", f.Name, f.Summary)
	}
	return lines
}
