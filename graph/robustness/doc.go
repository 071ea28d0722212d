// Package robustness finds the exact robustness of a graph: the largest r for which it is r-robust,
// and the largest s for which it is (r,s)-robust.
//
// Deciding r-robustness is coNP-complete (Zhang, Fata, Sundaram 2015), so a search can take long. Every search calls a
// stop function from time to time. If that returns true, the search ends and returns lower and upper bounds that are
// proven, and Exact is false. A result that a graph is not (r+1)-robust always has two sets that prove it, which
// graph.VerifyWitness checks.
//
// The search has one text, with a type parameter for the second word of a set of nodes, which
// graphs of up to 64 nodes do not have (nodeSet). It is a parameter of struct types whose methods
// are inlined. Methods of a type parameter would be called through a dictionary, and the search
// would take 3.3 times as long. A copy of the text for each size would save about a tenth of the time.
//
// Its rank is 1: it uses package graph.
package robustness
