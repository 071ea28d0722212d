package graph

import (
	"errors"
	"fmt"
	"slices"
)

// FSAC returns the largest F for which Properties 4.2 and 4.3 of SAC hold on an r-robust graph, r ≥ F+1. It is -1 for
// r = 0, where they do not hold even for F = 0.
func FSAC(r int) int { return r - 1 }

// FStrong returns the largest F for which the rooted branching of Property 4.3 can be required to use reliable nodes
// only, r ≥ 2F+1 (claim 4.3-strong; r ≥ F+1 is not enough). It is -1 for r = 0.
func FStrong(r int) int {
	if r < 1 {
		return -1
	}
	return (r - 1) / 2
}

// members returns a table of which nodes are in the set, or an error for an unknown or repeated node.
func (g Graph) members(set []int) ([]bool, error) {
	in := make([]bool, g.n)
	for _, i := range set {
		if i < 0 || i >= g.n {
			return nil, fmt.Errorf("graph: the set has an unknown node %d: nodes are 0 to %d", i, g.n-1)
		}
		if in[i] {
			return nil, fmt.Errorf("graph: the set has node %d twice", i)
		}
		in[i] = true
	}
	return in, nil
}

// count returns the number of in-neighbours j of i with in[j] == inside.
func (g Graph) count(i int, in []bool, inside bool) (c int) {
	for _, j := range g.In(i) {
		if in[j] == inside {
			c++
		}
	}
	return c
}

// Outside returns, for each member of a set in the order given, its number of in-neighbours outside the set. It returns
// an error for an unknown or repeated node.
func Outside(g Graph, set []int) ([]int, error) {
	in, err := g.members(set)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(set))
	for k, i := range set {
		counts[k] = g.count(i, in, false)
	}
	return counts, nil
}

// Reach returns the largest number of in-neighbours outside the set that a single member has: the set is r-reachable
// for every r up to it (SAC Definition 3.3). It returns an error for an empty set and for an unknown or repeated node.
func Reach(g Graph, set []int) (int, error) {
	counts, err := Outside(g, set)
	if err != nil {
		return 0, err
	}
	if len(set) == 0 {
		return 0, errors.New("graph: reachability is defined for nonempty sets only")
	}
	return slices.Max(counts), nil
}

// Locality returns the smallest F for which the set is F-local: the largest number of its members that are
// in-neighbours of one node outside the set (SAC Definition 3.2). It returns an error for an unknown or repeated node.
func Locality(g Graph, set []int) (int, error) {
	in, err := g.members(set)
	if err != nil {
		return 0, err
	}
	most := 0
	for i := range g.n {
		if !in[i] {
			most = max(most, g.count(i, in, true))
		}
	}
	return most, nil
}

// VerifyWitness checks by the definition that a pair of sets proves that the graph is not r-robust: the sets are
// disjoint and nonempty, and neither is r-reachable. It shares no code with the search that finds witnesses. It returns
// nil if the proof is valid, and otherwise an error that names the mistake.
func VerifyWitness(g Graph, r int, pair [2][]int) error {
	for k, set := range pair {
		reach, err := Reach(g, set)
		if err != nil {
			return fmt.Errorf("graph: witness set %d: %w", k+1, err)
		}
		if reach >= r {
			return fmt.Errorf("graph: witness set %d is %d-reachable", k+1, r)
		}
	}
	for _, i := range pair[0] {
		if slices.Contains(pair[1], i) {
			return fmt.Errorf("graph: both witness sets have node %d", i)
		}
	}
	return nil
}
