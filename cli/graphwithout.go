package cli

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

// withoutFlags are the flags of "synod graph without".
type withoutFlags struct {
	examiner
	source graphSource
	place  placeFlag
	out    graphOut
	asJSON bool
}

func graphWithoutCommand(a *app) *cobra.Command {
	f := withoutFlags{examiner: examiner{f: -1, rounds: 6}}
	cmd := &cobra.Command{
		Use:   "without FILE NODE…",
		Short: "Say what remains of a graph when members leave",
		Long: `Says what remains of a graph when members leave or fall silent. Nodes are given by
name, or by number where they have no names. The nodes that remain are renumbered in
order; in what -o writes they keep what they were called.

` + placementLines(),
		Example: `  synod graph without net.graphml 0 3
  synod graph without net.json alice -o rest.json
  synod graph without net.json --place worst:2`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.without(cmd, args, f) },
	}
	f.source.addFrom(cmd)
	f.place.add(cmd, "the nodes that a rule picks leave")
	f.out.add(cmd, "")
	f.patience.add(cmd, "for each of the two graphs, and for --place")
	cmd.Flags().Uint64Var(&f.source.seed, "seed", 0, "seed of --place")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) without(cmd *cobra.Command, args []string, f withoutFlags) error {
	if len(args) < 1 || (len(args) > 1) == (f.place.text != "") {
		return fail(exitUsage, errors.New("want a file, and either the nodes that leave or --place"))
	}
	s, err := f.source.read(cmd, args[0])
	if err != nil {
		return err
	}
	picked, err := f.place.nodes(s, f.source.seed, f.patience.start(cmd))
	if err != nil {
		return err
	}
	gone := args[1:]
	for _, i := range picked {
		gone = append(gone, s.file.Name(i))
	}
	rest, d, err := leave(s, gone)
	if err != nil {
		return err
	}
	if d.Before, err = f.examine(cmd, s); err != nil {
		return err
	}
	if d.After, err = f.examine(cmd, subject{"without " + strings.Join(gone, ", "), rest, graph.Built{}}); err != nil {
		return err
	}
	return a.report(cmd, f.out, f.asJSON, rest, d, func(w io.Writer) error { return tabulate(w, f.examiner, d.Before, d.After) })
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
