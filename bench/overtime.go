package bench

import (
	"fmt"
	"strings"

	"synod.dev/synod/bench/report"
	"synod.dev/synod/council/plan"
)

// changingGraph describes the graph of a plan, nil if it does not change. It searches for the
// robustness of each round, for up to two seconds.
func changingGraph(p *plan.Plan) *report.ChangingGraph {
	g := p.Graph()
	over := p.Bound().OverTime
	if over == nil {
		return nil
	}
	out := &report.ChangingGraph{Repeats: over.Repeats}
	for _, r := range over.Rounds {
		out.Rounds = append(out.Rounds, report.GraphOfRound(r))
	}
	for _, w := range over.Windows {
		out.Windows = append(out.Windows, report.GraphWindow(w))
	}
	seats := p.Seats()
	for _, e := range g.Edges() {
		edge := report.EdgeRounds{A: seats[e[0]].ID, B: seats[e[1]].ID}
		for t := range over.Rounds {
			if round := g.At(t); round.HasEdge(e[0], e[1]) {
				edge.Rounds = append(edge.Rounds, t+1)
			}
		}
		out.Edges = append(out.Edges, edge)
	}
	return out
}

// graphName is the graph of a council in short.
func graphName(graph map[string]any) string {
	name := "own edges"
	if family, ok := graph["family"].(string); ok {
		name = family
	}
	if list, ok := graph["schedule"].([]any); ok {
		var names []string
		for _, part := range list {
			of, _ := part.(map[string]any)
			names = append(names, graphName(of))
		}
		name = strings.Join(names, ", ") + " by round"
	}
	if p, ok := graph["failing"]; ok && fmt.Sprint(p) != "0" {
		name += fmt.Sprintf(", edges fail with %v", p)
	}
	return name
}
