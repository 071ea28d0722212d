// Package robustness finds the exact robustness of a graph: the largest r for which it is r-robust,
// and the largest s for which it is (r,s)-robust.
//
// Deciding r-robustness is coNP-complete (Zhang, Fata, Sundaram 2015), so a search can take long. Every search calls a
// stop function from time to time. If that returns true, the search ends and returns lower and upper bounds that are
// proven, and Exact is false. A result that a graph is not (r+1)-robust always has two sets that prove it, which
// graph.VerifyWitness checks.
//
// The search is written once, for graphs of up to 64 nodes (search64.go, bound64.go, drive64.go, on
// the type set64), and copied for up to 128 nodes (set128) by widen.sh, which go generate runs; a
// test compares the copies. There is one source and a copy because the alternatives are slower,
// measured on random graphs of 36 nodes: with a type parameter for the set the search takes 3.3
// times as long (1.8 times for 128 nodes), because methods of type parameters are called through a
// dictionary and are not inlined, and with 128-bit sets for all graphs it takes 1.9 times as long.
//
// Its rank is 1: it uses package graph.
package robustness
