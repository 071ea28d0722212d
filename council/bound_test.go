package council_test

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol/sac"
)

// I-SAC-0: before a run r is known, and F ≤ r-1 or the run is labelled.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		graph string
		n, f  int
		r     int
		want  string
	}{
		{"{family: complete}", 7, 3, 4, sac.Weak},
		{"{family: complete}", 7, 1, 4, sac.Strong},
		{"{family: merg}", 7, 3, 4, sac.Weak},
		{"{family: merg}", 8, 3, 4, sac.Weak},
		{"{family: merg}", 7, 4, 4, plan.None},
		{"{family: ring}", 7, 0, 1, sac.Strong},
		{"{family: ring}", 7, 1, 1, plan.None},
		{"{family: star}", 12, 1, 1, plan.None},
		{"{edges: [[0,1],[1,2],[0,2]]}", 3, 1, 2, sac.Weak},
	} {
		b := convene(t, fmt.Sprintf("graph: %s\nf: %d\nmodels: {d: {provider: simulated}}\nseats: [{id: a, model: d, "+
			"count: %d}]\n", c.graph, c.f, c.n)).Plan().Bound()
		if b.R != c.r || !b.Exact || b.Guarantee != c.want {
			t.Errorf("%s n=%d F=%d: r=%d (exact %v), %s; want r=%d, %s", c.graph, c.n, c.f, b.R, b.Exact, b.Guarantee,
				c.r, c.want)
		}
		if c.want == plan.None && !strings.Contains(b.Note, fmt.Sprintf("good for F=%d at most", max(0, c.r-1))) {
			t.Errorf("the largest F must be said: %q", b.Note)
		}
	}
}
