package sac

import (
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
)

// The bound of asynchronous rounds rests on this: an r-robust graph in which every node loses at
// most K incoming edges is (r-K)-robust, because a node with r neighbours outside its set keeps r-K.
func TestRobustnessWithoutIncomingEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	tight := 0
	for range 300 {
		n := 5 + rng.IntN(4)
		var edges [][2]int
		for i := range n {
			for j := i + 1; j < n; j++ {
				if rng.Float64() < 0.8 {
					edges = append(edges, [2]int{i, j}, [2]int{j, i})
				}
			}
		}
		r := robustness.Find(graph.MustNew(n, true, edges), nil).R
		k := rng.IntN(max(r, 1))
		lost, rest := map[int]int{}, [][2]int{}
		for _, at := range rng.Perm(len(edges)) {
			if e := edges[at]; lost[e[1]] < k {
				lost[e[1]]++ // [u,v]: v hears u
			} else {
				rest = append(rest, e)
			}
		}
		left := robustness.Find(graph.MustNew(n, true, rest), nil).R
		if left < r-k {
			t.Fatalf("n=%d: r=%d, without %d incoming edges each %d: %v", n, r, k, left, edges)
		}
		if k > 0 && left == r-k {
			tight++
		}
	}
	if tight == 0 {
		t.Error("no graph loses as much as the lemma allows")
	}
}

// A claim about asynchronous rounds needs a robustness that is larger by F than the same claim about fixed rounds.
func TestAsynchronousGuarantee(t *testing.T) {
	p := New()
	p.Asynchronous = true
	for _, x := range []struct {
		f, r int
		want string
	}{{1, 2, ""}, {1, 3, Weak}, {1, 4, Strong}, {2, 4, ""}, {2, 5, Weak}, {2, 6, Weak}, {2, 7, Strong},
		{0, 1, Strong}} {
		name, note := p.Guarantee(x.f, x.r, true)
		if name != x.want || !strings.Contains(note, "synchronous") && x.want == "" {
			t.Errorf("F=%d, r=%d: %q, %s", x.f, x.r, name, note)
		}
	}
	if p.Exact = true; p.Validate() == nil {
		t.Error("exact: paper with asynchronous rounds")
	}
}
