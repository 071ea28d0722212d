package graph

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/robustness"
)

// checkFlags are the flags of "synod graph check".
type checkFlags struct {
	checker
	source graphSource
	format string
	asJSON bool
}

func graphCheckCommand(a *app.App) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [FILE… | - | --family A,B -n N[,N…]]",
		Short: "Find out how robust graphs are, with proof",
		Long: `Finds the largest r for which each graph is r-robust, the number F of faulty
neighbours for which that is enough, and two sets that prove that r is not larger: no
node in either set has r+1 neighbours outside its own set.

Graphs come from files, from families, or, with -, from stdin: one a line, for example
{"n": 3, "edges": [[0,1],[1,2]], "directed": false}. Each graph is answered before the
next is read. A .jsonl file is read in the same way.

Formats: text, csv and md are one table; json and jsonl print one object a graph, one
a line, in the order of the graphs. The default is text, and jsonl for -.

If the time limit ends a search, r and lower are a proven lower bound, upper is a
proven upper bound, and exact is false. f_sac and f_strong are never below 0: for r=0
they are 0, and the note states that not even F=0 is covered.

With --f the exit code is 100 unless every graph is proven to be robust enough.`,
		Example: `  synod graph check --family complete,merg,ring,star -n 7
  synod graph check net.graphml --f 2 --rule strong
  synod graph check --family er,regular -n 16,24,32 --seed 7 --format csv
  generate | synod graph check - | jq .r`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return graphCheck(a, cmd, args, f) },
	}
	f.source.add(cmd)
	f.limit.add(cmd, "for each graph")
	f.rule.add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.f, "f", -1, "check whether each graph is robust enough for this number of faulty neighbours of each "+
		"node")
	fl.IntVar(&f.rounds, "rounds", 6, "number of rounds T for the calls of a question")
	fl.BoolVar(&f.rs, "rs", false, "also find the largest s for which the graph is (r,s)-robust (exact up to 24 "+
		"nodes); with --f also whether it is (F+1,F+1)-robust")
	fl.BoolVar(&f.measures, "measures", false, "also compute degrees, vertex connectivity and algebraic connectivity")
	fl.StringVar(&f.format, "format", "", "text, json, jsonl, csv or md")
	fl.BoolVar(&f.asJSON, "json", false, "the same as --format json")
	cmd.MarkFlagsMutuallyExclusive("format", "json")
	return cmd
}

func graphCheck(a *app.App, cmd *cobra.Command, args []string, f checkFlags) error {
	if cmd.Flags().Changed("f") {
		if _, err := f.rule.needs(f.f); err != nil {
			return err
		}
	}
	if f.rounds < 0 {
		return app.Fail(app.ExitUsage, fmt.Errorf("--rounds is %d; it must be 0 or more", f.rounds))
	}
	out, err := newGraphTable(cmd.OutOrStdout(), f.outFormat(args), f.checker)
	if err != nil {
		return err
	}
	return checkAll(a, cmd, args, f, out)
}

func (f *checkFlags) outFormat(args []string) string {
	switch {
	case f.asJSON:
		return "json"
	case f.format == "" && len(args) == 1 && args[0] == "-":
		return "jsonl"
	case f.format == "":
		return "text"
	}
	return f.format
}

// checkAll checks every graph, and prints the results also if it ends in an error.
func checkAll(a *app.App, cmd *cobra.Command, args []string, f checkFlags, out *graphTable) error {
	var failed error
	short, unknown := 0, 0
	for s, err := range f.source.graphs(cmd, args) {
		var found *CheckReport
		if err == nil {
			found, err = f.check(cmd, s)
		}
		if err == nil {
			err = out.add(found)
		}
		if failed = err; failed != nil {
			break
		}
		switch {
		case found.gate == nil:
		case found.Enough == nil:
			unknown++
		case !*found.Enough:
			short++
		}
		if cmd.Context().Err() != nil {
			break
		}
	}
	if err := out.end(); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if !a.Quiet {
		out.printNotes(cmd.ErrOrStderr())
	}
	if cmd.Context().Err() != nil {
		return app.Fail(app.ExitInterrupted, errors.New("interrupted; the graphs that were finished are printed"))
	}
	if failed != nil {
		return failed
	}
	return f.passed(short, unknown)
}

// passed returns an error if --f was given and not every graph is proven to be robust enough.
func (f *checkFlags) passed(short, unknown int) error {
	switch {
	case short > 0:
		return app.Fail(app.ExitGate, fmt.Errorf("not robust enough for F=%d: %s", f.f, app.Count(short, "graph")),
			fmt.Sprintf("to find edges that would help: synod graph improve FILE --f %d --rule %s", f.f, f.rule.name))
	case unknown > 0:
		return app.Fail(app.ExitGate, fmt.Errorf("not known to be robust enough for F=%d: %s", f.f, app.Count(unknown,
			"graph")),
			"give it more time with --time-limit")
	}
	return nil
}

// CheckReport is the JSON object that "synod graph check" prints for a graph.
type CheckReport struct {
	Version   int    `json:"version"`
	Name      string `json:"name"` // family, file, or stream and line
	Nodes     int    `json:"nodes"`
	Edges     int    `json:"edges"`
	Directed  bool   `json:"directed"`
	Connected bool   `json:"connected"` // strongly, if directed
	R         int    `json:"r"`         // the largest r for which the graph is r-robust, or lower if that is not known
	Lower     int    `json:"lower"`     // proven: the graph is lower-robust
	Upper     int    `json:"upper"`     // proven: the graph is not (upper+1)-robust
	Exact     bool   `json:"exact"`
	// FSAC and FStrong are the largest F with lower ≥ F+1 and lower ≥ 2F+1. They are 0 also if lower is 0,
	// where not even F=0 is covered; Note states this.
	FSAC    int          `json:"f_sac"`
	FStrong int          `json:"f_strong"`
	Witness *[2][]int    `json:"witness"` // no node in either set has upper+1 neighbours outside its own set
	Names   *[2][]string `json:"witness_names,omitempty"`
	Rounds  int          `json:"rounds"`
	Calls   int          `json:"calls"` // model calls of a SAC question with that many rounds, at most
	*gate
	*pairwise
	*measures
	Note    string  `json:"note,omitempty"`
	Seconds float64 `json:"seconds"`

	cutNode string // the name of a node without which the graph falls apart; "" if there is none
}

// gate is the result of --f.
type gate struct {
	F      int    `json:"f"`
	Rule   string `json:"rule"`
	Enough *bool  `json:"enough"` // null: not known
	// Total reports whether the graph is (F+1,F+1)-robust, which is enough for F faulty nodes in all (W-MSR under the
	// F-total model, LeBlanc et al. 2013). It is set with --rs.
	Total *bool `json:"f_total,omitempty"`
}

// pairwise is the result of --rs.
type pairwise struct {
	S        int       `json:"s"` // the largest s for which the graph is (r,s)-robust, or s_lower if that is not known
	SLower   int       `json:"s_lower"`
	SUpper   int       `json:"s_upper"`
	SExact   bool      `json:"s_exact"`
	SWitness *[2][]int `json:"s_witness"`
}

// measures is the result of --measures.
type measures struct {
	MinDegree    int      `json:"min_degree"` // in-degree
	MaxDegree    int      `json:"max_degree"`
	Connectivity int      `json:"vertex_connectivity"`
	Algebraic    *float64 `json:"algebraic_connectivity"` // null for a directed graph
}

// checker checks graphs. Its fields are flags.
type checker struct {
	limit    timeLimit
	rule     claimRule
	f        int // -1: not given
	rounds   int
	rs       bool
	measures bool
}

// check checks one graph.
func (x *checker) check(cmd *cobra.Command, s namedGraph) (*CheckReport, error) {
	g, began := s.file.Graph, time.Now()
	o := &CheckReport{Version: 1, Name: s.name, Nodes: g.N(), Edges: g.EdgeCount(), Directed: g.Directed(),
		Connected: g.Connected(),
		Rounds:    x.rounds, Calls: sacCalls(g, x.rounds)}
	stop := x.limit.start(cmd)
	res, err := x.search(s, stop)
	if err != nil {
		return nil, err
	}
	o.R, o.Lower, o.Upper, o.Exact = res.Lower, res.Lower, res.Upper, res.Exact
	o.FSAC, o.FStrong = max(0, graph.FSAC(o.R)), max(0, graph.FStrong(o.R))
	o.Witness, o.Names = pairOf(res.Witness), namePair(s.file, res.Witness)
	if o.Witness != nil {
		if err := graph.VerifyWitness(g, o.Upper+1, res.Witness); err != nil {
			return nil, app.Fail(app.ExitVerify, fmt.Errorf("%s: the witness is not valid: %w", s.name, err),
				"this is a bug in synod; please report it with the graph")
		}
	}
	if x.f >= 0 {
		if o.gate, err = x.checkGate(res); err != nil {
			return nil, err
		}
	}
	if x.rs {
		if err = x.checkPairs(o, g, res, stop); err != nil {
			return nil, app.Fail(app.ExitFailure, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	if x.measures {
		if o.measures, err = measure(g); err != nil {
			return nil, app.Fail(app.ExitFailure, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	o.Note = x.note(cmd, o)
	o.cutNode = cutNode(s.file, res)
	o.Seconds = math.Round(time.Since(began).Seconds()*1e6) / 1e6
	return o, nil
}

// search finds the robustness. With --f it answers that question first, and spends at most one second more on the exact
// value.
func (x *checker) search(s namedGraph, stop func() bool) (robustness.Result, error) {
	g := s.file.Graph
	var res robustness.Result
	if x.f < 0 {
		res = robustness.Find(g, stop)
	} else {
		want, err := x.rule.needs(x.f)
		if err != nil {
			return res, err
		}
		if res = robustness.Decide(g, want, stop); !res.Exact {
			began := time.Now()
			more := robustness.Find(g, func() bool { return stop() || time.Since(began) > time.Second })
			if more.Upper < res.Upper {
				res.Upper, res.Witness = more.Upper, more.Witness
			}
			res.Lower = max(res.Lower, more.Lower)
		}
	}
	res.Lower = max(res.Lower, s.built.AtLeast)
	res.R, res.Exact = res.Lower, res.Lower == res.Upper
	return res, nil
}

// checkGate reports whether the graph is robust enough for F.
func (x *checker) checkGate(res robustness.Result) (*gate, error) {
	want, err := x.rule.needs(x.f)
	if err != nil {
		return nil, err
	}
	v := &gate{F: x.f, Rule: x.rule.name}
	if yes := res.Lower >= want; yes || res.Upper < want {
		v.Enough = &yes
	}
	return v, nil
}

// checkPairs finds the largest s for which the graph is (r,s)-robust, and with --f whether it is (F+1,F+1)-robust.
func (x *checker) checkPairs(o *CheckReport, g graph.Graph, robust robustness.Result, stop func() bool) error {
	o.pairwise = &pairwise{SExact: true}
	if o.R > 0 {
		res, err := robustness.LargestS(g, o.R, stop)
		if err != nil {
			return err
		}
		o.pairwise = &pairwise{res.S, res.Lower, res.Upper, res.Exact, pairOf(res.Witness)}
	}
	if x.f < 0 {
		return nil
	}
	want := x.f + 1
	if robust.Upper < want {
		o.Total = new(bool)
		return nil
	}
	res, err := robustness.LargestS(g, want, stop)
	if yes := res.Lower >= want; err == nil && (yes || res.Upper < want) {
		o.Total = &yes
	}
	return err
}

func measure(g graph.Graph) (m *measures, err error) {
	m = &measures{MinDegree: g.MinDegree(), MaxDegree: g.MaxDegree()}
	if m.Connectivity, err = graph.VertexConnectivity(g); err != nil || g.Directed() {
		return m, err
	}
	v, err := graph.AlgebraicConnectivity(g)
	m.Algebraic = &v
	return m, err
}

// note returns a remark about r=0 or about bounds that are not exact.
func (x *checker) note(cmd *cobra.Command, o *CheckReport) string {
	switch {
	case o.Upper == 0 && o.Directed:
		return "no node's messages can reach every other node: not even F=0 is covered"
	case o.Upper == 0:
		return "not connected: not even F=0 is covered"
	case o.Exact:
		return ""
	case o.Nodes > robustness.SearchLimit:
		return fmt.Sprintf("%d nodes are too many for the exact search, which supports %d: r is between the bounds",
			o.Nodes, robustness.SearchLimit)
	case cmd.Context().Err() != nil:
		return "interrupted: r is between the bounds"
	}
	return "not found within the time limit: r is between the bounds (--time-limit)"
}

// cutNode returns the name of a node without which no node's messages reach all others, if the graph has
// robustness 1 and such a node. It picks the one that leaves most components.
func cutNode(file format.File, res robustness.Result) string {
	g := file.Graph
	if res.Upper != 1 || !res.Exact || g.N() < 3 || g.N() > robustness.SearchLimit {
		return ""
	}
	best, most := "", 1
	for i := range g.N() {
		rest, _, err := graph.Without(g, []int{i})
		if err != nil || rest.Rooted() {
			continue
		}
		if parts := len(rest.Components()); best == "" || parts > most {
			best, most = file.Name(i), parts
		}
	}
	return best
}

func pairOf(pair [2][]int) *[2][]int {
	if pair[0] == nil {
		return nil
	}
	return &pair
}

// namePair returns the names of the nodes in both sets, or nil if the file has none.
func namePair(file format.File, pair [2][]int) *[2][]string {
	if file.Names == nil || pair[0] == nil {
		return nil
	}
	var names [2][]string
	for k, set := range pair {
		for _, i := range set {
			names[k] = append(names[k], file.Name(i))
		}
	}
	return &names
}
