package council

import (
	"cmp"
	"time"

	"synod.dev/synod/graph"
	"synod.dev/synod/protocol"
)

// None is the guarantee of a council that has none.
const None = "none"

// Bound says what the protocol guarantees on the graph, before anything is run.
type Bound struct {
	F         int    `json:"f"`
	R         int    `json:"r"`     // the graph's robustness; a proven lower bound if Exact is false
	Exact     bool   `json:"exact"` // whether R is the exact robustness
	Edges     int    `json:"edges"`
	Guarantee string `json:"guarantee"` // the protocol's name of what holds; None
	Note      string `json:"note"`
}

// boundTime is how long the exact robustness may take to find; every council of
// a dozen members takes a millisecond.
const boundTime = 2 * time.Second

func boundOf(name string, p protocol.Protocol, g graph.Built, f int) Bound {
	start := time.Now()
	res := graph.Robustness(g.Graph, func() bool { return time.Since(start) > boundTime })
	b := Bound{F: f, R: max(res.Lower, g.AtLeast), Exact: res.Exact, Edges: g.EdgeCount(), Guarantee: None}
	if res.Exact {
		b.R = res.R
	}
	b.Note = "no guarantee: " + name + " promises nothing on any graph"
	if promises, ok := p.(protocol.Guaranteed); ok {
		b.Guarantee, b.Note = promises.Guarantee(f, b.R, b.Exact)
		b.Guarantee = cmp.Or(b.Guarantee, None)
	}
	return b
}
