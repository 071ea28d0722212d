package robustness_test

import (
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

// bruteS finds s by the definition of (r,s)-robustness, over all pairs of disjoint sets.
func bruteS(g graph.Graph, r int) int {
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
		g := graphtest.Any(1, 8).Draw(t, "graph")
		r := rapid.IntRange(1, 5).Draw(t, "r")
		res, err := robustness.LargestS(g, r, nil)
		want := bruteS(g, r)
		if err != nil || !res.Exact || res.S != want || res.Upper != want {
			t.Fatalf("r = %d: %+v, %v, want s = %d for %s", r, res, err, want, graphtest.Describe(g))
		}
		if (want >= 1) != (graphtest.Robustness(g) >= r) && g.N() > 1 {
			t.Fatalf("(%d,1)-robust is not %d-robust: %s", r, r, graphtest.Describe(g))
		}
		if res.Witness[0] != nil {
			if s, bounds, err := robustness.CountReaching(g, r, res.Witness); err != nil || !bounds || s != want {
				t.Fatalf("witness %v: %d, %v, %v", res.Witness, s, bounds, err)
			}
		} else if want < g.N() {
			t.Fatal("no witness")
		}
		stopped, _ := robustness.LargestS(g, r, func() bool { return true })
		bounds := robustness.BoundS(g, r, robustness.Never)
		for _, b := range []robustness.RSResult{stopped, bounds} {
			if b.Lower > want || b.Upper < want {
				t.Fatalf("bounds %+v, s = %d", b, want)
			}
		}
	})
}

func TestSpectralBoundHolds(t *testing.T) {
	tight := 0
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(2, 8).Draw(t, "graph")
		if g.Directed() {
			return
		}
		if bound, r := robustness.SpectralBound(g), graphtest.Robustness(g); bound > r {
			t.Fatalf("λ₂ gives %d, r = %d: %s", bound, r, graphtest.Describe(g))
		} else if bound == r {
			tight++
		}
		if l2, err := graph.AlgebraicConnectivity(g); err != nil || (l2 > 1e-9) != g.Connected() {
			t.Fatalf("λ₂ = %v but connected is %v", l2, g.Connected())
		}
	})
	if tight == 0 {
		t.Error("never tight: the bound is computed wrong")
	}
}
