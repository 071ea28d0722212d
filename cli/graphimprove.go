package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// improvement is what "synod graph improve" says.
type improvement struct {
	Version int         `json:"version"`
	F       int         `json:"f"`
	Rule    string      `json:"rule"`
	Wanted  int         `json:"wanted"` // the robustness asked for
	Add     [][2]int    `json:"add"`
	Names   [][2]string `json:"add_names,omitempty"`
	Optimal bool        `json:"optimal"` // fewer additions are proven not to be enough
	Before  *finding    `json:"before"`
	After   *finding    `json:"after"`
	Graph   drawnJSON   `json:"graph"`
}

// improveFlags are the flags of "synod graph improve".
type improveFlags struct {
	examiner
	source graphSource
	out    graphOut
	asJSON bool
}

func graphImproveCommand(a *app) *cobra.Command {
	f := improveFlags{examiner: examiner{f: -1, rounds: 6}}
	cmd := &cobra.Command{
		Use:   "improve FILE --f F",
		Short: "Name the edges to add until a graph is robust enough",
		Long: `Names few edges whose addition makes the graph robust enough for F faulty
neighbours each, and says whether fewer are proven not to be enough.`,
		Example: "  synod graph improve net.graphml --f 2\n  synod graph improve net.json --f 1 --rule strong -o better.json",
		Args:    exactly(1, "a file, and --f"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.improve(cmd, args[0], f) },
	}
	f.source.addFrom(cmd)
	f.out.add(cmd, "")
	f.patience.add(cmd, "in all")
	f.rule.add(cmd)
	cmd.Flags().IntVar(&f.f, "f", -1, "the number of faulty neighbours each that is to be borne")
	cmd.Flags().Uint64Var(&f.source.seed, "seed", 0, "seed of the search")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) improve(cmd *cobra.Command, path string, f improveFlags) error {
	if !cmd.Flags().Changed("f") {
		return fail(exitUsage, errors.New("--f is missing: how many faulty neighbours each are to be borne?"))
	}
	want, err := f.rule.wants(f.f)
	if err != nil {
		return err
	}
	s, err := f.source.read(cmd, path)
	if err != nil {
		return err
	}
	better, err := graph.Improve(s.file.Graph, want, f.source.seed, f.patience.start(cmd))
	if errors.Is(err, graph.ErrStopped) {
		return f.patience.stopped(cmd)
	}
	if err != nil {
		return fail(exitUsage, fmt.Errorf("%s: %w", s.name, err))
	}
	file := graph.File{Graph: better.Graph, Names: s.file.Names}
	i := &improvement{Version: 1, F: f.f, Rule: f.rule.name, Wanted: want, Add: better.Added, Optimal: better.Optimal, Graph: asDrawn(file)}
	i.Add = slices.Grow(i.Add, 0)
	if s.file.Names != nil {
		for _, e := range i.Add {
			i.Names = append(i.Names, [2]string{file.Name(e[0]), file.Name(e[1])})
		}
	}
	if i.Before, err = f.examine(cmd, s); err != nil {
		return err
	}
	if i.After, err = f.examine(cmd, subject{"improved", file, graph.Built{}}); err != nil {
		return err
	}
	if i.After.Lower < want {
		return f.patience.stopped(cmd)
	}
	return a.report(cmd, f.out, f.asJSON, file, i, func(w io.Writer) error {
		fmt.Fprintln(w, i.words(file))
		return tabulate(w, f.examiner, i.Before, i.After)
	})
}

// words says which edges to add.
func (i *improvement) words(file graph.File) string {
	if len(i.Add) == 0 {
		return fmt.Sprintf("nothing to add: the graph is %d-robust", i.Wanted)
	}
	join := "–"
	if file.Graph.Directed() {
		join = "→"
	}
	var edges []string
	for _, e := range i.Add {
		edges = append(edges, oneLine(file.Name(e[0]))+join+oneLine(file.Name(e[1])))
	}
	proven := "fewer may do"
	if i.Optimal {
		proven = "fewer are proven not to be enough"
	}
	return fmt.Sprintf("add %s (%s): %s", count(len(edges), "edge"), proven, strings.Join(edges, ", "))
}
