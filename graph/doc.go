// Package graph knows everything about who talks to whom: it builds communication graphs by name, decides exactly how
// robust they are, and proves it.
//
// The measure is r-robustness (LeBlanc, Zhang, Koutsoukos, Sundaram 2013; SAC §3.3): a set S is r-reachable when some
// node of S hears at least r nodes outside S, and a graph is r-robust when of every two disjoint nonempty sets at least
// one is r-reachable. Deciding it is coNP-complete (Zhang, Fata, Sundaram 2015), so every search here is anytime: it
// asks a stop function now and then, and when told to give up it returns proven lower and upper bounds, labelled as
// such. A "not (r+1)-robust" always carries the two sets that prove it, and VerifyWitness checks them in a few lines.
//
// Nodes are 0..n-1. In a directed graph the edge [u,v] means that v hears u, and all measures count in-neighbours.
// Graphs are immutable; the package is pure: chance comes from a seed, giving up comes from the caller, and nothing
// here reads a clock or a file.
//
//	b, err := graph.Build("merg", 7, nil, 0)  // SAC's 18-edge graph
//	res := graph.Robustness(b.Graph, nil)     // res.R == 4, res.Exact
//	err = graph.VerifyWitness(b.Graph, res.R+1, res.Witness)
package graph
