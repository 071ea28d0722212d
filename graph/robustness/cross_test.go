package robustness_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
)

// twin is an independent and simpler search, without bounds and probing. It branches on whether a node is in S1 or not,
// reduces both sets to their cores, and compares sizes.
type twin struct {
	in   []uint64
	need []int
}

func (t twin) core(set uint64) uint64 {
	for again := true; again; {
		again = false
		for w := set; w != 0; w &= w - 1 {
			if i := bits.TrailingZeros64(w); bits.OnesCount64(t.in[i]&set) < t.need[i] {
				set &^= 1 << i
				again = true
			}
		}
	}
	return set
}

// size returns the least size of a set that contains must, or of any set within may.
func (t twin) size(must, may uint64) int {
	least := 99
	for w := may; w != 0; w &= w - 1 {
		least = min(least, t.need[bits.TrailingZeros64(w)]+1)
	}
	for w := must; w != 0; w &= w - 1 {
		i := bits.TrailingZeros64(w)
		least = max(least, t.need[i]+bits.OnesCount64(must&^t.in[i]))
	}
	return least
}

// pairs reports whether disjoint cohesive sets S1 with must ⊆ S1 ⊆ one and S2 ⊆ two exist.
func (t twin) pairs(must, one, two uint64) bool {
	one, two = t.core(one), t.core(two&^must)
	if must&^one != 0 || one == 0 || two == 0 || t.size(must, one)+t.size(0, two) > bits.OnesCount64(one|two) {
		return false
	}
	both := one & two
	if both == 0 {
		return true
	}
	// Branch on the node that is an in-neighbour of most members so far.
	v, most := 0, -1
	for w := both; w != 0; w &= w - 1 {
		i := bits.TrailingZeros64(w)
		if c := bits.OnesCount64(t.in[i]&must)*64 + bits.OnesCount64(t.in[i]); c > most {
			v, most = i, c
		}
	}
	return t.pairs(must|1<<v, one, two) || t.pairs(must, one&^(1<<v), two)
}

func twinR(g graph.Graph) int {
	t := twin{in: make([]uint64, g.N()), need: make([]int, g.N())}
	for i := range t.in {
		for _, j := range g.In(i) {
			t.in[i] |= 1 << j
		}
	}
	all := uint64(1)<<g.N() - 1
	for q := 0; ; q++ {
		for i := range t.need {
			t.need[i] = bits.OnesCount64(t.in[i]) - q
		}
		if t.pairs(0, all, all) {
			return q
		}
	}
}

// kinds are kinds of random graphs.
var kinds = []struct {
	name string
	draw func(rng *rand.Rand, n int) graph.Graph
}{
	{"er", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, false, .2+.6*rng.Float64()) }},
	{"digraph", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, true, .2+.6*rng.Float64()) }},
	{"k-in", func(rng *rand.Rand, n int) graph.Graph { return inDegree(rng, n, 3+rng.IntN(5)) }},
	{"regular", func(rng *rand.Rand, n int) graph.Graph {
		return family(rng, "regular", n&^1, "degree",
			3+rng.IntN(6))
	}},
	{"preferential", func(rng *rand.Rand, n int) graph.Graph {
		return family(rng, "preferential", n, "r",
			2+rng.IntN(5))
	}},
	{"small-world", func(rng *rand.Rand, n int) graph.Graph {
		return family(rng, "small-world", n, "k",
			2+rng.IntN(4))
	}},
	{"geometric", func(rng *rand.Rand, n int) graph.Graph { return geometric(rng, n, .3+.3*rng.Float64()) }},
}

func family(rng *rand.Rand, name string, n int, key string, value int) graph.Graph {
	b, err := topology.Build(name, n, map[string]any{key: value}, rng.Uint64N(1<<50))
	if err != nil {
		panic(err)
	}
	return b.Graph
}

// inDegree draws a digraph in which every node has k random in-neighbours.
func inDegree(rng *rand.Rand, n, k int) graph.Graph {
	var edges [][2]int
	for v := range n {
		for _, u := range rng.Perm(n - 1)[:k] {
			if u >= v {
				u++
			}
			edges = append(edges, [2]int{u, v})
		}
	}
	return graph.MustNew(n, true, edges)
}

// geometric joins random points of the unit square that are within the radius.
func geometric(rng *rand.Rand, n int, radius float64) graph.Graph {
	var edges [][2]int
	points := make([][2]float64, n)
	for v := range points {
		points[v] = [2]float64{rng.Float64(), rng.Float64()}
		for u := range v {
			dx, dy := points[u][0]-points[v][0], points[u][1]-points[v][1]
			if dx*dx+dy*dy <= radius*radius {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	return graph.MustNew(n, false, edges)
}

// All settings give the same result as each other, as the twin and, up to 20 nodes, as the subset table. The graphs are
// large because an unsound shortcut once passed every check below 16 nodes.
func TestSettingsAgree(t *testing.T) {
	rng := graphtest.Seeded(t, 3)
	rounds, largest := 3, 28
	if testing.Short() || graphtest.Race {
		rounds, largest = 1, 26
	}
	for range rounds {
		for _, kind := range kinds {
			for n := 18; n <= largest; n += 1 + rng.IntN(4) {
				g := kind.draw(rng, n)
				want := twinR(g)
				if g.N() <= 20 {
					if r := robustness.Table(g).R; r != want {
						t.Fatalf("%s: table %d, twin %d: %s", kind.name, r, want, graphtest.Describe(g))
					}
				}
				checkSettings(t, g, want)
			}
		}
	}
}

// Settings are compared with each other on graphs that are too large for the twin.
func TestSettingsAgreeOnLargerGraphs(t *testing.T) {
	rng := graphtest.Seeded(t, 5)
	rounds := 4
	if testing.Short() || graphtest.Race {
		rounds = 1
	}
	for range rounds {
		for _, kind := range kinds {
			g := kind.draw(rng, 28+rng.IntN(7))
			checkSettings(t, g, robustness.SearchWith(g, robustness.Settings["bound only"]).R)
		}
	}
}

func checkSettings(t *testing.T, g graph.Graph, want int) {
	t.Helper()
	for name, use := range robustness.Settings {
		t.Run(name, func(t *testing.T) {
			graphtest.Agree(t, g, robustness.SearchWith(g, use), want)
		})
	}
	graphtest.Agree(t, g, robustness.SearchLarge(g, 0), want)
	for goal := want - 1; goal <= want+2; goal++ {
		if res := robustness.Decide(g, goal, nil); (res.Lower >= goal) != (goal <= want) ||
			(res.Upper < goal) != (goal > want) {
			t.Fatalf("r = %d, decided %d: %+v for %s", want, goal, res, graphtest.Describe(g))
		}
	}
}

// The search uses orbits on symmetric graphs.
func TestSymmetricGraphs(t *testing.T) {
	rng := graphtest.Seeded(t, 4)
	for range 60 {
		n := 8 + rng.IntN(11)
		g := cayley(rng, n)
		want := robustness.Table(g).R
		checkSettings(t, g, want)
	}
}

// cayley joins nodes of a ring whose distance is in a random set. Half of the graphs are directed.
func cayley(rng *rand.Rand, n int) graph.Graph {
	directed := rng.IntN(2) == 1
	steps := map[int]bool{1: true}
	for range 2 + rng.IntN(4) {
		steps[1+rng.IntN(n-1)] = true
	}
	var edges [][2]int
	for u := range n {
		for v := range n {
			d := (v - u + n) % n
			if u != v && (directed && steps[d] || !directed && u < v && (steps[d] || steps[n-d])) {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	return graph.MustNew(n, directed, edges)
}

func TestOrbits(t *testing.T) {
	for _, c := range []struct {
		g    graph.Graph
		want string
	}{
		{graphtest.Build(t, "ring", 6, nil).Graph, "[[0 1 2 3 4 5]]"},
		{graphtest.Build(t, "star", 5, nil).Graph, "[[1 2 3 4]]"},
		{graphtest.Build(t, "chain", 5, nil).Graph, "[[0 4] [1 3]]"},
		{graphtest.Build(t, "circulant", 6, map[string]any{"k": 2, "directed": true}).Graph, "[[0 1 2 3 4 5]]"},
		{graph.MustNew(4, true, [][2]int{{0, 1}, {1, 2}, {2, 3}}), "[]"},
	} {
		if got := fmt.Sprint(robustness.Orbits(c.g)); got != c.want {
			t.Errorf("%s: %s, want %s", graphtest.Describe(c.g), got, c.want)
		}
	}
}
