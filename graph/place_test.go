package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestPlacementsOfThePilotStudy(t *testing.T) {
	for _, c := range []struct {
		family, rule string
		count        int
		want         string
	}{
		{"star", "centre", 1, "[0]"},
		{"star", "leaf", 6, "[1 2 3 4 5 6]"},
		{"tree", "root", 1, "[0]"},
		{"tree", "internal", 2, "[1 2]"},
		{"tree", "leaf", 4, "[3 4 5 6]"},
		{"chain", "head", 2, "[0 1]"},
		{"chain", "middle", 3, "[2 3 4]"},
		{"chain", "tail", 2, "[5 6]"},
		{"layered", "top", 3, "[0 1 2]"},
		{"layered", "middle", 2, "[3 4]"},
		{"layered", "bottom", 2, "[5 6]"},
		{"star", "degree-high", 1, "[0]"},
		{"star", "degree-low", 6, "[1 2 3 4 5 6]"},
		{"chain", "central", 1, "[3]"},
		{"star", "worst", 1, "[0]"},
	} {
		got, err := Place(mustBuild(t, c.family, 7, nil), c.rule, c.count, 1, nil)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s %s: %v, %v, want %s", c.family, c.rule, got, err, c.want)
		}
	}
}

// Every rule gives count different nodes wherever it applies, the same for the same seed, and errors elsewhere.
func TestPlacementsEverywhere(t *testing.T) {
	for _, rule := range Placements() {
		for _, f := range []string{"star", "tree", "chain", "layered", "merg"} {
			b := mustBuild(t, f, 9, nil)
			for count := 0; count <= 9; count++ {
				got, err := Place(b, rule.Name, count, 5, nil)
				if fits := len(rule.Families) == 0 || slices.Contains(rule.Families, f); fits != (err == nil) {
					t.Fatalf("%s on %s: %v", rule.Name, f, err)
				} else if !fits {
					continue
				}
				again, _ := Place(b, rule.Name, count, 5, nil)
				if len(slices.Compact(slices.Clone(got))) != count || !slices.Equal(got, again) {
					t.Fatalf("%s on %s: %v, then %v", rule.Name, f, got, again)
				}
			}
		}
	}
	if _, err := Place(mustBuild(t, "star", 7, nil), "leafs", 1, 0, nil); err == nil || !strings.Contains(err.Error(), `"leaf"`) {
		t.Error(err)
	}
	if _, err := Place(mustBuild(t, "star", 7, nil), "random", 8, 0, nil); err == nil {
		t.Error("8 of 7 nodes placed")
	}
	if a, b := placed(t, 1), placed(t, 2); slices.Equal(a, b) {
		t.Error("the seed does not matter:", a)
	}
}

func placed(t *testing.T, seed uint64) []int {
	got, err := Place(mustBuild(t, "ring", 40, nil), "random", 10, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The exchange search finds what listing all sets finds.
func TestWorstPlacement(t *testing.T) {
	rng := seeded(t, 7)
	for range 20 {
		g := randomWith(rng, 9, false, .5)
		best := WorstPlacement(g, 2, 1, nil)
		found := exchange(g, []int{0, 1}, never)
		for range 6 {
			if h := exchange(g, rng.Perm(9)[:2], never); h.worse(found) {
				found = h
			}
		}
		if best.worse(found) || found.worse(best) {
			t.Errorf("listing %+v, exchange %+v", best, found)
		}
		for set := []int{0, 1}; nextCombination(set, 9); {
			if h := harm(g, set, never); h.worse(best) {
				t.Fatalf("%+v is worse than %+v", h, best)
			}
		}
	}
	// Two chains of cliques joined by one node: silencing it cuts the graph.
	bridge := mustNew(7, false, append(clique(clique(nil, 0, 4), 3, 7), [][2]int{}...))
	if h := WorstPlacement(bridge, 1, 1, nil); fmt.Sprint(h.Nodes) != "[3]" || h.Left != 0 {
		t.Errorf("%+v", h)
	}
}

// bruteBetweenness counts paths pair by pair.
func TestBetweenness(t *testing.T) {
	rng := seeded(t, 8)
	for k := range 60 {
		g := randomWith(rng, 7, k%2 == 0, .4)
		for i, got := range Betweenness(g) {
			want := 0.0
			for s := range 7 {
				for v := range 7 {
					if s == v || i == s || i == v {
						continue
					}
					if all, through := shortest(g, s, v, i); all > 0 {
						want += through / all
					}
				}
			}
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("node %d: %v, want %v: %s", i, got, want, describe(g))
			}
		}
	}
}

// shortest lists all shortest paths by widening the length, and counts those through a node.
func shortest(g Graph, s, v, by int) (all, through float64) {
	var walk func(at, left int, seen bool)
	for length := 1; length < g.N() && all == 0; length++ {
		walk = func(at, left int, seen bool) {
			seen = seen || at == by
			if left == 0 {
				if at == v {
					all++
					if seen {
						through++
					}
				}
				return
			}
			for _, j := range g.Out(at) {
				walk(j, left-1, seen)
			}
		}
		walk(s, length, false)
	}
	return all, through
}
