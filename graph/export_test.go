package graph

// DisjointPaths counts paths without a common inner node, up to most, for the tests in package graph_test.
func DisjointPaths(g Graph, s, t, most int) int { return g.split().disjointPaths(s, t, most) }
