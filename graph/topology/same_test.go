package topology_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/internal/golden"
)

// variants are parameters of the families beside their defaults, at both ends of their ranges and beyond.
var variants = map[string][]map[string]any{
	"circulant":    {{"k": 1}, {"k": 3}, {"k": 0}, {"k": 6, "directed": true}, {"k": 7, "directed": true}},
	"er":           {{"p": 0}, {"p": 1}, {"p": 1.5}, {"r": 2, "p": 0.5}, {"r": 9}, {"r": -1}, {"r": 2, "tries": 1}},
	"grid":         {{"columns": 1}, {"columns": 3}, {"columns": -1}},
	"layered":      {{"layers": []any{2, 3}}, {"layers": []any{4, 1, 2}, "p": 0}, {"layers": []any{7, 0}}, {"p": 1}},
	"preferential": {{"attach": "any", "r": 2}, {"attach": "degree", "r": 2}, {"attach": "degree", "r": 1}, {"r": 4}},
	"random":       {{"p": 0}, {"p": 0.6}, {"p": 0.2, "joined": false}, {"p": -0.1}, {"directed": true}},
	"regular":      {{"degree": 0}, {"degree": 1}, {"degree": 2}, {"degree": 3}, {"degree": 6}, {"degree": 7}},
	"small-world":  {{"k": 1}, {"k": 3, "p": 0.5}, {"p": 1}, {"k": 3, "p": 1}, {"k": 0}, {"k": 4}},
	"tree":         {{"arity": 1}, {"arity": 3}, {"arity": 0}},
	"edges": {{"edges": []any{[]any{0, 1}}},
		{"edges": []any{[]any{0, 1.0}, []any{uint64(1), int64(2)}}, "directed": true},
		{"edges": []any{[]any{0, 1.5}}}, {"edges": []any{[]any{0, 3e9}}}, {"edges": []any{[]any{0, uint64(1) << 31}}},
		{"edges": []any{[]any{0, float64(1<<31 - 1)}}}, {"edges": []any{[]any{0, uint64(1<<31 - 1)}}}},
}

// Parameters and a seed give the same graph in every version, because manifests, journals and rosters name a graph by
// them. Mistakes are errors that say what is allowed.
func TestSameGraphs(t *testing.T) {
	var s strings.Builder
	for _, f := range topology.Catalogue.All() {
		for _, params := range append([]map[string]any{{}}, variants[f.Name]...) {
			sizes := []int{1, 2, 3, 4, 7, 8, 13}
			if len(params) > 0 {
				sizes = []int{3, 7, 13}
			}
			for _, n := range sizes {
				if f.Name == "er" && n > 8 {
					continue // 4-robust graphs of that size take long to draw
				}
				fmt.Fprintf(&s, "%s %d%s: %s\n", f.Name, n, shown(params), built(f.Name, n, params))
			}
		}
	}
	for _, n := range []int{0, graph.MaxNodes, graph.MaxNodes + 1} {
		fmt.Fprintf(&s, "chain %d: %s\n", n, built("chain", n, nil))
	}
	golden.Compare(t, "testdata/graphs.golden", s.String())
}

func shown(params map[string]any) (s string) {
	for _, key := range slices.Sorted(maps.Keys(params)) {
		s += fmt.Sprintf(" %s=%v", key, params[key])
	}
	return s
}

// built describes the graphs of three seeds: their edges, or their number and a sum if there are many.
func built(family string, n int, params map[string]any) string {
	var all []string
	for seed := range uint64(3) {
		b, err := topology.Build(family, n, params, seed)
		if err != nil {
			return err.Error()
		}
		edges := strings.NewReplacer("[", "", "]", "", " ", "-").Replace(fmt.Sprint(b.Edges()))
		if b.EdgeCount() > 6 {
			h := fnv.New32a()
			fmt.Fprint(h, b.Edges())
			edges = fmt.Sprintf("%d edges %08x", b.EdgeCount(), h.Sum32())
		}
		all = append(all, fmt.Sprintf("%s r≥%d layers %v draws %d", edges, b.AtLeast, b.Layers, b.Draws))
	}
	if all = slices.Compact(all); len(all) == 1 {
		return all[0]
	}
	return strings.Join(all, "; ")
}

// Every rule picks the same nodes in every version, for the same reason.
func TestSamePlacements(t *testing.T) {
	var s strings.Builder
	for _, rule := range topology.Placements() {
		for _, family := range []string{"star", "chain", "tree", "layered", "preferential"} {
			if len(rule.Families) > 0 && !slices.Contains(rule.Families, family) {
				continue
			}
			for _, n := range []int{7, 12, 30} {
				b, err := topology.Build(family, n, nil, 3)
				if err != nil {
					t.Fatal(err)
				}
				if rule.Name == "worst" && n == 30 { // by what is cheap to count
					picked, err := topology.PlaceAmong(b, rule.Name, 4, allOf(n), 1)
					fmt.Fprintf(&s, "%s %s %d: %v %v\n", rule.Name, family, n, picked, err)
					continue
				}
				for _, count := range []int{1, 3, n - 2} {
					if rule.Name == "worst" && count > 3 {
						continue
					}
					picked, err := topology.Place(b, rule.Name, count, 1, nil)
					fmt.Fprintf(&s, "%s %s %d: %v %v\n", rule.Name, family, n, picked, err)
				}
			}
		}
	}
	golden.Compare(t, "testdata/placements.golden", s.String())
}

// Robustness is measured where that is quick, in graphs of up to 24 nodes.
func TestMeasureUpTo(t *testing.T) {
	for n, want := range map[int]bool{24: true, 25: false} {
		b, err := topology.Build("star", n, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		h, exact := topology.Measure(b.Graph, []int{1})
		if exact != want || h.Left != map[bool]int{true: 1}[want] || h.Local != 1 || h.Edges != 1 {
			t.Errorf("%d nodes: %+v, %v", n, h, exact)
		}
	}
}
