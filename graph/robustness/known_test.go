package robustness_test

import (
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

// The bounds of graphs for which they can be computed by hand. Weaker bounds would hold too, and cost searches.
func TestBoundsOfKnownGraphs(t *testing.T) {
	chain := graph.MustNew(4, true, [][2]int{{0, 1}, {1, 2}, {2, 3}})
	for what, c := range map[string]struct {
		g                      graph.Graph
		lower, upper, spectral int
	}{
		"two nodes":      {graphtest.Named("complete", 2), 1, 1, 1},
		"complete, odd":  {graphtest.Named("complete", 7), 4, 4, 4},
		"complete, even": {graphtest.Named("complete", 8), 4, 4, 4},
		"ring":           {graphtest.Named("ring", 8), 1, 2, 1},
		"star":           {graphtest.Named("star", 6), 1, 1, 1},
		"one edge less":  {graph.MustNew(8, false, graphtest.Named("complete", 8).Edges()[1:]), 3, 4, 3},
		"apart":          {graph.MustNew(4, false, [][2]int{{0, 1}, {2, 3}}), 0, 0, 0},
		"directed chain": {chain, 1, 1, 0},
	} {
		res := robustness.QuickBounds(c.g)
		if err := graph.VerifyWitness(c.g, res.Upper+1, res.Witness); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if s := robustness.SpectralBound(c.g); res.Lower != c.lower || res.Upper != c.upper || s != c.spectral {
			t.Errorf("%s: %d to %d, λ₂ gives %d; want %d to %d, and %d", what, res.Lower, res.Upper, s, c.lower,
				c.upper, c.spectral)
		}
	}
}

// The bounds on s where no table of all sets is made.
func TestBoundsOfS(t *testing.T) {
	for _, c := range []struct {
		g               graph.Graph
		r, lower, upper int
	}{
		{graphtest.Named("complete", 6), 1, 6, 6}, {graphtest.Named("complete", 6), 3, 6, 6},
		{graphtest.Named("complete", 6), 4, 0, 0}, {graphtest.Named("ring", 6), 1, 1, 4},
		{graphtest.Named("complete", 7), 4, 7, 7}, {graphtest.Named("star", 6), 1, 1, 6},
		{graphtest.Named("complete", 25), 13, 25, 25}, {graphtest.Named("ring", 25), 2, 0, 0},
	} {
		res := robustness.BoundS(c.g, c.r, robustness.Never)
		if res.Lower != c.lower || res.Upper != c.upper || res.S != c.lower || res.Exact != (c.lower == c.upper) {
			t.Errorf("%s, r = %d: %+v, want %d to %d", c.g, c.r, res, c.lower, c.upper)
		}
		if s, err := robustness.LargestS(c.g, c.r, nil); err != nil || s.Lower < c.lower || s.Upper > c.upper {
			t.Errorf("%s, r = %d: %+v, %v", c.g, c.r, s, err)
		}
	}
	if _, err := robustness.LargestS(graphtest.Named("ring", 6), 0, nil); err == nil {
		t.Error("r = 0 is accepted")
	}
}

// The largest graph that is searched.
func TestSearchLimit(t *testing.T) {
	rng := graphtest.Seeded(t, 13)
	const limit = robustness.SearchLimit
	for n, exact := range map[int]bool{64: true, 65: true, limit: true, limit + 1: false} {
		res := robustness.Find(family(rng, "circulant", n, "k", 2), nil)
		if res.Exact != exact || exact && res.R != 2 || res.Lower > 2 || res.Upper < 2 {
			t.Errorf("%d nodes: %+v", n, res)
		}
	}
}
