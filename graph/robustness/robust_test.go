package robustness_test

import (
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

func TestRobustnessOfEverySmallGraph(t *testing.T) {
	most := 6
	if testing.Short() || graphtest.Race {
		most = 5
	}
	for n := 1; n <= most; n++ {
		graphtest.Every(n, false, func(g graph.Graph) {
			graphtest.Agree(t, g, robustness.Find(g, nil),
				graphtest.Robustness(g))
		})
	}
	for n := 2; n <= 4; n++ {
		graphtest.Every(n, true, func(g graph.Graph) {
			graphtest.Agree(t, g, robustness.Find(g, nil),
				graphtest.Robustness(g))
		})
	}
}

func TestRobustnessAgainstTheDefinition(t *testing.T) {
	rng := graphtest.Seeded(t, 1)
	for k := range 400 {
		g := graphtest.Random(rng, 6+rng.IntN(4), k%2 == 0, rng.Float64())
		graphtest.Agree(t, g, robustness.Find(g, nil), graphtest.Robustness(g))
	}
}

func TestSubsetTableAgainstTheDefinition(t *testing.T) {
	rng := graphtest.Seeded(t, 2)
	for k := range 300 {
		g := graphtest.Random(rng, 2+rng.IntN(8), k%2 == 0, rng.Float64())
		graphtest.Agree(t, g, robustness.Table(g), graphtest.Robustness(g))
	}
}

// The bounds that need no search are correct, and their pair is a valid proof.
func TestQuickBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(2, 8).Draw(t, "graph")
		quick, r := robustness.QuickBounds(g), graphtest.Robustness(g)
		if r < quick.Lower || r > quick.Upper {
			t.Fatalf("%s: r = %d outside %d..%d", graphtest.Describe(g), r, quick.Lower, quick.Upper)
		}
		if err := graph.VerifyWitness(g, quick.Upper+1, quick.Witness); err != nil {
			t.Fatal(err)
		}
		if (r == 0) != (quick.Upper == 0) || g.Rooted() != (r > 0) {
			t.Fatalf("%s: r = %d but rooted is %v", graphtest.Describe(g), r, g.Rooted())
		}
	})
}

func TestIsRobust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any(1, 8).Draw(t, "graph")
		r := graphtest.Robustness(g)
		for want := range 6 {
			if yes, known := robustness.IsRobust(g, want, nil); !known || yes != (want <= r) {
				t.Fatalf("%s: r = %d, robustness.IsRobust(%d) = %v, %v", graphtest.Describe(g), r, want, yes, known)
			}
		}
	})
}

func TestStopGivesBoundsThatHold(t *testing.T) {
	g := graphtest.Build(t, "random", 40, map[string]any{"p": 0.5, "seed": 3}).Graph // takes a fifth of a second
	res := robustness.Find(g, func() bool { return true })
	if res.Exact || res.R != res.Lower {
		t.Fatalf("stopped at once, got %+v", res)
	}
	if err := graph.VerifyWitness(g, res.Upper+1, res.Witness); err != nil {
		t.Fatal(err)
	}
	if full := robustness.Find(g, nil); full.R < res.Lower || full.R > res.Upper {
		t.Fatalf("bounds %d..%d, but r = %d", res.Lower, res.Upper, full.R)
	}
}

// VerifyWitness returns an error for each kind of invalid witness.
func TestVerifyWitnessRefuses(t *testing.T) {
	g := graphtest.Build(t, "ring", 6, nil).Graph
	for _, bad := range [][2][]int{
		{{0, 1, 2}, {2, 3, 4}}, // not disjoint
		{{}, {1, 2}},           // empty
		{{0, 1}, {3, 7}},       // unknown node
		{{0, 1}, {3, 3}},       // a node twice
		{{0, 1, 2}, {4}},       // node 4 has two neighbours outside
	} {
		if graph.VerifyWitness(g, 2, bad) == nil {
			t.Errorf("%v accepted as a proof that a ring is not 2-robust", bad)
		}
	}
	if err := graph.VerifyWitness(g, 2, [2][]int{{0, 1, 2}, {3, 4, 5}}); err != nil {
		t.Error(err)
	}
}

func TestFBounds(t *testing.T) {
	for r, want := range [][2]int{{-1, -1}, {0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}} {
		if graph.FSAC(r) != want[0] || graph.FStrong(r) != want[1] {
			t.Errorf("r = %d: F %d and %d, want %v", r, graph.FSAC(r), graph.FStrong(r), want)
		}
	}
}
