package topology

import "synod.dev/synod/graph"

// Exported for the tests in package topology_test.
var (
	NextCombination = nextCombination
	Clique          = clique
	Combinations    = combinations
)

// Exchange searches all nodes from a first set.
func Exchange(g graph.Graph, set []int, stop func() bool) Harm {
	return search{g, allNodes(g.N()), stop}.exchange(set)
}

// HarmOf measures a set.
func HarmOf(g graph.Graph, set []int, stop func() bool) Harm { return search{g, nil, stop}.harm(set) }

// Worse reports whether h is more harm.
func (h Harm) Worse(than Harm) bool { return h.worse(than) }
