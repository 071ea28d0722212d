package page

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/design"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
)

// diagnosis is what the doctor has found.
type diagnosis struct {
	Nodes, Edges  int
	Directed      bool
	Connected     bool
	R             string // such as "4" or "3 to 5"
	Upper         int
	Exact         bool
	FSAC, FStrong int // -1: not even 0
	FAll          int // the most faulty nodes in all that W-MSR withstands; -1: not even 0
	FAllKnown     bool
	Witness       *witness // nil: a single node
	Cut           string   // a node without which the graph falls apart; "": none is known
	Worst         []worstSeats
	Better        *suggestion
	Rounds        int
	Calls         int // of a SAC question, at most
	CallsComplete int // the same on the complete graph
	YAML          string
	Note          string
}

// witness is two sets that prove that r is not larger.
type witness struct {
	Sets [2]string
	Rows []witnessRow
}

// witnessRow is a node of one of the sets.
type witnessRow struct {
	Node    string
	Set     int // 1 or 2
	Outside int // neighbours outside its own set
}

// worstSeats is where adversaries do most harm.
type worstSeats struct {
	Count int
	Seats string
	Left  int // r of the rest
	Local int // the most of them that are neighbours of one other member
}

// suggestion is what to add.
type suggestion struct {
	F, Want int // r that is wanted, for this F
	Edges   []string
	Optimal bool   // fewer are proven not to be enough
	Address string // of the page with these edges
	Problem string // why there is none
}

// sacCalls is the most model calls of a SAC question with T rounds: n + T(2|E| + 2n).
func sacCalls(g graph.Graph, rounds int) int { return g.N() + rounds*(g.Links()+2*g.N()) }

// until returns a stop function that ends a search after a time, or when the viewer is gone.
func until(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return time.Now().After(end) }
}

// show examines a graph.
func (d *doctorPage) show(file format.File) {
	g := file.Graph
	d.Form.Text = graphText(file)
	for i := range g.N() {
		d.Names = append(d.Names, file.Name(i))
	}
	res := robustness.Find(g, until(doctorTime))
	x := &diagnosis{Nodes: g.N(), Edges: g.EdgeCount(), Directed: g.Directed(), Connected: g.Connected(),
		R: between(res.Lower, res.Upper), Upper: res.Upper, Exact: res.Exact, FSAC: graph.FSAC(res.Lower),
		FStrong: graph.FStrong(res.Lower), Rounds: d.Form.Rounds, Calls: sacCalls(g, d.Form.Rounds),
		YAML: graphYAML(file)}
	n := g.N()
	x.CallsComplete = n + d.Form.Rounds*(n*(n-1)+2*n)
	switch {
	case res.Upper == 0 && g.Directed():
		x.Note = "The messages of no node can reach every other node, so not even F=0 is covered."
	case res.Upper == 0:
		x.Note = "The graph is not connected, so not even F=0 is covered."
	case !res.Exact:
		x.Note = fmt.Sprintf("The search ended after %v: r is between the bounds, and F is what the lower one gives. "+
			"synod graph check --time-limit 1m searches longer.", doctorTime)
	}
	x.Witness = witnessOf(file, res)
	x.Cut = cutNode(file, res)
	x.faultyInAll(g, res)
	x.worst(file)
	x.suggest(&d.Form, file, res)
	d.Result, d.Graph = x, drawEditable(&d.Form, file, res.Witness)
}

func between(lower, upper int) string {
	if lower == upper {
		return fmt.Sprint(lower)
	}
	return fmt.Sprintf("%d to %d", lower, upper)
}

// witnessOf shows two sets, which separate code verifies; nil if there are none.
func witnessOf(file format.File, res robustness.Result) *witness {
	g := file.Graph
	if res.Witness[0] == nil || graph.VerifyWitness(g, res.Upper+1, res.Witness) != nil {
		return nil
	}
	w := &witness{}
	for k, set := range res.Witness {
		w.Sets[k] = nodes(file, set)
		outside, err := graph.Outside(g, set)
		if err != nil {
			return nil
		}
		for j, i := range set {
			w.Rows = append(w.Rows, witnessRow{file.Name(i), k + 1, outside[j]})
		}
	}
	return w
}

// cutNode returns a node without which the others fall apart; the one that leaves most parts.
func cutNode(file format.File, res robustness.Result) string {
	g := file.Graph
	if res.Upper != 1 || !res.Exact || g.N() < 3 {
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

// doctorPairs is the largest graph of which (r,s)-robustness is searched here; the search takes 3ⁿ steps.
const doctorPairs = 14

// faultyInAll finds the largest F for which the graph is (F+1,F+1)-robust.
func (x *diagnosis) faultyInAll(g graph.Graph, res robustness.Result) {
	x.FAll = -1
	if g.N() > doctorPairs {
		return
	}
	stop := until(doctorTime / 2)
	for f := 0; f < res.Lower; f++ {
		s, err := robustness.LargestS(g, f+1, stop)
		if err != nil || !s.Exact {
			return
		}
		if s.S < f+1 {
			break
		}
		x.FAll = f
	}
	x.FAllKnown = true
}

// worst finds the seats in which one, two and three adversaries do most harm.
func (x *diagnosis) worst(file format.File) {
	stop := until(doctorTime / 2)
	for k := 1; k <= 3 && k < x.Nodes-1; k++ {
		h := topology.Worst(file.Graph, k, 0, stop)
		if stop() {
			return
		}
		x.Worst = append(x.Worst, worstSeats{k, nodes(file, h.Nodes), h.Left, h.Local})
	}
}

// suggest finds edges to add, for the F that was asked for or else for one more than now.
func (x *diagnosis) suggest(f *doctorForm, file format.File, res robustness.Result) {
	want := res.Lower + 1
	if f.F >= 0 {
		want = f.F + 1
	}
	s := &suggestion{F: want - 1, Want: want}
	x.Better = s
	most := (x.Nodes + 1) / 2
	switch {
	case want <= res.Lower:
		s.Problem = fmt.Sprintf("nothing: r is %s, and F=%d needs %d", x.R, s.F, want)
		return
	case want > most:
		s.Problem = fmt.Sprintf("no edges help: with %s r is at most %d, which the complete graph has. F=%d needs "+
			"r ≥ %d, and so at least %s", plural(x.Nodes, "node"), most, s.F, want, plural(2*want-1, "node"))
		return
	}
	better, err := design.Improve(file.Graph, want, 0, until(doctorTime/2))
	if errors.Is(err, design.ErrStopped) {
		s.Problem = "not found in a second; synod graph improve FILE --f " + fmt.Sprint(s.F) + " searches longer"
		return
	}
	if err != nil {
		s.Problem = err.Error()
		return
	}
	s.Optimal = better.Optimal
	for _, e := range better.Added {
		s.Edges = append(s.Edges, file.Name(e[0])+"–"+file.Name(e[1]))
	}
	s.Address = f.address("graph", graphText(format.File{Graph: better.Graph, Names: file.Names}))
}

// graphYAML is the graph as a section of a council file.
func graphYAML(file format.File) string {
	var b strings.Builder
	b.WriteString("graph: {")
	if file.Graph.Directed() {
		b.WriteString("directed: true, ")
	}
	b.WriteString("edges: [")
	for k, e := range file.Graph.Edges() {
		if k > 0 {
			b.WriteString(", ")
			if k%8 == 0 {
				b.WriteString("\n  ")
			}
		}
		fmt.Fprintf(&b, "[%d, %d]", e[0], e[1])
	}
	return b.String() + "]}"
}
