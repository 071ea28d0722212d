package topology_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
)

func TestFamiliesAreSortedAndDocumented(t *testing.T) {
	if !slices.IsSorted(topology.Catalogue.Names()) {
		t.Error("not sorted:", topology.Catalogue.Names())
	}
	for _, f := range topology.Catalogue.All() {
		if f.Summary == "" || f.Known == "" || f.Layout == "" {
			t.Errorf("%s: summary, known robustness or layout missing", f.Name)
		}
		for _, p := range f.Params() {
			if p.Doc == "" || p.Default == nil {
				t.Errorf("%s: parameter %s undocumented", f.Name, p.Key)
			}
		}
	}
}

// SAC Appendix A with the reference's layout at n = 7: K5 on 0–4, 5 and 6 each joined to {0,2,3,4}.
func TestMergOfThePaper(t *testing.T) {
	var want [][2]int
	want = topology.Clique(want, 0, 5)
	for _, v := range []int{5, 6} {
		for _, u := range []int{0, 2, 3, 4} {
			want = append(want, [2]int{u, v})
		}
	}
	g := graphtest.Build(t, "merg", 7, nil).Graph
	if !g.Equal(graph.MustNew(7, false, want)) {
		t.Errorf("n = 7: %s", graphtest.Describe(g))
	}
	for n := 3; n <= 18; n++ {
		b := graphtest.Build(t, "merg", n, nil)
		gamma := (n + 1) / 2
		edges := 3 * gamma * (gamma - 1) / 2
		if n%2 == 0 {
			edges = gamma*(gamma-1)/2 + gamma*gamma - (gamma-1)/2
		}
		if b.EdgeCount() != edges {
			t.Errorf("n = %d: %d edges, want %d by the formula", n, b.EdgeCount(), edges)
		}
	}
}

func TestKnownRobustness(t *testing.T) {
	for n := 2; n <= 16; n++ {
		half := (n + 1) / 2
		want := map[string]int{"complete": half, "merg": half, "star": 1, "chain": 1, "tree": 1, "grid": 1}
		if n >= 4 {
			want["ring"] = 1
		}
		if n >= 7 {
			want["preferential"] = 4
		}
		for name, r := range want {
			b := graphtest.Build(t, name, n, nil)
			graphtest.Agree(t, b.Graph, robustness.Find(b.Graph, nil), r)
		}
	}
	for _, k := range []int{2, 3, 4} {
		b := graphtest.Build(t, "circulant", 18, map[string]any{"k": k})
		graphtest.Agree(t, b.Graph, robustness.Find(b.Graph, nil), k)
	}
}

// Every graph is as robust as its construction guarantees, and every size can be built or gives a clear error.
func TestPromisesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(topology.Catalogue.All()).Draw(t, "family")
		n := rapid.IntRange(1, 11).Draw(t, "n")
		seed := rapid.Uint64Max(1000).Draw(t, "seed")
		params := map[string]any{}
		for _, p := range f.Params() {
			if _, number := p.Default.(int); number && p.Key != "tries" && rapid.Bool().Draw(t, "set "+p.Key) {
				params[p.Key] = rapid.IntRange(1, 5).Draw(t, p.Key)
			}
			if _, flag := p.Default.(bool); flag {
				params[p.Key] = rapid.Bool().Draw(t, p.Key)
			}
		}
		b, err := topology.Build(f.Name, n, params, seed)
		if err != nil {
			if !strings.HasPrefix(err.Error(), fmt.Sprintf("graph: %s on %d nodes: ", f.Name, n)) {
				t.Fatalf("unclear: %v", err)
			}
			return
		}
		if r := graphtest.Robustness(b.Graph); r < b.AtLeast {
			t.Fatalf("%s %v: guaranteed %d-robust, is %d: %s", f.Name, b.Params, b.AtLeast, r,
				graphtest.Describe(b.Graph))
		}
		again, _ := topology.Build(f.Name, n, params, seed)
		if !again.Graph.Equal(b.Graph) {
			t.Fatal("the same seed gave another graph")
		}
		if other, err := topology.Build(f.Name, n, params, seed+1); !f.Seeded &&
			(err != nil || !other.Graph.Equal(b.Graph)) {
			t.Fatal("the seed changes a family that is not seeded")
		}
	})
}

func TestRegularAndSmallWorld(t *testing.T) {
	for seed := range uint64(20) {
		for _, d := range []int{2, 3, 5, 8} {
			b, err := topology.Build("regular", 14, map[string]any{"degree": d}, seed)
			if err != nil {
				t.Fatal(err)
			}
			if b.MinDegree() != d || b.MaxDegree() != d || !b.Connected() {
				t.Errorf("seed %d: degree %d to %d, connected %v", seed, b.MinDegree(), b.MaxDegree(), b.Connected())
			}
		}
		b, err := topology.Build("small-world", 20, map[string]any{"p": 1}, seed)
		if err != nil || !b.Connected() || b.EdgeCount() < 40 {
			t.Errorf("seed %d: %v, %v", seed, b.Graph, err)
		}
	}
}

// Two edges are enough to be mixed: four nodes have three perfect matchings.
func TestSmallestRegular(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(20) {
		b, err := topology.Build("regular", 4, map[string]any{"degree": 1}, seed)
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(b.Edges())] = true
	}
	if len(seen) != 3 {
		t.Errorf("20 seeds give %v", seen)
	}
}

func TestLayeredOfThePaper(t *testing.T) {
	b := graphtest.Build(t, "layered", 7, map[string]any{"seed": 5})
	if got := b.Params["layers"]; !slices.Equal(got.([]int), []int{3, 2, 2}) {
		t.Error("layers", got)
	}
	for _, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {5, 6}} {
		if !b.HasEdge(e[0], e[1]) {
			t.Errorf("edge %v inside a layer is missing", e)
		}
	}
	if b.HasEdge(0, 5) || b.HasEdge(2, 6) || !b.Connected() {
		t.Error("edges jump a layer, or the layers are apart")
	}
}

// The paper's Erdős–Rényi graphs pass about once in 500 draws at n = 7, r = 4 (robustness.md 4.4: .0020).
func TestErdosRenyiCountsItsDraws(t *testing.T) {
	total := 0
	for seed := range uint64(40) {
		b, err := topology.Build("er", 7, nil, seed)
		if err != nil {
			t.Fatal(err)
		}
		if r := graphtest.Robustness(b.Graph); r != 4 || b.Params["r"] != 4 {
			t.Errorf("seed %d: r = %d", seed, r)
		}
		total += b.Draws
	}
	if mean := float64(total) / 40; mean < 250 || mean > 1000 {
		t.Errorf("%v draws a graph in the mean, expected about 500", mean)
	}
	for tries := range 3 { // the last draw counts, and there is none after it
		whole, _ := topology.Build("er", 7, nil, 3)
		first := whole.Draws
		tries += first - 1
		if b, err := topology.Build("er", 7, map[string]any{"tries": tries}, 3); (err == nil) != (tries >= first) {
			t.Errorf("%d of %d draws: %v, %v", tries, first, b.Draws, err)
		}
	}
	if _, err := topology.Build("er", 7, map[string]any{"p": 0.1, "tries": 50}, 0); err == nil ||
		!strings.Contains(err.Error(), "50 draws") {
		t.Error("hopeless p:", err)
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		params map[string]any
		want   string
	}{
		{"merk", 7, nil, `did you mean "merg"`},
		{"qqqqqqqq", 7, nil, "there are: chain, circulant"},
		{"random", 7, map[string]any{"P": 0.3}, `unknown parameter "P" (did you mean "p"?)`},
		{"star", 7, map[string]any{"sed": 3}, `did you mean "seed"`},
		{"random", 7, map[string]any{"p": "high"}, `p: "high" is not a number`},
		{"random", 7, map[string]any{"p": 1.5}, "p is 1.5; it must be between 0 and 1 (example: p: 0.5)"},
		{"circulant", 7, map[string]any{"k": 2.5}, "must be a whole number"},
		{"circulant", 7, map[string]any{"k": 4}, "k is 4; on 7 nodes it must be between 1 and 3"},
		{"regular", 7, map[string]any{"degree": 3}, "degree is 3; on 7 nodes, an odd number, it must be even"},
		{"regular", 7, map[string]any{"degree": 7}, "degree is 7; on 7 nodes it must be between 0 and 6"},
		{"ring", 2, nil, "at least 3"},
		{"er", 7, map[string]any{"r": 5}, "r is 5; on 7 nodes"},
		{"preferential", 6, map[string]any{"r": 4}, "r is 4; on 6 nodes"},
		{"preferential", 9, map[string]any{"attach": "cliqe"}, `did you mean "clique"`},
		{"layered", 7, map[string]any{"layers": []any{3, 3}}, "add up to 6"},
		{"edges", 3, map[string]any{"edges": []any{[]any{0, 3}}}, "unknown node 3"},
		{"edges", 3, map[string]any{"edges": []any{[]any{0}}}, "not a pair of nodes"},
		{"complete", 0, nil, "want 1 to"},
		{"complete", graph.MaxNodes + 1, nil, "want 1 to"},
		{"complete", 3, map[string]any{"seed": -1}, "seed"},
	} {
		if _, err := topology.Build(c.name, c.n, c.params, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s n=%d %v: %v, want %q", c.name, c.n, c.params, err, c.want)
		}
	}
}

func TestFromSpec(t *testing.T) {
	b, err := topology.FromSpec(map[string]any{"family": "random", "p": 0.3, "seed": uint64(7)}, 7, 0)
	if err != nil || b.Seed != 7 || !b.Connected() {
		t.Error(b, err)
	}
	b, err = topology.FromSpec(map[string]any{"edges": []any{[]any{0, 1}, []any{float64(1), int64(2)}}}, 3, 0)
	if err != nil || b.EdgeCount() != 2 || !b.HasEdge(1, 2) {
		t.Error(b, err)
	}
	for _, bad := range []map[string]any{{}, {"family": 3}, {"p": 0.3}, {"family": "ring", "edges": nil}} {
		if _, err := topology.FromSpec(bad, 7, 0); err == nil {
			t.Errorf("%v accepted", bad)
		}
	}
}
