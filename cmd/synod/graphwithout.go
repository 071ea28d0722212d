package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// departure is what "synod graph without" says.
type departure struct {
	Version int       `json:"version"`
	Gone    []string  `json:"gone"`
	Kept    []string  `json:"kept"` // who the nodes of after are, in order
	Before  *finding  `json:"before"`
	After   *finding  `json:"after"`
	Graph   drawnJSON `json:"graph"`
}

func graphWithoutCommand(a *app) *cobra.Command {
	var source graphSource
	var out graphOut
	var asJSON bool
	x := examiner{f: -1, rounds: 6}
	cmd := &cobra.Command{
		Use:   "without FILE NODE…",
		Short: "Say what remains of a graph when members leave",
		Long: `Says what remains of a graph when members leave or fall silent. Nodes are given by
name, or by number where they have no names. The nodes that remain are renumbered in
order; in what -o writes they keep what they were called.`,
		Example: "  synod graph without net.graphml 0 3\n  synod graph without net.json alice -o rest.json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fail(exitUsage, errors.New("want a file and at least one node that leaves"))
			}
			s, err := source.read(cmd, args[0])
			if err != nil {
				return err
			}
			rest, d, err := leave(s, args[1:])
			if err != nil {
				return err
			}
			if d.Before, err = x.examine(cmd, s); err != nil {
				return err
			}
			if d.After, err = x.examine(cmd, subject{"without " + strings.Join(d.Gone, ", "), rest, graph.Built{}}); err != nil {
				return err
			}
			return a.report(cmd, out, asJSON, rest, d, func(w io.Writer) error { return tabulate(w, x, d.Before, d.After) })
		},
	}
	source.addFrom(cmd)
	out.add(cmd, "")
	x.patience.add(cmd, "for each of the two graphs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// leave takes nodes out of a graph; those that remain keep their names.
func leave(s subject, names []string) (graph.File, *departure, error) {
	d := &departure{Version: 1, Gone: names}
	var nodes []int
	for _, name := range names {
		i, err := s.file.Node(name)
		if err != nil {
			return graph.File{}, nil, fail(exitUsage, fmt.Errorf("%s: %w", s.name, err))
		}
		nodes = append(nodes, i)
	}
	rest, kept, err := graph.Without(s.file.Graph, nodes)
	if err != nil {
		return graph.File{}, nil, fail(exitUsage, fmt.Errorf("%s: %w", s.name, err))
	}
	for _, i := range kept {
		d.Kept = append(d.Kept, s.file.Name(i))
	}
	file := graph.File{Graph: rest, Names: d.Kept}
	d.Graph = asDrawn(file)
	return file, d, nil
}
