package robustness_test

import (
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

// The searches for 64 and for 128 nodes are one algorithm: on the same graph they visit as many search nodes and leave
// the same bounds, weights and prices behind, also if they are stopped, and if they try other methods early.
func TestWidthsSearchAlike(t *testing.T) {
	rng := graphtest.Seeded(t, 12)
	graphs := []graph.Graph{cayley(rng, 20), cayley(rng, 21), family(rng, "regular", 24, "degree", 5)}
	for _, n := range []int{12, 16, 20} {
		for _, kind := range kinds {
			graphs = append(graphs, kind.draw(rng, n))
		}
	}
	long := graphtest.Random(rng, 30, true, .4) // goes on after all stages
	alike := func(t *testing.T, g graph.Graph, goals ...int) {
		for name, use := range robustness.Settings {
			for _, goal := range goals {
				for _, calls := range []int{1, 2, 5, 1 << 30} { // of stop, before it ends the search
					stop := func() func() bool {
						left := calls
						return func() bool { left--; return left <= 0 }
					}
					a, b := robustness.TraceSmall(g, goal, use, stop()), robustness.TraceLarge(g, goal, use, stop())
					if a != b {
						t.Fatalf("%s, goal %d, stopped by call %d:\n%s\n%s\n%s", name, goal, calls, a, b,
							graphtest.Describe(g))
					}
				}
			}
		}
	}
	all := func(t *testing.T) {
		for _, g := range graphs {
			r := robustness.Find(g, nil).R
			alike(t, g, 0, r, r+1)
		}
	}
	t.Run("usual", all)
	robustness.EarlyStages(t)
	t.Run("early", all)
	alike(t, long, 0)
}
