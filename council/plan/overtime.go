package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// maxWindow is the longest window whose unions are reported.
const maxWindow = 8

// checkChanges refuses a graph that changes where the protocol needs the same neighbours in every
// round.
func checkChanges(p *Plan) error {
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

// setRounds lists the neighbours of each seat by round.
func setRounds(p *Plan) {
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

// degreesOf returns the largest number of neighbours that each seat has in a round.
func degreesOf(p *Plan) []int {
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

// roundsPlayed returns the number of rounds that a run has.
func roundsPlayed(p *Plan) int { return max(1, p.protocol.MaxRounds()) }

// boundOverTime is findBound for a graph that changes. The searches take up to two seconds in all;
// those that do not end leave lower bounds.
func boundOverTime(p *Plan) Bound {
	deadline := time.Now().Add(robustnessTime)
	find := func(g graph.Graph) dynamic.Known {
		res := search(g, func() bool { return time.Now().After(deadline) })
		return dynamic.Known{R: res.Lower, Exact: res.Exact}
	}
	played := roundsPlayed(p)
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
	b.Guarantee, b.Note = claimOverTime(p, protocol.OverTime{
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
func claimOverTime(p *Plan, over protocol.OverTime, weakest int) (name, note string) {
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

// neighbours returns the neighbours of each node.
func neighbours(g graph.Graph) [][]synod.NodeID {
	peers := make([][]synod.NodeID, g.N())
	for i := range peers {
		for _, j := range g.In(i) {
			peers[i] = append(peers[i], synod.NodeID(j))
		}
	}
	return peers
}
