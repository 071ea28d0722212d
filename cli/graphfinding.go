package cli

import (
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// finding is what "synod graph check" says of a graph.
type finding struct {
	Version   int    `json:"version"`
	Name      string `json:"name"` // family, file, or stream and line
	Nodes     int    `json:"nodes"`
	Edges     int    `json:"edges"`
	Directed  bool   `json:"directed"`
	Connected bool   `json:"connected"` // strongly, if directed
	R         int    `json:"r"`         // the largest r for which the graph is r-robust; lower if that is not known
	Lower     int    `json:"lower"`     // proven: it is lower-robust
	Upper     int    `json:"upper"`     // proven: it is not (upper+1)-robust
	Exact     bool   `json:"exact"`
	// FSAC and FStrong are the largest F with r ≥ F+1 and r ≥ 2F+1, counted from lower. They are 0 also where r is 0,
	// although not even F=0 is covered there; Note says so.
	FSAC    int          `json:"f_sac"`
	FStrong int          `json:"f_strong"`
	Witness *[2][]int    `json:"witness"` // nobody in either set hears upper+1 nodes outside its own set
	Names   *[2][]string `json:"witness_names,omitempty"`
	Rounds  int          `json:"rounds"`
	Calls   int          `json:"calls"` // what a question costs SAC at most, with that many rounds
	*gate
	*pairwise
	*measures
	Note    string  `json:"note,omitempty"`
	Seconds float64 `json:"seconds"`

	decider string // a node that alone stands between the others
}

// gate is the answer to --f.
type gate struct {
	F      int    `json:"f"`
	Rule   string `json:"rule"`
	Enough *bool  `json:"enough"` // null: not known
	// Total is whether the graph is (F+1,F+1)-robust, which bears F faulty nodes anywhere (W-MSR under the F-total
	// model, LeBlanc et al. 2013). It is asked with --rs.
	Total *bool `json:"f_total,omitempty"`
}

// pairwise is the answer to --rs.
type pairwise struct {
	S        int       `json:"s"` // the largest s for which the graph is (r,s)-robust; s_lower if that is not known
	SLower   int       `json:"s_lower"`
	SUpper   int       `json:"s_upper"`
	SExact   bool      `json:"s_exact"`
	SWitness *[2][]int `json:"s_witness"`
}

// measures is the answer to --measures.
type measures struct {
	MinDegree    int      `json:"min_degree"` // of hearing
	MaxDegree    int      `json:"max_degree"`
	Connectivity int      `json:"vertex_connectivity"`
	Algebraic    *float64 `json:"algebraic_connectivity"` // null for a directed graph
}

// examiner says what is to be found out.
type examiner struct {
	patience patience
	rule     rule
	f        int // -1: not asked
	rounds   int
	rs       bool
	measures bool
}

// examine finds out about one graph.
func (x *examiner) examine(cmd *cobra.Command, s subject) (*finding, error) {
	g, began := s.file.Graph, time.Now()
	o := &finding{Version: 1, Name: s.name, Nodes: g.N(), Edges: g.EdgeCount(), Directed: g.Directed(), Connected: g.Connected(),
		Rounds: x.rounds, Calls: graph.SACCalls(g, x.rounds)}
	stop := x.patience.start(cmd)
	res, err := x.search(s, stop)
	if err != nil {
		return nil, err
	}
	o.R, o.Lower, o.Upper, o.Exact = res.Lower, res.Lower, res.Upper, res.Exact
	o.FSAC, o.FStrong = max(0, graph.FSAC(o.R)), max(0, graph.FStrong(o.R))
	o.Witness, o.Names = pairOf(res.Witness), named(s.file, res.Witness)
	if o.Witness != nil {
		if err := graph.VerifyWitness(g, o.Upper+1, res.Witness); err != nil {
			return nil, fail(exitVerify, fmt.Errorf("%s: the witness does not stand up: %w", s.name, err), "this is a mistake in synod; please report it with the graph")
		}
	}
	if x.f >= 0 {
		if o.gate, err = x.judge(res); err != nil {
			return nil, err
		}
	}
	if x.rs {
		if err = x.pairs(o, g, res, stop); err != nil {
			return nil, fail(exitError1, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	if x.measures {
		if o.measures, err = measure(g); err != nil {
			return nil, fail(exitError1, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	o.Note = x.note(cmd, o)
	o.decider = decider(s.file, res)
	o.Seconds = math.Round(time.Since(began).Seconds()*1e6) / 1e6
	return o, nil
}

// search finds the robustness. With --f that question comes first, and the exact
// figure gets a second more at most.
func (x *examiner) search(s subject, stop func() bool) (graph.Result, error) {
	g := s.file.Graph
	var res graph.Result
	if x.f < 0 {
		res = graph.Robustness(g, stop)
	} else {
		want, err := x.rule.wants(x.f)
		if err != nil {
			return res, err
		}
		if res = graph.Decide(g, want, stop); !res.Exact {
			began := time.Now()
			more := graph.Robustness(g, func() bool { return stop() || time.Since(began) > time.Second })
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

// judge says whether the graph is robust enough for F.
func (x *examiner) judge(res graph.Result) (*gate, error) {
	want, err := x.rule.wants(x.f)
	if err != nil {
		return nil, err
	}
	v := &gate{F: x.f, Rule: x.rule.name}
	if yes := res.Lower >= want; yes || res.Upper < want {
		v.Enough = &yes
	}
	return v, nil
}

// pairs finds the largest s for which the graph is (r,s)-robust, and with --f
// whether it is (F+1,F+1)-robust.
func (x *examiner) pairs(o *finding, g graph.Graph, robust graph.Result, stop func() bool) error {
	o.pairwise = &pairwise{SExact: true}
	if o.R > 0 {
		res, err := graph.LargestS(g, o.R, stop)
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
	res, err := graph.LargestS(g, want, stop)
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

func (x *examiner) note(cmd *cobra.Command, o *finding) string {
	switch {
	case o.Upper == 0 && o.Directed:
		return "nobody's word can reach everyone: not even F=0 is covered"
	case o.Upper == 0:
		return "not connected: not even F=0 is covered"
	case o.Exact:
		return ""
	case o.Nodes > graph.SearchLimit:
		return fmt.Sprintf("%d nodes are too many for the exact search, which goes to %d: r is between the bounds", o.Nodes, graph.SearchLimit)
	case cmd.Context().Err() != nil:
		return "interrupted: r is between the bounds"
	}
	return "not found in time: r is between the bounds (--time-limit)"
}

// decider names a node without which the word of nobody reaches all others, for a
// graph of robustness 1; "" if there is none or the graph is large.
func decider(file graph.File, res graph.Result) string {
	g := file.Graph
	if res.Upper != 1 || !res.Exact || g.N() < 3 || g.N() > graph.SearchLimit {
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

// named is the pair in the file's own words, nil if it has none.
func named(file graph.File, pair [2][]int) *[2][]string {
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
