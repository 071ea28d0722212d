package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// pair is a set like any other: compared with a table of flags.
func TestPairIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, pairSize).Draw(t, "n")
		draw := func(label string) (p pair, in []bool) {
			in = rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, label)
			for i, member := range in {
				if member {
					p = p.with(i)
				}
			}
			return p, in
		}
		a, inA := draw("a")
		b, inB := draw("b")
		check := func(what string, got pair, want func(i int) bool) {
			var list []int
			for i := range n {
				if got.has(i) != want(i) {
					t.Fatalf("%s: node %d", what, i)
				}
				if want(i) {
					list = append(list, i)
				}
			}
			var walked []int
			for w := got; !w.empty(); w = w.rest() {
				walked = append(walked, w.first())
			}
			if got.count() != len(list) || !slices.Equal(walked, list) || !slices.Equal(appendBits(nil, got.row()), list) {
				t.Fatalf("%s: walked %v, want %v", what, walked, list)
			}
		}
		check("and", a.and(b), func(i int) bool { return inA[i] && inB[i] })
		check("or", a.or(b), func(i int) bool { return inA[i] || inB[i] })
		check("and not", a.andNot(b), func(i int) bool { return inA[i] && !inB[i] })
		check("all", pairAll(n), func(int) bool { return true })
		v := rapid.IntRange(0, n-1).Draw(t, "v")
		check("of", pairOf(v), func(i int) bool { return i == v })
		check("without", a.without(v), func(i int) bool { return inA[i] && i != v })
		check("row", pairRow(a.row()), func(i int) bool { return inA[i] })
	})
}

// relabelled is the same graph with its nodes shuffled.
func relabelled(rng *rand.Rand, g Graph) Graph {
	to, edges := rng.Perm(g.N()), g.Edges()
	for k, e := range edges {
		edges[k] = [2]int{to[e[0]], to[e[1]]}
	}
	return mustNew(g.N(), g.Directed(), edges)
}

// Beyond 64 nodes: known values, and the same answer whatever the nodes are called and however the search is set.
func TestRobustnessBeyondOneWord(t *testing.T) {
	rng := seeded(t, 10)
	known := []struct {
		g    Graph
		want int
	}{
		{mustFamily("complete", 99), 50},
		{mustFamily("merg", 67), 34},
		{mustFamily("merg", 80), 40},
		{mustFamily("tree", 128), 1},
		{family(rng, "circulant", 101, "k", 4), 4},
		{family(rng, "preferential", 90, "r", 5), 5},
		{bipartite(6, 80), 6},
	}
	for _, c := range known {
		mustAgree(t, c.g, Robustness(c.g, nil), c.want)
		shuffled := relabelled(rng, c.g)
		mustAgree(t, shuffled, Robustness(shuffled, nil), c.want)
	}
	rounds := 3
	if testing.Short() || raceEnabled {
		rounds = 1
	}
	for range rounds {
		for _, g := range []Graph{
			randomWith(rng, 66+rng.IntN(10), false, .08),
			heardBy(rng, 65, 3),
			family(rng, "regular", 70, "degree", 4),
			family(rng, "small-world", 66, "k", 2),
			geometric(rng, 70, .3),
		} {
			want := Robustness(g, nil).R
			shuffled := relabelled(rng, g)
			mustAgree(t, shuffled, Robustness(shuffled, nil), want)
			mustAgree(t, g, decide(g, 0, settings["no upper side"], nil), want)
			mustAgree(t, g, decide(g, 0, settings["bound only"], nil), want)
		}
	}
}

func bipartite(r, n int) Graph {
	var edges [][2]int
	for u := range r {
		for v := r; v < n; v++ {
			edges = append(edges, [2]int{u, v})
		}
	}
	return mustNew(n, false, edges)
}
