package graph

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// bruteS is the definition of (r,s)-robustness over all pairs of disjoint sets.
func bruteS(g Graph, r int) int {
	n, best := g.N(), g.N()
	reaching := make([]int, 1<<n)
	size := make([]int, 1<<n)
	for s := range reaching {
		for i := range n {
			if s>>i&1 == 0 {
				continue
			}
			size[s]++
			c := 0
			for j := range n {
				if s>>j&1 == 0 && g.HasEdge(j, i) {
					c++
				}
			}
			if c >= r {
				reaching[s]++
			}
		}
	}
	for a := 1; a < 1<<n; a++ {
		rest := (1<<n - 1) &^ a
		for b := rest; b > 0; b = (b - 1) & rest {
			if reaching[a] < size[a] && reaching[b] < size[b] {
				best = min(best, reaching[a]+reaching[b])
			}
		}
	}
	return best
}

func TestLargestS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(1, 8).Draw(t, "graph")
		r := rapid.IntRange(1, 5).Draw(t, "r")
		res, err := LargestS(g, r, nil)
		want := bruteS(g, r)
		if err != nil || !res.Exact || res.S != want || res.Upper != want {
			t.Fatalf("r = %d: %+v, %v, want s = %d for %s", r, res, err, want, describe(g))
		}
		if (want >= 1) != (bruteR(g) >= r) && g.N() > 1 {
			t.Fatalf("(%d,1)-robust is not %d-robust: %s", r, r, describe(g))
		}
		if res.Witness[0] != nil {
			if s, bounds, err := CountReaching(g, r, res.Witness); err != nil || !bounds || s != want {
				t.Fatalf("witness %v: %d, %v, %v", res.Witness, s, bounds, err)
			}
		} else if want < g.N() {
			t.Fatal("no witness")
		}
		stopped, _ := LargestS(g, r, func() bool { return true })
		bounds := boundS(g, r, never)
		for _, b := range []RSResult{stopped, bounds} {
			if b.Lower > want || b.Upper < want {
				t.Fatalf("bounds %+v, s = %d", b, want)
			}
		}
	})
}

// The whole set of known values: complete graphs and rings.
func TestAlgebraicConnectivity(t *testing.T) {
	for n := 3; n <= 40; n += 7 {
		for name, want := range map[string]float64{
			"complete": float64(n),
			"star":     1,
			"ring":     2 - 2*math.Cos(2*math.Pi/float64(n)),
			"chain":    2 - 2*math.Cos(math.Pi/float64(n)),
		} {
			got, err := AlgebraicConnectivity(mustFamily(name, n))
			if err != nil || math.Abs(got-want) > 1e-9*float64(n) {
				t.Errorf("%s %d: %v, %v, want %v", name, n, got, err, want)
			}
		}
	}
	if _, err := AlgebraicConnectivity(mustNew(2, true, nil)); err == nil {
		t.Error("directed graph accepted")
	}
}

func TestSpectralBoundHolds(t *testing.T) {
	tight := 0
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(2, 8).Draw(t, "graph")
		if g.Directed() {
			return
		}
		if bound, r := spectralBound(g), bruteR(g); bound > r {
			t.Fatalf("λ₂ promises %d, r = %d: %s", bound, r, describe(g))
		} else if bound == r {
			tight++
		}
		if l2, err := AlgebraicConnectivity(g); err != nil || (l2 > 1e-9) != g.Connected() {
			t.Fatalf("λ₂ = %v but connected is %v", l2, g.Connected())
		}
	})
	if tight == 0 {
		t.Error("never tight: the bound is computed wrong")
	}
}

// bruteConnectivity removes every set of nodes.
func bruteConnectivity(g Graph) int {
	n, best := g.N(), g.N()-1
	for gone := range 1 << n {
		var keep []int
		for i := range n {
			if gone>>i&1 == 0 {
				keep = append(keep, i)
			}
		}
		if size := n - len(keep); size < best && len(keep) > 1 {
			index := map[int]int{}
			for k, i := range keep {
				index[i] = k
			}
			var edges [][2]int
			for _, e := range g.Edges() {
				u, okU := index[e[0]]
				v, okV := index[e[1]]
				if okU && okV {
					edges = append(edges, [2]int{u, v})
				}
			}
			if !mustNew(len(keep), g.Directed(), edges).Connected() {
				best = size
			}
		}
	}
	return best
}

func TestVertexConnectivity(t *testing.T) {
	for n := 1; n <= 4; n++ {
		everyGraph(n, false, func(g Graph) { checkConnectivity(t, g) })
	}
	rng := seeded(t, 6)
	for k := range 300 {
		checkConnectivity(t, randomWith(rng, 5+rng.IntN(4), k%2 == 0, .3+.6*rng.Float64()))
	}
}

func checkConnectivity(t *testing.T, g Graph) {
	t.Helper()
	got, err := VertexConnectivity(g)
	if want := bruteConnectivity(g); err != nil || got != want {
		t.Fatalf("%d, %v, want %d: %s", got, err, want, describe(g))
	}
	if r := Robustness(g, nil).R; !g.Directed() && g.N() > 1 && got < r && r <= g.N()-1 {
		t.Fatalf("%d-robust but %d-connected: %s", r, got, describe(g))
	}
}
