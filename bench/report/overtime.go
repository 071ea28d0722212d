package report

import (
	"fmt"
	"strings"

	"synod.dev/synod/core/table"
	"synod.dev/synod/graph"
	graphdraw "synod.dev/synod/graph/draw"
)

// robust writes a robustness: 2, or at least 2.
func robust(r int, exact bool) string {
	if exact {
		return fmt.Sprint(r)
	}
	return fmt.Sprintf("at least %d", r)
}

// roundTable has the graph of each round, with the edges that are absent in it; nil if the graph does not change.
func (g *ChangingGraph) roundTable() *table.Table {
	if g == nil {
		return nil
	}
	t := &table.Table{Head: []string{"graph of round", "edges", "r", "absent edges"}, Align: "rrrl"}
	for i, round := range g.Rounds {
		t.Add(i+1, round.Edges, robust(round.R, round.Exact), g.absent(i+1))
	}
	return t
}

// GraphLine describes a graph that changes in a sentence; "" if it does not.
func (r *Report) GraphLine() string {
	if r.ChangingGraph == nil {
		return ""
	}
	return r.ChangingGraph.line()
}

// maxAbsent is how many absent edges of a round are named.
const maxAbsent = 12

func (g *ChangingGraph) absent(round int) string {
	var names []string
	for _, e := range g.Edges {
		if !e.in(round) {
			names = append(names, plain(e.A)+"–"+plain(e.B))
		}
	}
	if more := len(names) - maxAbsent; more > 0 {
		names = append(names[:maxAbsent], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

func (e *EdgeRounds) in(round int) bool {
	for _, r := range e.Rounds {
		if r == round {
			return true
		}
	}
	return false
}

// line says how robust the unions of rounds are.
func (g *ChangingGraph) line() string {
	s := "The graph changes from round to round"
	if g.Repeats {
		s = fmt.Sprintf("The graph changes, and begins again every %d rounds", len(g.Rounds))
	}
	var windows []string
	for _, w := range g.Windows {
		if w.Rounds > 1 {
			windows = append(windows, fmt.Sprintf("of %d: %s", w.Rounds, robust(w.R, w.Exact)))
		}
	}
	if len(windows) == 0 {
		return s + "."
	}
	return s + ". Least r of unions of rounds in a row: " + strings.Join(windows, ", ") + "."
}

// graphPlot shows a graph that changes: the wider an edge, the more rounds have it.
func graphPlot(r *Report) *Plot {
	g := r.ChangingGraph
	if g == nil || len(g.Edges) == 0 || len(g.Rounds) == 0 {
		return nil
	}
	at := map[string]int{}
	d := graphdraw.Drawing{Title: r.titled("Edges by the share of rounds that have them"), Layout: "circle"}
	for i, m := range r.Seats {
		at[m.ID] = i
		d.Names, d.Roles = append(d.Names, plain(m.ID)), append(d.Roles, m.drawingRole())
	}
	share := map[[2]int]float64{}
	var edges [][2]int
	f := &Plot{
		Name: "graph", Title: d.Title,
		Caption: "The wider and darker an edge, the more rounds have it. " + g.line(),
		Data:    &table.Table{Head: []string{"members_kind", "a", "b", "rounds", "of"}},
		Table:   g.roundTable(),
	}
	for _, e := range g.Edges {
		a, known := at[e.A]
		b, too := at[e.B]
		if !known || !too {
			return nil
		}
		edges = append(edges, [2]int{a, b})
		share[[2]int{min(a, b), max(a, b)}] = float64(len(e.Rounds)) / float64(len(g.Rounds))
		var rounds []string
		for _, t := range e.Rounds {
			rounds = append(rounds, fmt.Sprint(t))
		}
		f.Data.Add(r.kindsCell(), e.A, e.B, strings.Join(rounds, " "), len(g.Rounds))
	}
	var err error
	if d.Graph, err = graph.New(len(r.Seats), false, edges); err != nil { // two edges between two seats
		return nil
	}
	d.Weight = func(u, v int) float64 { return share[[2]int{min(u, v), max(u, v)}] }
	f.file = d.File
	return f
}
