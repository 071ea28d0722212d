package design_test

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/design"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/internal/golden"
)

// A seed gives the same graph with the same claims in every version, because documents and manifests name it.
func TestSameDesigns(t *testing.T) {
	var s strings.Builder
	for n := 1; n <= 14; n++ {
		for r := 1; r <= (n+1)/2; r++ {
			d, err := design.Design(n, r, 3, 60, nil)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&s, "%d nodes r=%d: %s, %d edges, %d without a search, %d known to do, optimal %v\n  %s\n", n,
				r, d.Method, d.Graph.EdgeCount(), d.Plain, d.Best, d.Optimal, ends(d.Graph))
		}
	}
	golden.Compare(t, "testdata/designs.golden", s.String())
}

// The same for graphs that are made robust by adding edges.
func TestSameImprovements(t *testing.T) {
	var s strings.Builder
	for _, c := range []struct {
		family string
		n, r   int
	}{{"chain", 5, 2}, {"chain", 7, 3}, {"ring", 8, 2}, {"ring", 9, 3}, {"star", 8, 2}, {"star", 7, 4}, {"tree", 10, 2},
		{"circulant", 8, 4}, {"complete", 5, 3}, {"chain", 1, 1}} {
		for _, directed := range []bool{false, true} {
			params := map[string]any{}
			if directed {
				if c.family != "circulant" {
					continue
				}
				params["directed"] = true
			}
			b, err := topology.Build(c.family, c.n, params, 0)
			if err != nil {
				t.Fatal(err)
			}
			m, err := design.Improve(b.Graph, c.r, 5, nil)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&s, "%s %d r=%d directed %v: optimal %v, added %v\n", c.family, c.n, c.r, directed, m.Optimal,
				m.Added)
		}
	}
	golden.Compare(t, "testdata/improvements.golden", s.String())
}

func ends(g graph.Graph) string {
	return strings.NewReplacer("[", "", "]", "", " ", "-").Replace(fmt.Sprint(g.Edges()))
}

// The proven least numbers of edges beyond the table are those of the constructions.
func TestLeastEdgesBeyondTheTable(t *testing.T) {
	for n := 11; n <= 24; n++ {
		for _, r := range []int{1, (n + 1) / 2} {
			least, known := design.LeastEdges(n, r)
			want := n - 1
			if r > 1 {
				b, err := topology.Build("merg", n, nil, 0)
				if err != nil {
					t.Fatal(err)
				}
				want = b.EdgeCount()
			}
			if !known || least != want {
				t.Errorf("n = %d, r = %d: %d (%v), want %d", n, r, least, known, want)
			}
		}
	}
	for _, c := range [][2]int{{0, 1}, {0, 0}, {12, 2}, {13, 5}, {7, 0}, {7, 5}, {5, -1}} {
		if least, known := design.LeastEdges(c[0], c[1]); known {
			t.Errorf("n = %d, r = %d: %d is said to be proven", c[0], c[1], least)
		}
	}
}

// Bounds that no graph meets, and graphs that are too large, are errors that name the limits.
func TestDesignLimits(t *testing.T) {
	for _, c := range []struct {
		n, r int
		want string
	}{{0, 1, fmt.Sprintf("want 1 to %d", robustness.SearchLimit)}, {robustness.SearchLimit + 1, 1, "design of"},
		{7, 5, "want 1 to ⌈n/2⌉ = 4"}, {8, 0, "want 1 to ⌈n/2⌉ = 4"}} {
		if _, err := design.Design(c.n, c.r, 1, 1, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d nodes, r = %d: %v", c.n, c.r, err)
		}
	}
	if d, err := design.Design(robustness.SearchLimit, 1, 1, 1, nil); err != nil || !d.Optimal {
		t.Errorf("the largest: %+v, %v", d, err)
	}
	large, err := topology.Build("chain", robustness.SearchLimit+1, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := design.Improve(large.Graph, 1, 1, nil); err == nil || !strings.Contains(err.Error(), "want at most") {
		t.Errorf("a graph that is too large: %v", err)
	}
	small, err := topology.Build("chain", 7, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []int{0, 5} {
		_, err := design.Improve(small.Graph, r, 1, nil)
		if err == nil || !strings.Contains(err.Error(), "⌈n/2⌉ = 4") {
			t.Errorf("r = %d: %v", r, err)
		}
	}
}
