package graph

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/design"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/topology"
)

// graphDesign is the JSON object that "synod graph design" prints.
type graphDesign struct {
	Version int       `json:"version"`
	F       int       `json:"f"`
	Rule    string    `json:"rule"`
	R       int       `json:"r"` // confirmed by the exact search
	Nodes   int       `json:"nodes"`
	Edges   int       `json:"edges"`
	Best    int       `json:"best_known"`   // fewest edges known to be enough
	Optimal bool      `json:"optimal"`      // fewer edges are proven not to be enough
	Plain   int       `json:"construction"` // edges of the best construction that needs no search
	Method  string    `json:"method"`
	Rounds  int       `json:"rounds"`
	Calls   int       `json:"calls"`          // model calls of a SAC question, at most
	Full    int       `json:"calls_complete"` // the same on the complete graph
	Graph   graphJSON `json:"graph"`
}

// designFlags are the flags of "synod graph design".
type designFlags struct {
	limit        timeLimit
	rule         claimRule
	out          graphOut
	n, f, rounds int
	tries        int
	seed         uint64
	asJSON       bool
}

func graphDesignCommand(a *app.App) *cobra.Command {
	var f designFlags
	cmd := &cobra.Command{
		Use:   "design -n N --f F",
		Short: "Make a sparse graph that is robust enough",
		Long: `Makes a graph of N nodes with few edges that is robust enough for F faulty
neighbours of each node: the best known construction, then a search that removes
edges. The exact search confirms every graph on the way. Up to 10 nodes the least
number of edges is known and reached. The same command makes the same graph, unless
the time limit ends the search.`,
		Example: "  synod graph design -n 10 --f 2\n  synod graph design -n 20 --f 3 --time-limit 1m -o twenty.graphml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return designGraph(a, cmd, f) },
	}
	f.out.add(cmd, "")
	f.limit.add(cmd, "for fewer edges")
	f.rule.add(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "nodes", "n", 0, "number of nodes")
	fl.IntVar(&f.f, "f", -1, "number of faulty neighbours of each node")
	fl.IntVar(&f.rounds, "rounds", 6, "number of rounds T for the calls of a question")
	fl.IntVar(&f.tries, "tries", 0, "number of tries to find fewer edges (0: 20,000)")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the search")
	fl.BoolVar(&f.asJSON, "json", false, "print as JSON")
	return cmd
}

func designGraph(a *app.App, cmd *cobra.Command, f designFlags) error {
	if !cmd.Flags().Changed("f") || !cmd.Flags().Changed("nodes") {
		return app.Fail(app.ExitUsage, errors.New("-n, the number of nodes, and --f, the number of faulty neighbours "+
			"of each node, are required"))
	}
	want, err := f.rule.needs(f.f)
	if err != nil {
		return err
	}
	made, err := design.Design(f.n, want, f.seed, f.tries, f.limit.start(cmd))
	if err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	full, err := topology.Build("complete", f.n, nil, 0)
	if err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	file := format.File{Graph: made.Graph}
	d := &graphDesign{
		Version: 1, F: f.f, Rule: f.rule.name, R: made.R, Nodes: f.n, Edges: made.Graph.EdgeCount(), Best: made.Best,
		Optimal: made.Optimal,
		Plain:   made.Plain, Method: made.Method, Rounds: f.rounds, Calls: sacCalls(made.Graph, f.rounds),
		Full: sacCalls(full.Graph, f.rounds), Graph: toJSON(file),
	}
	if err := report(a, cmd, f.out, f.asJSON, file, d, d.write); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return app.Fail(app.ExitInterrupted, errors.New("interrupted; the best graph so far is printed"))
	}
	return nil
}

func (d *graphDesign) write(w io.Writer) error {
	least := fmt.Sprintf("the best known graph has %d", d.Best)
	switch {
	case d.Optimal:
		least = "no graph has fewer"
	case d.Best == d.Edges:
		least = "no known graph has fewer"
	}
	var edges []string
	for _, e := range d.Graph.Edges {
		edges = append(edges, fmt.Sprintf("%d–%d", e[0], e[1]))
	}
	return app.Sayf(w, `%d-robust, for F=%d (%s)
nodes            %d
edges            %d; %s; the best construction without search has %d
calls/question   %d at T=%d; the complete graph takes %d
made by          %s
edges            %s
`, d.R, d.F, d.Rule, d.Nodes, d.Edges, least, d.Plain, d.Calls, d.Rounds, d.Full, d.Method, strings.Join(edges, " "))
}

// improvement is the JSON object that "synod graph improve" prints.
type improvement struct {
	Version int          `json:"version"`
	F       int          `json:"f"`
	Rule    string       `json:"rule"`
	Wanted  int          `json:"wanted"` // the robustness needed
	Add     [][2]int     `json:"add"`
	Names   [][2]string  `json:"add_names,omitempty"`
	Optimal bool         `json:"optimal"` // fewer additions are proven not to be enough
	Before  *CheckReport `json:"before"`
	After   *CheckReport `json:"after"`
	Graph   graphJSON    `json:"graph"`
}

// improveFlags are the flags of "synod graph improve".
type improveFlags struct {
	checker
	source graphSource
	out    graphOut
	asJSON bool
}

func graphImproveCommand(a *app.App) *cobra.Command {
	f := improveFlags{checker: checker{f: -1, rounds: 6}}
	cmd := &cobra.Command{
		Use:   "improve FILE --f F",
		Short: "Find the edges to add until a graph is robust enough",
		Long: `Finds few edges whose addition makes the graph robust enough for F faulty neighbours
of each node, and reports whether fewer are proven not to be enough.`,
		Example: "  synod graph improve net.graphml --f 2\n  synod graph improve net.json --f 1 " +
			"--rule strong -o better.json",
		Args: exactly(1, "a file, and --f"),
		RunE: func(cmd *cobra.Command, args []string) error { return improveGraph(a, cmd, args[0], f) },
	}
	f.source.addFrom(cmd)
	f.out.add(cmd, "")
	f.limit.add(cmd, "in all")
	f.rule.add(cmd)
	cmd.Flags().IntVar(&f.f, "f", -1, "number of faulty neighbours of each node")
	cmd.Flags().Uint64Var(&f.source.seed, "seed", 0, "seed of the search")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print as JSON")
	return cmd
}

func improveGraph(a *app.App, cmd *cobra.Command, path string, f improveFlags) error {
	if !cmd.Flags().Changed("f") {
		return app.Fail(app.ExitUsage, errors.New("--f, the number of faulty neighbours of each node, is required"))
	}
	want, err := f.rule.needs(f.f)
	if err != nil {
		return err
	}
	s, err := f.source.read(cmd, path)
	if err != nil {
		return err
	}
	better, err := design.Improve(s.file.Graph, want, f.source.seed, f.limit.start(cmd))
	if errors.Is(err, design.ErrStopped) {
		return f.limit.reached(cmd)
	}
	if err != nil {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s: %w", s.name, err))
	}
	file := format.File{Graph: better.Graph, Names: s.file.Names}
	i := &improvement{Version: 1, F: f.f, Rule: f.rule.name, Wanted: want, Add: slices.Grow(better.Added, 0),
		Optimal: better.Optimal, Graph: toJSON(file)}
	if s.file.Names != nil {
		for _, e := range i.Add {
			i.Names = append(i.Names, [2]string{file.Name(e[0]), file.Name(e[1])})
		}
	}
	if i.Before, err = f.check(cmd, s); err != nil {
		return err
	}
	if i.After, err = f.check(cmd, namedGraph{"improved", file, topology.Built{}}); err != nil {
		return err
	}
	if i.After.Lower < want {
		return f.limit.reached(cmd)
	}
	return report(a, cmd, f.out, f.asJSON, file, i, func(w io.Writer) error {
		fmt.Fprintln(w, i.summary(file))
		return tabulate(w, f.checker, i.Before, i.After)
	})
}

// summary lists the edges to add.
func (i *improvement) summary(file format.File) string {
	if len(i.Add) == 0 {
		return fmt.Sprintf("nothing to add: the graph is %d-robust", i.Wanted)
	}
	join := "–"
	if file.Graph.Directed() {
		join = "→"
	}
	var edges []string
	for _, e := range i.Add {
		edges = append(edges, app.OneLine(file.Name(e[0]))+join+app.OneLine(file.Name(e[1])))
	}
	proven := "fewer may be enough"
	if i.Optimal {
		proven = "fewer are proven not to be enough"
	}
	return fmt.Sprintf("add %s (%s): %s", app.Count(len(edges), "edge"), proven, strings.Join(edges, ", "))
}

// departure is the JSON object that "synod graph without" prints.
type departure struct {
	Version int          `json:"version"`
	Gone    []string     `json:"gone"`
	Kept    []string     `json:"kept"` // names of the remaining nodes, in their new order
	Before  *CheckReport `json:"before"`
	After   *CheckReport `json:"after"`
	Graph   graphJSON    `json:"graph"`
}

// withoutFlags are the flags of "synod graph without".
type withoutFlags struct {
	checker
	source graphSource
	place  placeFlag
	out    graphOut
	asJSON bool
}

func graphWithoutCommand(a *app.App) *cobra.Command {
	f := withoutFlags{checker: checker{f: -1, rounds: 6}}
	cmd := &cobra.Command{
		Use:   "without FILE NODE…",
		Short: "Find out what remains of a graph when members leave",
		Long: `Finds out what remains of a graph when members leave or fall silent. Nodes are given
by name, or by number if they have no names. The remaining nodes are renumbered in
order; the graph that -o writes keeps their names.

` + placementLines(),
		Example: `  synod graph without net.graphml 0 3
  synod graph without net.json alice -o rest.json
  synod graph without net.json --place worst:2`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return graphWithout(a, cmd, args, f) },
	}
	f.source.addFrom(cmd)
	f.place.add(cmd, "remove the nodes that a rule picks")
	f.out.add(cmd, "")
	f.limit.add(cmd, "for each of the two graphs, and for --place")
	cmd.Flags().Uint64Var(&f.source.seed, "seed", 0, "seed of --place")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print as JSON")
	return cmd
}

func graphWithout(a *app.App, cmd *cobra.Command, args []string, f withoutFlags) error {
	if len(args) < 1 || (len(args) > 1) == (f.place.text != "") {
		return app.Fail(app.ExitUsage, errors.New("want a file, and either the nodes that leave or --place"))
	}
	s, err := f.source.read(cmd, args[0])
	if err != nil {
		return err
	}
	picked, err := f.place.nodes(s, f.source.seed, f.limit.start(cmd))
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
	if d.Before, err = f.check(cmd, s); err != nil {
		return err
	}
	without := namedGraph{"without " + strings.Join(gone, ", "), rest, topology.Built{}}
	if d.After, err = f.check(cmd, without); err != nil {
		return err
	}
	return report(a, cmd, f.out, f.asJSON, rest, d,
		func(w io.Writer) error { return tabulate(w, f.checker, d.Before, d.After) })
}

// leave removes nodes from a graph; the remaining ones keep their names.
func leave(s namedGraph, names []string) (format.File, *departure, error) {
	d := &departure{Version: 1, Gone: names}
	var nodes []int
	for _, name := range names {
		i, err := s.file.Node(name)
		if err != nil {
			return format.File{}, nil, app.Fail(app.ExitUsage, fmt.Errorf("%s: %w", s.name, err))
		}
		nodes = append(nodes, i)
	}
	rest, kept, err := graph.Without(s.file.Graph, nodes)
	if err != nil {
		return format.File{}, nil, app.Fail(app.ExitUsage, fmt.Errorf("%s: %w", s.name, err))
	}
	for _, i := range kept {
		d.Kept = append(d.Kept, s.file.Name(i))
	}
	file := format.File{Graph: rest, Names: d.Kept}
	d.Graph = toJSON(file)
	return file, d, nil
}
