package robustness_test

import (
	"math/rand/v2"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

// relabelled returns the graph with its nodes shuffled.
func relabelled(rng *rand.Rand, g graph.Graph) graph.Graph {
	to, edges := rng.Perm(g.N()), g.Edges()
	for k, e := range edges {
		edges[k] = [2]int{to[e[0]], to[e[1]]}
	}
	return graph.MustNew(g.N(), g.Directed(), edges)
}

// Above 64 nodes, results agree with known values and do not depend on the numbering of nodes or the settings.
func TestRobustnessBeyondOneWord(t *testing.T) {
	rng := graphtest.Seeded(t, 10)
	known := []struct {
		g    graph.Graph
		want int
	}{
		{graphtest.Named("complete", 99), 50},
		{graphtest.Named("merg", 67), 34},
		{graphtest.Named("merg", 80), 40},
		{graphtest.Named("tree", 128), 1},
		{family(rng, "circulant", 101, "k", 4), 4},
		{family(rng, "preferential", 90, "r", 5), 5},
		{graphtest.Bipartite(6, 80), 6},
	}
	for _, c := range known {
		graphtest.Agree(t, c.g, robustness.Find(c.g, nil), c.want)
		shuffled := relabelled(rng, c.g)
		graphtest.Agree(t, shuffled, robustness.Find(shuffled, nil), c.want)
	}
	rounds := 3
	if testing.Short() || graphtest.Race {
		rounds = 1
	}
	for range rounds {
		for _, g := range []graph.Graph{
			graphtest.Random(rng, 66+rng.IntN(10), false, .08),
			inDegree(rng, 65, 3),
			family(rng, "regular", 70, "degree", 4),
			family(rng, "small-world", 66, "k", 2),
			geometric(rng, 70, .3),
		} {
			want := robustness.Find(g, nil).R
			shuffled := relabelled(rng, g)
			graphtest.Agree(t, shuffled, robustness.Find(shuffled, nil), want)
			graphtest.Agree(t, g, robustness.SearchWith(g, robustness.Settings["no upper side"]), want)
			graphtest.Agree(t, g, robustness.SearchWith(g, robustness.Settings["bound only"]), want)
		}
	}
}
