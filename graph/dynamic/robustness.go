package dynamic

import "synod.dev/synod/graph"

// Known is what is known of the robustness of a graph.
type Known struct {
	R     int  // proven: the graph is R-robust
	Exact bool // whether it is not (R+1)-robust
}

// Find finds the robustness of a graph, such as package robustness does.
type Find func(graph.Graph) Known

// ByRound returns the robustness of the graphs of a run of so many rounds, in order. Where the
// graphs repeat, it has each once.
func (g *Graph) ByRound(played int, find Find) []Known {
	all := make([]Known, min(max(played, 1), max(len(g.Rounds), 1)))
	for t := range all {
		all[t] = find(g.At(t))
	}
	return all
}

// Least returns the least robustness of several graphs, of which there is at least one, and the
// index of the first graph that has it. It is exact if that of one with the least is.
func Least(all []Known) (least Known, at int) {
	for i, k := range all {
		if i == 0 || k.R < least.R || k.R == least.R && k.Exact && !least.Exact {
			least, at = k, i
		}
	}
	return least, at
}

// Windows returns the robustness of the unions of so many rounds in a row, by their first round,
// in a run of so many rounds. Where the graphs repeat and the run plays all of them, these are the
// windows of a run that goes on for ever. There is none if the window is longer than the run.
func (g *Graph) Windows(window, played int, find Find) (all []Known) {
	number := played - window + 1
	if g.Repeats(played) {
		number = len(g.Rounds)
	}
	for from := range max(number, 0) {
		graphs := make([]graph.Graph, 0, window)
		for t := range min(window, max(len(g.Rounds), 1)) { // a longer window has no more edges
			graphs = append(graphs, g.At(from+t))
		}
		all = append(all, find(Union(graphs)))
	}
	return all
}

// Repeats reports whether the graphs of a run of so many rounds are those of a longer one, over and
// over again.
func (g *Graph) Repeats(played int) bool {
	return !g.Drawn && g.Rounds != nil && played >= len(g.Rounds)
}
