// Package graph holds communication graphs: which node receives messages from which other node.
//
// Nodes are numbered 0 to n-1. In a directed graph the edge [u,v] means that v receives what u sends: u is an
// in-neighbour of v. In an undirected graph every edge goes both ways. All measures count in-neighbours, which in an
// undirected graph are simply the neighbours. A Graph is immutable and safe for concurrent use.
//
// The central measure is r-robustness (LeBlanc, Zhang, Koutsoukos, Sundaram 2013; SAC §3.3). A set
// S is r-reachable if some node of S has at least r in-neighbours outside S. A graph is r-robust if
// of every two disjoint nonempty sets of nodes at least one is r-reachable. This package has the
// definitions (Reach, Locality, VerifyWitness) and measures that are cheap to compute. The other
// parts are packages of their own:
//
//   - graph/robustness finds the largest r exactly;
//   - graph/topology builds graphs by name and places adversaries on them;
//   - graph/design makes sparse r-robust graphs and improves existing ones;
//   - graph/format reads and writes files;
//   - graph/draw draws.
//
// All of them are pure: they read no clock and no file, randomness comes from a seed, and a function that can run for
// long takes a stop function that ends it.
//
// Its rank is 0: it uses no other package of Synod.
//
//	b, err := topology.Build("merg", 7, nil, 0)          // the 18-edge graph of SAC
//	res := robustness.Find(b.Graph, nil)                 // res.R == 4, res.Exact
//	err = graph.VerifyWitness(b.Graph, res.R+1, res.Witness)
package graph
