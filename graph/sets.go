package graph

import (
	"fmt"
	"slices"
)

// FSAC is the largest F for which SAC's Properties 4.2 and 4.3 hold on an r-robust graph: r ≥ F+1. It is -1 for r = 0,
// where not even F = 0 is covered.
func FSAC(r int) int { return r - 1 }

// FStrong is the largest F for which the branching of Property 4.3 may be asked to run through reliable agents only:
// r ≥ 2F+1 (claim 4.3-strong; r ≥ F+1 is not enough). It is -1 for r = 0.
func FStrong(r int) int {
	if r < 1 {
		return -1
	}
	return (r - 1) / 2
}

// members turns a set into a membership table, or names what is wrong with it.
func (g Graph) members(set []int) ([]bool, error) {
	in := make([]bool, g.n)
	for _, i := range set {
		if i < 0 || i >= g.n {
			return nil, fmt.Errorf("graph: set names node %d: nodes are 0 to %d", i, g.n-1)
		}
		if in[i] {
			return nil, fmt.Errorf("graph: set names node %d twice", i)
		}
		in[i] = true
	}
	return in, nil
}

// heard counts the in-neighbours of i that are (inside) or are not in the set.
func (g Graph) heard(i int, in []bool, inside bool) (c int) {
	for _, j := range g.In(i) {
		if in[j] == inside {
			c++
		}
	}
	return c
}

// Reach is the largest number of outside nodes that a single member of the set hears: the set is r-reachable exactly
// for r ≤ Reach (SAC Definition 3.3).
func Reach(g Graph, set []int) (int, error) {
	in, err := g.members(set)
	if err != nil {
		return 0, err
	}
	if len(set) == 0 {
		return 0, fmt.Errorf("graph: reachability is defined for nonempty sets")
	}
	most := 0
	for _, i := range set {
		most = max(most, g.heard(i, in, false))
	}
	return most, nil
}

// Reachable reports whether some node of the nonempty set hears at least r nodes outside it (SAC Definition 3.3).
func Reachable(g Graph, set []int, r int) (bool, error) {
	reach, err := Reach(g, set)
	return err == nil && reach >= r, err
}

// FLocal reports whether every node outside the set hears at most F of its members (SAC Definition 3.2).
func FLocal(g Graph, set []int, f int) (bool, error) {
	most, err := Locality(g, set)
	return err == nil && most <= f, err
}

// Locality is the smallest F for which the set is F-local: the largest number of members that one outside node hears.
func Locality(g Graph, set []int) (int, error) {
	in, err := g.members(set)
	if err != nil {
		return 0, err
	}
	most := 0
	for i := range g.n {
		if !in[i] {
			most = max(most, g.heard(i, in, true))
		}
	}
	return most, nil
}

// FTotal reports whether the set has at most F members; every F-total set is F-local.
func FTotal(g Graph, set []int, f int) (bool, error) {
	_, err := g.members(set)
	return err == nil && len(set) <= f, err
}

// VerifyWitness checks by the definition that the pair proves "not r-robust": two disjoint nonempty sets, neither of
// them r-reachable. It shares no code with the searches that find witnesses.
func VerifyWitness(g Graph, r int, pair [2][]int) error {
	for k, set := range pair {
		reachable, err := Reachable(g, set, r)
		if err != nil {
			return fmt.Errorf("graph: witness set %d: %w", k+1, err)
		}
		if reachable {
			return fmt.Errorf("graph: witness set %d is %d-reachable", k+1, r)
		}
	}
	for _, i := range pair[0] {
		if slices.Contains(pair[1], i) {
			return fmt.Errorf("graph: witness sets share node %d", i)
		}
	}
	return nil
}

// Components lists the connected components of the graph with directions forgotten, each ascending, in the order of
// their smallest nodes.
func (g Graph) Components() [][]int {
	either := matrix{g.in.stride, slices.Clone(g.in.words)}
	for k, w := range g.out.words {
		either.words[k] |= w
	}
	seen := make([]bool, g.n)
	var all [][]int
	for s := range g.n {
		if !seen[s] {
			all = append(all, g.visit(s, either, seen))
		}
	}
	return all
}

// Connected reports whether an undirected graph is connected, or a directed one strongly connected: everyone's word
// can reach everyone.
func (g Graph) Connected() bool {
	reach := func(along matrix) bool { return len(g.visit(0, along, make([]bool, g.n))) == g.n }
	return g.n > 0 && reach(g.out) && (!g.directed || reach(g.in))
}

// Rooted reports whether the word of some single node can reach everyone: a rooted out-branching exists, which is
// 1-robustness (LeBlanc 2013). For undirected graphs it is connectedness.
func (g Graph) Rooted() bool {
	_, separate := g.sources()
	return g.n > 0 && !separate
}

// sources looks for two disjoint sets that hear nobody outside themselves; there are none exactly when the graph has a
// rooted out-branching.
func (g Graph) sources() (pair [2][]int, separate bool) {
	if g.n == 0 {
		return pair, false
	}
	// Sweep over the nodes not yet reached; if any node reaches all, the last start of the sweep does.
	seen, last := make([]bool, g.n), 0
	for s := range g.n {
		if !seen[s] {
			g.visit(s, g.out, seen)
			last = s
		}
	}
	reached := make([]bool, g.n)
	if len(g.visit(last, g.out, reached)) == g.n {
		return pair, false
	}
	// Whoever last does not reach is heard in a set closed under hearing that has no node last can reach.
	missed := 0
	for reached[missed] {
		missed++
	}
	pair[0] = g.visit(last, g.in, make([]bool, g.n))
	pair[1] = g.visit(missed, g.in, make([]bool, g.n))
	return pair, true
}

// visit lists, ascending, the nodes reached from s along the rows of the matrix that were not seen before.
func (g Graph) visit(s int, along matrix, seen []bool) []int {
	seen[s] = true
	queue := []int{s}
	for k := 0; k < len(queue); k++ {
		for _, j := range appendBits(nil, along.row(queue[k])) {
			if !seen[j] {
				seen[j] = true
				queue = append(queue, j)
			}
		}
	}
	slices.Sort(queue)
	return queue
}
