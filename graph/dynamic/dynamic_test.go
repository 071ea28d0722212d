package dynamic_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/graph/robustness"
)

func section(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func family(name string) map[string]any { return section("family", name) }

func find(g graph.Graph) dynamic.Known {
	res := robustness.Find(g, nil)
	return dynamic.Known{R: res.R, Exact: res.Exact}
}

// matchings is a schedule of three rounds on six nodes. In each, {0,1,2} and {3,4,5} are complete
// and every node has one neighbour on the other side. All three together are the complete graph.
func matchings() map[string]any {
	var list []any
	for shift := range 3 {
		edges := [][2]int{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}}
		for i := range 3 {
			edges = append(edges, [2]int{i, 3 + (i+shift)%3})
		}
		list = append(list, section("edges", edges))
	}
	return section("schedule", list)
}

func TestStaticGraph(t *testing.T) {
	for _, spec := range []map[string]any{family("ring"), section("family", "ring", "failing", 0.0),
		section("family", "ring", "failing", 0, "failing_seed", 3)} {
		g, err := dynamic.FromSpec(spec, 5, 6)
		if err != nil || g.Changes() || g.Topology != "ring" || g.At(3).EdgeCount() != 5 {
			t.Errorf("%v: %v %+v", spec, err, g)
		}
	}
}

func TestSchedule(t *testing.T) {
	g, err := dynamic.FromSpec(section("schedule", []any{family("ring"), family("star")}, "hold", 2), 5, 9)
	if err != nil {
		t.Fatal(err)
	}
	var edges []int
	for r := range 9 {
		edges = append(edges, g.At(r).EdgeCount())
	}
	if got := fmt.Sprint(edges); got != "[5 5 4 4 5 5 4 4 5]" {
		t.Errorf("edges by round: %s", got)
	}
	if g.EdgeCount() != 7 || !g.Changes() || g.Drawn || !g.Repeats(9) || g.Repeats(3) {
		t.Errorf("%d edges in all, %+v", g.EdgeCount(), g)
	}
	short, _ := dynamic.FromSpec(section("schedule", []any{family("ring"), family("star")}), 5, 1)
	if short.EdgeCount() != 5 {
		t.Errorf("a run of one round has the %d edges of its union", short.EdgeCount())
	}
}

// Edges fail with the given probability, in other rounds other ones, and the same for one seed.
func TestFailing(t *testing.T) {
	spec := section("family", "complete", "failing", 0.3, "failing_seed", 5)
	g, err := dynamic.FromSpec(spec, 20, 50)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := dynamic.FromSpec(spec, 20, 50)
	present, same := 0, 0
	for r := range 50 {
		if !g.At(r).Equal(again.At(r)) {
			t.Fatalf("round %d differs", r)
		}
		if r > 0 && g.At(r).Equal(g.At(r-1)) {
			same++
		}
		present += g.At(r).EdgeCount()
	}
	if share := float64(present) / (50 * 190); share < 0.67 || share > 0.73 || same > 0 {
		t.Errorf("%.3f of all edges are present; %d rounds are like the one before", share, same)
	}
	if g.Topology != "complete" || g.AtLeast != 0 || !g.Drawn || g.Repeats(50) {
		t.Errorf("%+v", g.Built)
	}
	spec["failing_seed"] = 6
	if other, _ := dynamic.FromSpec(spec, 20, 50); other.At(0).Equal(g.At(0)) {
		t.Error("two seeds give one graph")
	}
}

func TestMistakes(t *testing.T) {
	ring := []any{family("ring")}
	for _, c := range []struct {
		spec map[string]any
		says string
	}{
		{section("schedule", ring, "family", "star"), "family stands beside schedule"},
		{section("schedule", []any{}), "schedule lists no graph"},
		{section("schedule", "ring"), "schedule"},
		{section("schedule", []any{family("rong")}), `graph: schedule, graph 1: no graph family is called "rong"`},
		{section("schedule", []any{section("family", "ring", "failing", 0.1)}), `unknown parameter "failing"`},
		{section("schedule", []any{section("edges", []any{[]any{0, 9}})}), "unknown node 9"},
		{section("schedule", []any{section("edges", []any{[]any{0, 1}}, "directed", true)}), "is directed"},
		{section("schedule", ring, "hold", 0), "hold is 0"},
		{section("schedule", ring, "hold", 1.5), "hold is 1.5; it must be a whole number"},
		{section("family", "ring", "hold", 2), "hold is for the graphs of a schedule"},
		{section("family", "ring", "failing", 1.5), "failing is 1.5"},
		{section("family", "ring", "failing", -0.1), "failing is -0.1"},
		{section("family", "ring", "failing_seed", 1), "failing_seed is the seed of failing"},
		{section("family", "ring", "fialing", 0.2), `unknown parameter "fialing"`},
		{section("family", "random", "directed", true, "failing", 0.2), "directed"},
	} {
		_, err := dynamic.FromSpec(c.spec, 5, 3)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v; want %q", c.spec, err, c.says)
		}
	}
	if _, err := dynamic.FromSpec(section("family", "ring", "failing", 0.5), 2000, 1000); err == nil ||
		!strings.Contains(err.Error(), "at most 33 rounds") {
		t.Errorf("a graph that takes too much memory: %v", err)
	}
}

// Every round is only 1-robust, two in a row are 2-robust, and three 3-robust.
func TestRobustnessOverTime(t *testing.T) {
	g, err := dynamic.FromSpec(matchings(), 6, 20)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(g.ByRound(20, find)); got != "[{1 true} {1 true} {1 true}]" {
		t.Errorf("by round: %s", got)
	}
	for w, want := range map[int]int{1: 1, 2: 2, 3: 3, 7: 3} {
		all := g.Windows(w, 20, find)
		if least, _ := dynamic.Least(all); least.R != want || len(all) != 3 {
			t.Errorf("windows of %d rounds: %v; want %d", w, all, want)
		}
	}
	if all := g.Windows(3, 2, find); len(all) != 0 {
		t.Errorf("a run of two rounds has windows of three: %v", all)
	}
	if all := g.Windows(2, 2, find); len(all) != 1 {
		t.Errorf("a run of two rounds has %d windows of two", len(all))
	}
	least, at := dynamic.Least([]dynamic.Known{{R: 3}, {R: 2}, {R: 2, Exact: true}, {R: 4}})
	if least != (dynamic.Known{R: 2, Exact: true}) || at != 2 {
		t.Errorf("least: %v at %d", least, at)
	}
}

// The union of a window is at least as robust as each of its rounds, and longer windows are at
// least as robust as shorter ones; the windows agree with unions that are made edge by edge.
func TestWindowsAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n, rounds := 4+rng.IntN(4), 2+rng.IntN(4)
		spec := section("family", "complete", "failing", 0.6*rng.Float64(), "failing_seed", rng.IntN(1000))
		g, err := dynamic.FromSpec(spec, n, rounds)
		if err != nil {
			t.Fatal(err)
		}
		if !g.Changes() {
			continue
		}
		before := 0
		for w := 1; w <= rounds; w++ {
			all := g.Windows(w, rounds, find)
			for from, k := range all {
				seen := map[[2]int]bool{}
				for r := from; r < from+w; r++ {
					for _, e := range g.At(r).Edges() {
						seen[e] = true
					}
					if one := find(g.At(r)); k.R < one.R {
						t.Fatalf("%v: %d rounds from %d have r=%d, round %d has %d", spec, w, from, k.R, r, one.R)
					}
				}
				var edges [][2]int
				for e := range seen {
					edges = append(edges, e)
				}
				if want := find(graph.MustNew(n, false, edges)); want != k {
					t.Fatalf("%v: window %d from %d: %v; want %v", spec, w, from, k, want)
				}
			}
			least, _ := dynamic.Least(all)
			if least.R < before {
				t.Fatalf("%v: windows of %d rounds have r=%d, shorter ones %d", spec, w, least.R, before)
			}
			before = least.R
		}
	}
}

// Of graphs that are equally robust the first is named, an exact result before a bound; and a run that plays all graphs
// of a schedule has seen what repeats.
func TestLeastAndRepeats(t *testing.T) {
	for _, c := range []struct {
		all   []dynamic.Known
		at    int
		exact bool
	}{{[]dynamic.Known{{R: 2, Exact: true}, {R: 2, Exact: true}}, 0, true}, {[]dynamic.Known{{R: 2}, {R: 2}}, 0, false},
		{[]dynamic.Known{{R: 2}, {R: 2, Exact: true}, {R: 2}}, 1, true},
		{[]dynamic.Known{{R: 3, Exact: true}, {R: 2}}, 1, false}} {
		if least, at := dynamic.Least(c.all); at != c.at || least.Exact != c.exact {
			t.Errorf("%+v: %+v at %d", c.all, least, at)
		}
	}
	g := dynamic.Graph{Rounds: make([]graph.Graph, 3)}
	if g.Repeats(2) || !g.Repeats(3) || !g.Repeats(4) {
		t.Error("a schedule of three graphs repeats after three rounds")
	}
	if g.Drawn = true; g.Repeats(3) {
		t.Error("graphs that are drawn repeat")
	}
}
