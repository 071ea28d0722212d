package robustness

import (
	"fmt"
	"math/bits"
	"testing"

	"synod.dev/synod/graph"
)

// Exported for the tests in package robustness_test.
var (
	QuickBounds   = quickBounds
	SpectralBound = spectralBound
	BoundS        = boundS
	Orbits        = orbits
	Never         = never
)

// Settings are settings of the search that must all give the same result.
var Settings = map[string]tactics{
	"best":          bestTactics,
	"bound only":    {steps: 2},
	"one step":      {steps: 1, probing: true},
	"many steps":    {steps: 7, probing: true, orbits: true},
	"no upper side": {steps: 2, probing: true, orbits: true, lower: true},
}

// SearchWith runs the search with other settings.
func SearchWith(g graph.Graph, use tactics) Result { return search(g, 0, use, nil) }

// SearchLarge runs the search for more than 64 nodes on a graph of any size.
func SearchLarge(g graph.Graph, goal int) Result {
	return improve[large](g, quickBounds(g), goal, bestTactics, never)
}

// TraceSmall runs the search for up to 64 nodes and describes all that it leaves behind.
func TraceSmall(g graph.Graph, goal int, use tactics, stop func() bool) string {
	return traceOf[small](g, goal, use, stop)
}

// TraceLarge is TraceSmall with the search for more nodes.
func TraceLarge(g graph.Graph, goal int, use tactics, stop func() bool) string {
	return traceOf[large](g, goal, use, stop)
}

func traceOf[H high](g graph.Graph, goal int, use tactics, stop func() bool) string {
	d := driver[H]{searcher: newSearcher[H](g, use), g: g, res: quickBounds(g), stop: stop}
	d.improve(goal)
	return trace(d.res, d.scratch, d.weights, d.nodes, d.pollAt, d.stage, d.deep, d.stopped, d.ended,
		d.found[0].row()[0], d.found[1].row()[0])
}

func trace(of ...any) string { return fmt.Sprintf("%+v", of) }

// EarlyStages makes searches try other methods after a few nodes, and shortly, until the test ends.
func EarlyStages(t testing.TB) {
	before := stages
	t.Cleanup(func() { stages = before })
	for i := range stages {
		stages[i].nodes, stages[i].tries, stages[i].steps = 3<<i, 1+i/2, 3
	}
}

// Table finds the robustness of a graph of up to about 22 nodes with a table of all sets.
func Table(g graph.Graph) Result {
	t := newSubsetTable(masks(g))
	r, pair := t.maxR()
	return Result{Lower: r, Upper: r, Witness: [2][]int{graph.AppendBits(nil, pair[:1]),
		graph.AppendBits(nil, pair[1:])}}.settled()
}

// subsetTable holds, for every set S as a bit mask, the smallest Reach of a nonempty subset of S:
//
//	f(S) = max over i in S of |N_i \ S|      (Reach of S itself)
//	g(S) = min(f(S), min over i in S of g(S \ i))
//
// Then max r = min over S of max(g(S), g(V \ S)), because it is enough to look at the subsets of each bipartition.
type subsetTable struct {
	in   []uint64 // in-neighbours of each node
	best []uint8
}

// newSubsetTable takes 2^n bytes and n·2^n steps: 4 MiB and a tenth of a second at n=22.
func newSubsetTable(in []uint64) *subsetTable {
	t := &subsetTable{in: in, best: make([]uint8, 1<<len(in))}
	t.best[0] = ^uint8(0)
	for s := uint64(1); s < 1<<len(in); s++ {
		least := t.reach(s)
		for w := s; w != 0; w &= w - 1 {
			least = min(least, t.best[s&^(w&-w)])
		}
		t.best[s] = least
	}
	return t
}

func (t *subsetTable) reach(s uint64) (most uint8) {
	for w := s; w != 0; w &= w - 1 {
		most = max(most, uint8(bits.OnesCount64(t.in[bits.TrailingZeros64(w)]&^s)))
	}
	return most
}

// shrink returns a subset of s whose own Reach is the table's value for s.
func (t *subsetTable) shrink(s uint64) uint64 {
	for t.reach(s) != t.best[s] {
		for w := s; w != 0; w &= w - 1 {
			if smaller := s &^ (w & -w); t.best[smaller] == t.best[s] {
				s = smaller
				break
			}
		}
	}
	return s
}

// maxR returns the largest r and two sets that are not (r+1)-reachable. It needs at least two nodes.
func (t *subsetTable) maxR() (r int, pair [2]uint64) {
	all := uint64(len(t.best) - 1)
	best, at := ^uint8(0), uint64(0)
	for s := uint64(1); s < all; s += 2 { // sets with node 0; the complements of the others
		if worst := max(t.best[s], t.best[all&^s]); worst < best {
			best, at = worst, s
		}
	}
	return int(best), [2]uint64{t.shrink(at), t.shrink(all &^ at)}
}
