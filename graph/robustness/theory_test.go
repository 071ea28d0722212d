package robustness_test

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

// rootedMasks reports whether some node reaches all, given each node's in-neighbours: it grows the set of nodes that
// the root reaches until nothing changes.
func rootedMasks(in []uint) bool {
	all := uint(1)<<len(in) - 1
	for root := range in {
		reached := uint(1) << root
		for grown := true; grown; {
			grown = false
			for i, heard := range in {
				if reached>>i&1 == 0 && heard&reached != 0 {
					reached |= 1 << i
					grown = true
				}
			}
		}
		if reached == all {
			return true
		}
	}
	return false
}

// survives tries every way to delete F in-edges at each node (all of them if it has fewer; deleting fewer is never
// worse) and reports whether a rooted out-branching always remains: Property 4.3.
func survives(in []uint, i, f int) bool {
	if i == len(in) {
		return rootedMasks(in)
	}
	was, cut := in[i], min(f, bits.OnesCount(in[i]))
	defer func() { in[i] = was }()
	for drop := was; ; drop = (drop - 1) & was {
		if bits.OnesCount(drop) == cut {
			in[i] = was &^ drop
			if !survives(in, i+1, f) {
				return false
			}
		}
		if drop == 0 {
			return true
		}
	}
}

func inMasks(g graph.Graph) []uint {
	in := make([]uint, g.N())
	for i := range in {
		for _, j := range g.In(i) {
			in[i] |= 1 << j
		}
	}
	return in
}

// Property 4.3 of SAC is exactly (F+1)-robustness: every graph with n ≤ 5, every digraph with n ≤ 4, every removal.
func TestProperty43IsRobustness(t *testing.T) {
	cases := 0
	check := func(g graph.Graph) {
		res := robustness.Find(g, nil)
		in := inMasks(g)
		for f := range (g.N()+1)/2 + 1 {
			cases++
			if survives(in, 0, f) != (res.R >= f+1) {
				t.Fatalf("F = %d, r = %d: %s", f, res.R, graphtest.Describe(g))
			}
		}
	}
	for n := 2; n <= 5; n++ {
		graphtest.Every(n, false, check)
	}
	for n := 2; n <= 4; n++ {
		graphtest.Every(n, true, check)
	}
	if cases < 10_000 {
		t.Errorf("only %d cases", cases)
	}
}

// The witness is the attack: deleting the in-edges it names, at most r a node, leaves two sets
// without in-neighbours outside.
func TestWitnessIsAnAttack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(2, 8).Draw(t, "graph")
		res := robustness.Find(g, nil)
		in := inMasks(g)
		for _, set := range res.Witness {
			var members uint
			for _, i := range set {
				members |= 1 << i
			}
			for _, i := range set {
				if cut := bits.OnesCount(in[i] &^ members); cut > res.R {
					t.Fatalf("node %d loses %d in-edges, more than r = %d", i, cut, res.R)
				}
				in[i] &= members
			}
		}
		if rootedMasks(in) {
			t.Fatalf("a rooted out-branching survives the attack %v on %s", res.Witness, graphtest.Describe(g))
		}
	})
}

// Lemma 3.5 of SAC: removing up to k incoming edges of each node lowers the robustness by at most k.
func TestLemma35(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(2, 10).Draw(t, "graph")
		k := rapid.IntRange(0, 4).Draw(t, "k")
		var kept [][2]int
		for i := range g.N() {
			in := g.In(i)
			gone := map[int]bool{}
			for range k {
				if len(in) > 0 {
					gone[rapid.SampledFrom(in).Draw(t, "removed")] = true
				}
			}
			for _, j := range in {
				if !gone[j] {
					kept = append(kept, [2]int{j, i})
				}
			}
		}
		before, after := robustness.Find(g, nil).R, robustness.Find(graph.MustNew(g.N(), true, kept), nil).R
		if after < before-k {
			t.Fatalf("%d-robust became %d-robust by removing %d edges a node of %s", before, after, k,
				graphtest.Describe(g))
		}
	})
}

// Adding an edge never makes a graph less robust.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(2, 10).Draw(t, "graph")
		u, v := rapid.IntRange(0, g.N()-1).Draw(t, "u"), rapid.IntRange(0, g.N()-1).Draw(t, "v")
		if u == v || g.HasEdge(u, v) {
			return
		}
		more := graph.MustNew(g.N(), g.Directed(), append(g.Edges(), [2]int{u, v}))
		if before, after := robustness.Find(g, nil).R, robustness.Find(more, nil).R; after < before {
			t.Fatalf("adding [%d,%d] to %s: %d became %d", u, v, graphtest.Describe(g), before, after)
		}
	})
}

// An r-robust graph with r > 1 has minimum degree r (SAC §3.3; r = 1 is only a rooted out-branching).
func TestRobustNeedsDegree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(2, 10).Draw(t, "graph")
		if r := robustness.Find(g, nil).R; r > 1 && g.MinDegree() < r {
			t.Fatalf("%d-robust with a node of degree %d: %s", r, g.MinDegree(), graphtest.Describe(g))
		}
	})
}
