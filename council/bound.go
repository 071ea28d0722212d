package council

import (
	"fmt"
	"time"

	"synod.dev/synod/graph"
)

// The guarantees that a graph earns for a bound F (SAC §4.2, finding F2).
const (
	Strong = "4.3-strong" // r ≥ 2F+1: reliable members alone stay linked
	Weak   = "4.3"        // r ≥ F+1: Properties 4.2 (at reliable members) and 4.3
	None   = "none"
)

// Bound says what the graph guarantees, before anything is run.
type Bound struct {
	F         int    `json:"f"`
	R         int    `json:"r"`     // the graph's robustness; a proven lower bound if Exact is false
	Exact     bool   `json:"exact"` // whether R is the exact robustness
	Edges     int    `json:"edges"`
	Guarantee string `json:"guarantee"`
	Note      string `json:"note"`
}

// boundTime is how long the exact robustness may take to find; every council of
// a dozen members takes a millisecond.
const boundTime = 2 * time.Second

func boundOf(g graph.Built, f int) Bound {
	start := time.Now()
	res := graph.Robustness(g.Graph, func() bool { return time.Since(start) > boundTime })
	b := Bound{F: f, R: max(res.Lower, g.AtLeast), Exact: res.Exact, Edges: g.EdgeCount(), Guarantee: None}
	if res.Exact {
		b.R = res.R
	}
	atLeast := ""
	if !b.Exact {
		atLeast = "at least "
	}
	switch {
	case b.R >= 2*f+1:
		b.Guarantee = Strong
		b.Note = fmt.Sprintf("r is %s%d: with at most F=%d Byzantine neighbours each, reliable members stay linked by reliable members", atLeast, b.R, f)
	case b.R >= f+1:
		b.Guarantee = Weak
		b.Note = fmt.Sprintf("r is %s%d: with at most F=%d Byzantine neighbours each, what reliable members retain is no worse than a reliable answer (4.2) and everyone stays linked (4.3)", atLeast, b.R, f)
	default:
		b.Note = fmt.Sprintf("no guarantee: F=%d needs r of at least %d, and this graph has r %s%d, which is good for F=%d at most", f, f+1, atLeast, b.R, max(0, graph.FSAC(b.R)))
	}
	return b
}
