package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// design is what "synod graph design" says.
type design struct {
	Version int       `json:"version"`
	F       int       `json:"f"`
	Rule    string    `json:"rule"`
	R       int       `json:"r"` // confirmed by the exact search
	Nodes   int       `json:"nodes"`
	Edges   int       `json:"edges"`
	Best    int       `json:"best_known"`   // fewest edges known to suffice
	Optimal bool      `json:"optimal"`      // proven that fewer do not
	Plain   int       `json:"construction"` // edges of the best construction that needs no search
	Method  string    `json:"method"`
	Rounds  int       `json:"rounds"`
	Calls   int       `json:"calls"`          // what a question costs SAC at most
	Full    int       `json:"calls_complete"` // the same on the complete graph
	Graph   drawnJSON `json:"graph"`
}

// designFlags are the flags of "synod graph design".
type designFlags struct {
	patience
	rule
	out          graphOut
	n, f, rounds int
	tries        int
	seed         uint64
	asJSON       bool
}

func graphDesignCommand(a *app) *cobra.Command {
	var f designFlags
	cmd := &cobra.Command{
		Use:   "design -n N --f F",
		Short: "Make a sparse graph that is robust enough",
		Long: `Makes a graph of N nodes with few edges that is robust enough for F faulty
neighbours each: the best known construction, then a search that takes edges out.
Every graph on the way is confirmed by the exact search. Up to 10 nodes the least
number of edges is known and reached. The same command makes the same graph unless
the time limit ends the search.`,
		Example: "  synod graph design -n 10 --f 2\n  synod graph design -n 20 --f 3 --time-limit 1m -o twenty.graphml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.design(cmd, f) },
	}
	f.out.add(cmd, "")
	f.patience.add(cmd, "for fewer edges")
	f.rule.add(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "nodes", "n", 0, "number of nodes")
	fl.IntVar(&f.f, "f", -1, "the number of faulty neighbours each that is to be borne")
	fl.IntVar(&f.rounds, "rounds", 6, "rounds T for the calls a question costs")
	fl.IntVar(&f.tries, "tries", 0, "how often to try for fewer edges (0: 20,000)")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the search")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) design(cmd *cobra.Command, f designFlags) error {
	if !cmd.Flags().Changed("f") || !cmd.Flags().Changed("nodes") {
		return fail(exitUsage, errors.New("want -n, the number of nodes, and --f, the faulty neighbours each that are to be borne"))
	}
	want, err := f.rule.wants(f.f)
	if err != nil {
		return err
	}
	made, err := graph.Design(f.n, want, f.seed, f.tries, f.patience.start(cmd))
	if err != nil {
		return fail(exitUsage, err)
	}
	full, err := graph.Build("complete", f.n, nil, 0)
	if err != nil {
		return fail(exitUsage, err)
	}
	file := graph.File{Graph: made.Graph}
	d := &design{
		Version: 1, F: f.f, Rule: f.rule.name, R: made.R, Nodes: f.n, Edges: made.Graph.EdgeCount(), Best: made.Best, Optimal: made.Optimal,
		Plain: made.Plain, Method: made.Method, Rounds: f.rounds, Calls: graph.SACCalls(made.Graph, f.rounds),
		Full: graph.SACCalls(full.Graph, f.rounds), Graph: asDrawn(file),
	}
	if err := a.report(cmd, f.out, f.asJSON, file, d, d.write); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return fail(exitInterrupted, errors.New("interrupted; the best graph so far is above"))
	}
	return nil
}

func (d *design) write(w io.Writer) error {
	least := fmt.Sprintf("the best known has %d", d.Best)
	switch {
	case d.Optimal:
		least = "no graph has fewer"
	case d.Best == d.Edges:
		least = "none known has fewer"
	}
	_, err := fmt.Fprintf(w, `%d-robust, for F=%d (%s)
nodes            %d
edges            %d; %s; the best construction without search has %d
calls/question   %d at T=%d; the complete graph takes %d
made by          %s
edges            %s
`, d.R, d.F, d.Rule, d.Nodes, d.Edges, least, d.Plain, d.Calls, d.Rounds, d.Full, d.Method, pairs(d.Graph.Edges))
	return err
}

// pairs lists edges.
func pairs(edges [][2]int) (s string) {
	for k, e := range edges {
		if k > 0 {
			s += " "
		}
		s += fmt.Sprintf("%d–%d", e[0], e[1])
	}
	return s
}
