package reference

import "math/bits"

// Digraph has by node the set of nodes that it hears, as bits: edge (u, v) is bit u of Digraph[v].
type Digraph []uint32

// Robust returns by definition the largest r such that of any two disjoint sets of nodes that are not empty, one has a
// node with r in-neighbours outside of it (LeBlanc et al. 2013). It tries all pairs, so it is for small graphs. A graph
// with one node is 1-robust.
func (g Digraph) Robust() int {
	if len(g) < 2 {
		return len(g)
	}
	r := len(g)
	g.pairs(func(a, b uint32) {
		r = min(r, max(g.Reach(a), g.Reach(b)))
	})
	return r
}

// Reach returns the largest number of in-neighbours outside of a set that a node of it has.
func (g Digraph) Reach(set uint32) (most int) {
	for v := range g {
		if set>>v&1 == 1 {
			most = max(most, bits.OnesCount32(g[v]&^set))
		}
	}
	return most
}

// RobustS returns by definition the largest s such that the graph is (r, s)-robust: of any two disjoint sets that are
// not empty, all nodes of one have r in-neighbours outside of it, or s nodes of both together. At most it is the number
// of nodes.
func (g Digraph) RobustS(r int) int {
	s := len(g)
	g.pairs(func(a, b uint32) {
		x, y := g.reaching(a, r), g.reaching(b, r)
		if x < bits.OnesCount32(a) && y < bits.OnesCount32(b) {
			s = min(s, x+y)
		}
	})
	return s
}

// reaching counts the nodes of a set with r in-neighbours outside of it.
func (g Digraph) reaching(set uint32, r int) (n int) {
	for v := range g {
		if set>>v&1 == 1 && bits.OnesCount32(g[v]&^set) >= r {
			n++
		}
	}
	return n
}

// pairs visits all pairs of disjoint sets that are not empty.
func (g Digraph) pairs(visit func(a, b uint32)) {
	all := uint32(1)<<len(g) - 1
	for a := uint32(1); a <= all; a++ {
		rest := all &^ a
		for b := rest; b != 0; b = (b - 1) & rest {
			visit(a, b)
		}
	}
}

// Strong reports whether each node of a set reaches each other one within the set.
func (g Digraph) Strong(set uint32) bool {
	for v := range g {
		if set>>v&1 == 1 && g.from(v, set) != set {
			return false
		}
	}
	return true
}

// from returns which nodes of a set a node of it reaches within it.
func (g Digraph) from(v int, set uint32) uint32 {
	reached := uint32(1) << v
	for again := true; again; {
		again = false
		for u := range g {
			if set>>u&1 == 1 && reached>>u&1 == 0 && g[u]&reached != 0 {
				reached, again = reached|1<<u, true
			}
		}
	}
	return reached
}

// Connectivity returns how many nodes must go at least until the others do not all reach one another, or one is left.
func (g Digraph) Connectivity() int {
	all := uint32(1)<<len(g) - 1
	least := max(0, len(g)-1)
	for gone := uint32(0); gone <= all; gone++ {
		if k := bits.OnesCount32(gone); k < least && !g.Strong(all&^gone) {
			least = k
		}
	}
	return least
}

// Rooted reports whether some node reaches all.
func (g Digraph) Rooted() bool {
	all := uint32(1)<<len(g) - 1
	for v := range g {
		if g.from(v, all) == all {
			return true
		}
	}
	return false
}
