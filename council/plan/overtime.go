package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// OverTime is what is known of a graph that changes from round to round.
type OverTime struct {
	// Repeats says that Rounds is one period of a schedule; otherwise it is the whole run.
	Repeats bool         `json:"repeats"`
	Rounds  []RoundGraph `json:"rounds"` // the graph of each round, from round 1 on
	// Windows has the robustness of unions of rounds in a row, by the length of the window, up to
	// the length whose unions are as robust as that of all rounds.
	Windows []WindowGraph `json:"windows"`
}

// RoundGraph describes the graph of a round.
type RoundGraph struct {
	Edges int  `json:"edges"`
	R     int  `json:"r"` // a proven lower bound if Exact is false
	Exact bool `json:"exact"`
}

// WindowGraph describes the unions of a number of rounds in a row.
type WindowGraph struct {
	Rounds int  `json:"rounds"`
	R      int  `json:"r"` // the least of all these unions; a proven lower bound if Exact is false
	Exact  bool `json:"exact"`
}

// maxWindow is the longest window whose unions are reported.
const maxWindow = 8

// checkChanges refuses a graph that changes where the protocol needs the same neighbours in every
// round.
func (p *Plan) checkChanges() error {
	if d, ok := p.protocol.(protocol.Dynamic); !p.graph.Changes() || ok && d.Dynamic() {
		return nil
	}
	var able []string
	for _, e := range catalog.Protocols.All() {
		if d, ok := e.New().(protocol.Dynamic); ok && d.Dynamic() {
			able = append(able, e.Name)
		}
	}
	return fmt.Errorf("protocol %s needs the same neighbours in every round, and this graph changes (schedule, "+
		"failing); the protocols for such graphs are %s", p.entry.Name, strings.Join(able, ", "))
}

// cloneSchedule returns a copy of a graph section's schedule, or the value if it is no list of
// tables.
func cloneSchedule(value any) any {
	var list []any
	switch v := value.(type) {
	case []any:
		list = slices.Clone(v)
	case []map[string]any: // from Go code
		for _, part := range v {
			list = append(list, part)
		}
	case []Params:
		for _, part := range v {
			list = append(list, map[string]any(part))
		}
	default:
		return value
	}
	for i, part := range list {
		if part, ok := part.(map[string]any); ok {
			list[i] = maps.Clone(part)
		}
	}
	return list
}

// setRounds lists the neighbours of each seat by round.
func (p *Plan) setRounds() {
	p.byRound = make([][][]synod.NodeID, len(p.seats))
	for i := range p.byRound {
		p.byRound[i] = make([][]synod.NodeID, len(p.graph.Rounds))
	}
	for t, g := range p.graph.Rounds {
		for i, peers := range neighbours(g) {
			p.byRound[i][t] = peers
		}
	}
}

// degrees returns the largest number of neighbours that each seat has in a round.
func (p *Plan) degrees() []int {
	degrees := make([]int, len(p.peers))
	for i := range p.peers {
		degrees[i] = len(p.peers[i])
		if p.byRound != nil {
			degrees[i] = 0
			for _, peers := range p.byRound[i] {
				degrees[i] = max(degrees[i], len(peers))
			}
		}
	}
	return degrees
}

// played returns the number of rounds that a run has.
func (p *Plan) played() int { return max(1, p.protocol.MaxRounds()) }

// boundOverTime is findBound for a graph that changes. The searches take up to two seconds in all;
// those that do not end leave lower bounds.
func (p *Plan) boundOverTime() Bound {
	deadline := time.Now().Add(robustnessTime)
	find := func(g graph.Graph) dynamic.Known {
		res := search(g, func() bool { return time.Now().After(deadline) })
		return dynamic.Known{R: res.Lower, Exact: res.Exact}
	}
	played := p.played()
	rounds := p.graph.ByRound(played, find)
	least, at := dynamic.Least(rounds)
	b := Bound{F: p.spec.F, R: least.R, Exact: least.Exact, Edges: p.graph.EdgeCount(), Guarantee: None}
	over := &OverTime{Repeats: p.graph.Repeats(played)}
	for t, k := range rounds {
		over.Rounds = append(over.Rounds, RoundGraph{p.graph.At(t).EdgeCount(), k.R, k.Exact})
	}
	whole := find(p.graph.Graph)
	for w := 1; w <= min(maxWindow, max(played, len(rounds))); w++ {
		all := p.graph.Windows(w, played, find)
		if len(all) == 0 {
			break
		}
		k, _ := dynamic.Least(all)
		over.Windows = append(over.Windows, WindowGraph{w, k.R, k.Exact})
		if k.R >= whole.R {
			break
		}
	}
	b.OverTime = over
	b.Guarantee, b.Note = p.claimOverTime(protocol.OverTime{
		R: least.R, Exact: least.Exact, Repeats: over.Repeats,
		Windows: func(w int) (low, high int) {
			all := p.graph.Windows(w, played, find)
			for i, k := range all {
				if i == 0 {
					low = k.R
				}
				low, high = min(low, k.R), max(high, k.R)
			}
			return low, high
		},
	}, at+1)
	return b
}

// claimOverTime returns what the protocol guarantees on the graph. weakest is the round, from 1,
// whose graph has the least r.
func (p *Plan) claimOverTime(over protocol.OverTime, weakest int) (name, note string) {
	if g, ok := p.protocol.(protocol.GuaranteedOverTime); ok {
		name, note = g.GuaranteeOverTime(p.spec.F, over)
		return cmp.Or(name, None), note
	}
	g, ok := p.protocol.(protocol.Guaranteed)
	if !ok {
		return None, "no guarantee: " + p.entry.Name + " promises nothing on any graph"
	}
	name, note = g.Guarantee(p.spec.F, over.R, over.Exact)
	each := fmt.Sprintf("; the graph changes, and r is the least of its rounds, that of round %d", weakest)
	switch c, _ := p.protocol.(protocol.RoundClaims); {
	case name == "" && over.R > p.spec.F: // nothing on any graph
		return None, note
	case name == "":
		return None, note + each + ". Each round is filtered by itself, so the union of several rounds earns no claim"
	case c == nil || !c.ClaimsEachRound():
		return None, "no guarantee: what " + p.entry.Name + " promises is about one graph, and this one changes"
	}
	return name, note + each
}

// search searches once per process for each graph, until stop returns true.
func search(g graph.Graph, stop func() bool) robustness.Result {
	return searchOnce(g, func() robustness.Result { return robustness.Find(g, stop) })
}
