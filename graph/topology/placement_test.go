package topology_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/topology"
)

func TestPlacementsOfThePilotStudy(t *testing.T) {
	for _, c := range []struct {
		family, rule string
		count        int
		want         string
	}{
		{"star", "centre", 1, "[0]"},
		{"star", "leaf", 6, "[1 2 3 4 5 6]"},
		{"tree", "root", 1, "[0]"},
		{"tree", "internal", 2, "[1 2]"},
		{"tree", "leaf", 4, "[3 4 5 6]"},
		{"chain", "head", 2, "[0 1]"},
		{"chain", "middle", 3, "[2 3 4]"},
		{"chain", "tail", 2, "[5 6]"},
		{"layered", "top", 3, "[0 1 2]"},
		{"layered", "middle", 2, "[3 4]"},
		{"layered", "bottom", 2, "[5 6]"},
		{"star", "degree-high", 1, "[0]"},
		{"star", "degree-low", 6, "[1 2 3 4 5 6]"},
		{"chain", "central", 1, "[3]"},
		{"star", "worst", 1, "[0]"},
	} {
		got, err := topology.Place(graphtest.Build(t, c.family, 7, nil), c.rule, c.count, 1, nil)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s %s: %v, %v, want %s", c.family, c.rule, got, err, c.want)
		}
	}
}

// Every rule picks count different nodes on the topologies that it is defined for, the same for the same
// seed, and returns an error for others.
func TestPlacementsEverywhere(t *testing.T) {
	for _, rule := range topology.Placements() {
		for _, f := range []string{"star", "tree", "chain", "layered", "merg"} {
			b := graphtest.Build(t, f, 9, nil)
			for count := 0; count <= 9; count++ {
				got, err := topology.Place(b, rule.Name, count, 5, nil)
				if fits := len(rule.Families) == 0 || slices.Contains(rule.Families, f); fits != (err == nil) {
					t.Fatalf("%s on %s: %v", rule.Name, f, err)
				} else if !fits {
					continue
				}
				again, _ := topology.Place(b, rule.Name, count, 5, nil)
				if len(slices.Compact(slices.Clone(got))) != count || !slices.Equal(got, again) {
					t.Fatalf("%s on %s: %v, then %v", rule.Name, f, got, again)
				}
			}
		}
	}
	if _, err := topology.Place(graphtest.Build(t, "star", 7, nil), "leafs", 1, 0, nil); err == nil ||
		!strings.Contains(err.Error(), `"leaf"`) {
		t.Error(err)
	}
	if _, err := topology.Place(graphtest.Build(t, "star", 7, nil), "random", 8, 0, nil); err == nil {
		t.Error("8 of 7 nodes placed")
	}
	if a, b := placed(t, 1), placed(t, 2); slices.Equal(a, b) {
		t.Error("the seed does not matter:", a)
	}
}

func placed(t *testing.T, seed uint64) []int {
	got, err := topology.Place(graphtest.Build(t, "ring", 40, nil), "random", 10, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The search by exchange finds the same as trying all sets.
func TestWorst(t *testing.T) {
	rng := graphtest.Seeded(t, 7)
	for range 20 {
		g := graphtest.Random(rng, 9, false, .5)
		best := topology.Worst(g, 2, 1, nil)
		found := topology.Exchange(g, []int{0, 1}, func() bool { return false })
		for range 6 {
			if h := topology.Exchange(g, rng.Perm(9)[:2], func() bool { return false }); h.Worse(found) {
				found = h
			}
		}
		if best.Worse(found) || found.Worse(best) {
			t.Errorf("listing %+v, exchange %+v", best, found)
		}
		for set := []int{0, 1}; topology.NextCombination(set, 9); {
			if h := topology.HarmOf(g, set, func() bool { return false }); h.Worse(best) {
				t.Fatalf("%+v is worse than %+v", h, best)
			}
		}
	}
	// Among some of the nodes it picks only those.
	star := graphtest.Build(t, "star", 7, nil)
	for rule, want := range map[string]string{"worst": "[2]", "degree-high": "[2]", "leaf": "[5]"} {
		if got, err := topology.PlaceAmong(star, rule, 1, []int{2, 4, 5}, 1); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s among 2, 4, 5: %v, %v", rule, got, err)
		}
	}
	if _, err := topology.PlaceAmong(star, "worst", 4, []int{2, 4, 5}, 1); err == nil {
		t.Error("four of three nodes are placed")
	}
	// A large graph is searched by what is cheap to count, so that the time has no influence.
	large := graphtest.Build(t, "star", 60, nil)
	if got, err := topology.PlaceAmong(large, "worst", 1, allOf(60), 1); err != nil || fmt.Sprint(got) != "[0]" {
		t.Errorf("a large star: %v, %v", got, err)
	}
	// Two cliques that share one node: without it the graph is not connected.
	bridge := graph.MustNew(7, false, append(graphtest.Named("complete", 4).Edges(),
		[][2]int{{3, 4}, {3, 5}, {3, 6}, {4, 5}, {4, 6}, {5, 6}}...))
	if h := topology.Worst(bridge, 1, 1, nil); fmt.Sprint(h.Nodes) != "[3]" || h.Left != 0 {
		t.Errorf("%+v", h)
	}
}

func allOf(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// Two large cliques are joined by one node of few edges. Robustness shows that it is the worst, cheap counts do not:
// Place always measures robustness, and PlaceAmong in graphs of up to 24 nodes, where the time must not matter.
func TestRobustnessFindsTheBridge(t *testing.T) {
	for n, among := range map[int]string{24: "[11]", 25: "[23]"} { // of 25, the first with most edges
		half := n / 2
		edges := append(topology.Clique(topology.Clique(nil, 0, half-1), half, n), [2]int{0, half - 1},
			[2]int{1, half - 1}, [2]int{half - 1, n - 2}, [2]int{half - 1, n - 1})
		g := topology.Built{Graph: graph.MustNew(n, false, edges)}
		bridge := fmt.Sprint([]int{half - 1})
		asked := 0
		got, err := topology.Place(g, "worst", 1, 1, func() bool { asked++; return false })
		if err != nil || fmt.Sprint(got) != bridge || asked == 0 {
			t.Errorf("%d nodes: %v, %v, want %s; stop was asked %d times", n, got, err, bridge, asked)
		}
		if got, err := topology.Place(g, "worst", 1, 1, nil); err != nil || fmt.Sprint(got) != bridge {
			t.Errorf("%d nodes, never stopped: %v, %v, want %s", n, got, err, bridge)
		}
		if got, err := topology.PlaceAmong(g, "worst", 1, allOf(n), 1); err != nil || fmt.Sprint(got) != among {
			t.Errorf("%d nodes, without a clock: %v, %v, want %s", n, got, err, among)
		}
	}
}

func TestCombinations(t *testing.T) {
	for _, c := range [][3]int{{9, 2, 36}, {52, 5, 2_598_960}, {5, 0, 1}, {5, 5, 1}, {100, 50, 1 << 40}, {40, 1, 40}} {
		if got := topology.Combinations(c[0], c[1]); got != c[2] {
			t.Errorf("%d over %d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
