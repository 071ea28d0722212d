package campaign

import (
	"slices"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/internal/reference"
)

var graphTrials = []ClaimTrial{
	{Claim: claimOf("GH-4"), try: widened},
	{Claim: claimOf("GH-5"), try: families},
}

// widened compares the robustness of a graph of more than 64 nodes with that of the small graph that it was made of.
func widened(t *ClaimTried) {
	small, n := 2+t.Rand.IntN(5), 60+t.Rand.IntN(14)
	twin, names := make(reference.Digraph, small), t.Rand.Perm(n)
	var edges [][2]int
	density := t.Rand.Float64()
	for u := range small {
		for v := range small {
			if u != v && t.Rand.Float64() < density {
				twin[v] |= 1 << u
				edges = append(edges, [2]int{names[u], names[v]})
			}
		}
	}
	want := twin.Robust()
	for v := small; v < n; v++ { // it hears r others or more, and none of the first ones hears it
		for _, u := range t.Rand.Perm(v)[:min(v, want+t.Rand.IntN(2))] {
			edges = append(edges, [2]int{names[u], names[v]})
		}
	}
	g, err := graph.New(n, true, edges)
	if !t.Need(err) {
		return
	}
	polls := 0
	got := robustness.Find(g, func() bool { polls++; return polls > 20 })
	t.Check(got.Lower <= want && want <= got.Upper && got.R == got.Lower && got.Exact == (got.Lower == got.Upper),
		"r is %+v, and by the graph of %d nodes in it %d: %v", got, small, want, edges)
	err = graph.VerifyWitness(g, got.Upper+1, got.Witness)
	t.Check(err == nil, "%v do not show that r is at most %d: %v: %v", got.Witness, got.Upper, err, edges)
	r := 1 + t.Rand.IntN(small)
	s, err := robustness.LargestS(g, r, func() bool { return true })
	t.Check(err == nil && (s.Lower < 1 || want >= r) && (s.Upper > 0 || want < r), "s is %+v with r = %d, and r is "+
		"%d: %v %v", s, r, want, edges, err)
	t.pairOf(g, r)
	if t.Rand.IntN(2) == 0 {
		t.symmetric()
	}
	halves(t)
	bounded(t)
	bipartite(t)
}

// bipartite compares the robustness of a complete bipartite graph of two equal parts with the half of a part: two sets
// with half of each part show that it is not more.
func bipartite(t *ClaimTried) {
	k, polls := 10+2*t.Rand.IntN(4), 0
	var edges [][2]int
	names := t.Rand.Perm(2 * k)
	for u := range k {
		for v := k; v < 2*k; v++ {
			edges = append(edges, [2]int{names[u], names[v]})
		}
	}
	got := robustness.Find(graph.MustNew(2*k, false, edges), func() bool { polls++; return polls > 48 })
	t.Check(got.Lower <= k/2 && k/2 <= got.Upper, "two parts of %d nodes have r %+v", k, got)
}

// bounded compares the bounds of a search for s that is stopped with what it finds if it is not. Of a graph that is too
// large for that, a longer search shows that it is not r-robust.
func bounded(t *ClaimTried) {
	g, edges := directedGraph(t, 17+t.Rand.IntN(2))
	atOnce := func() bool { return true }
	r := 1 + t.Rand.IntN(g.N()/2)
	exact, err := robustness.LargestS(g, r, nil)
	got, err1 := robustness.LargestS(g, r, atOnce)
	t.Check(err == nil && err1 == nil && exact.Exact && got.Lower <= exact.S && exact.S <= got.Upper &&
		got.S == got.Lower, "with r = %d s is %+v, and by a search that was stopped %+v: %v", r, exact, got, edges)
	g, edges = directedGraph(t, 30+t.Rand.IntN(10))
	polls := 0
	longer := robustness.Find(g, func() bool { polls++; return polls > 48 })
	r = longer.Upper + 1
	got, err = robustness.LargestS(g, r, atOnce)
	t.Check(err == nil && got.Lower == 0 && graph.VerifyWitness(g, r, longer.Witness) == nil, "with r = %d s is %+v, "+
		"and %v show that it is 0: %v, %v", r, got, longer.Witness, edges, err)
}

// directedGraph draws a graph.
func directedGraph(t *ClaimTried, n int) (g graph.Graph, edges [][2]int) {
	density := .2 + t.Rand.Float64()*.6
	for u := range n {
		for v := range n {
			if u != v && t.Rand.Float64() < density {
				edges = append(edges, [2]int{u, v})
			}
		}
	}
	return graph.MustNew(n, true, edges), edges
}

// halves compares what degrees say of s, in graphs too large for an exact search, with the definition: in a graph of
// two halves each node hears its half and some others, and in another one as many as must suffice.
func halves(t *ClaimTried) {
	n := robustness.RSLimit + 1 + t.Rand.IntN(16)
	names, few := t.Rand.Perm(n), t.Rand.IntN(n/2)
	r := 1 + t.Rand.IntN(few+2)
	var apart, enough [][2]int
	for v := range n {
		same, others := n/2, []int{}
		for u := range n {
			if (u < same) != (v < same) {
				others = append(others, u)
			} else if u != v {
				apart = append(apart, [2]int{names[u], names[v]})
			}
		}
		for _, k := range t.Rand.Perm(len(others))[:few] {
			apart = append(apart, [2]int{names[others[k]], names[v]})
		}
		for _, u := range t.Rand.Perm(n - 1)[:min(n-1, n/2+r-1)] {
			enough = append(enough, [2]int{names[(v+1+u)%n], names[v]})
		}
	}
	for i, edges := range [][][2]int{apart, enough} {
		g, err := graph.New(n, true, edges)
		if !t.Need(err) {
			return
		}
		s, err := robustness.LargestS(g, r, func() bool { return true })
		fine := i == 0 && (few >= r || s.Lower == 0) || i == 1 && (n/2+r > n || s.Lower == n)
		t.Check(err == nil && fine && s.Lower <= s.Upper && s.Upper <= n, "with r = %d s is %+v: %d nodes hear their "+
			"half and %d others, or all that must suffice: %v, %v", r, s, n, few, edges, err)
	}
}

// symmetric compares the robustness of a graph with many symmetries, for which the search takes long enough to use
// them, with that of the graph with more nodes, which has fewer symmetries.
func (t *ClaimTried) symmetric() {
	n := 28 + t.Rand.IntN(12)
	names, more := t.Rand.Perm(n), 1+t.Rand.IntN(3)
	var edges [][2]int
	for _, step := range t.Rand.Perm(n - 1)[:n/4+t.Rand.IntN(n/4)] {
		for u := range n {
			edges = append(edges, [2]int{names[u], names[(u+step+1)%n]})
		}
	}
	g, err := graph.New(n, true, edges)
	if !t.Need(err) {
		return
	}
	polls := 0
	stop := func() bool { polls++; return polls%48 == 0 }
	got := robustness.Find(g, stop)
	for v := n; v < n+more; v++ {
		for _, u := range t.Rand.Perm(v)[:got.Upper+t.Rand.IntN(2)] {
			edges = append(edges, [2]int{u, v})
		}
	}
	wide, err := graph.New(n+more, true, edges)
	if !t.Need(err) {
		return
	}
	r := max(1, got.Lower+t.Rand.IntN(3)-1)
	for i, res := range []robustness.Result{got, robustness.Decide(g, r, stop), robustness.Find(wide, stop)} {
		t.Check(res.Lower <= got.Upper && got.Lower <= res.Upper && res.Lower <= res.Upper, "r is %+v, and by search "+
			"%d, with the goal %d, %+v: %v", got, i, r, res, edges)
		err := graph.VerifyWitness([]graph.Graph{g, g, wide}[i], res.Upper+1, res.Witness)
		t.Check(err == nil, "%v do not show that r is at most %d: %v: %v", res.Witness, res.Upper, err, edges)
	}
}

// pairOf counts what two sets prove, which may have unknown nodes and nodes twice.
func (t *ClaimTried) pairOf(g graph.Graph, r int) {
	var pair [2][]int
	seen := make([]bool, g.N())
	valid, reaching, bounds := true, 0, true
	for k := range pair {
		count := 1 + t.Rand.IntN(4)
		for range count {
			v := t.Rand.IntN(g.N())
			if t.Rand.IntN(40) == 0 {
				v = []int{-1, g.N(), g.N() + 64}[t.Rand.IntN(3)]
			}
			if valid = valid && v >= 0 && v < g.N() && !seen[v]; valid {
				seen[v] = true
			}
			pair[k] = append(pair[k], v)
		}
	}
	for _, set := range pair {
		reached := 0
		for _, v := range set {
			outside := 0
			for u := range g.N() {
				if valid && g.HasEdge(u, v) && !slices.Contains(set, u) {
					outside++
				}
			}
			if outside >= r {
				reached++
			}
		}
		reaching, bounds = reaching+reached, bounds && reached < len(set)
	}
	got, shows, err := robustness.CountReaching(g, r, pair)
	t.Check((err == nil) == valid, "%v: %v", pair, err)
	t.Check(!valid || err != nil || got == reaching && shows == bounds, "%v reach %d of %d with r = %d, %v; by "+
		"definition %d, %v", pair, got, len(pair[0])+len(pair[1]), r, shows, reaching, bounds)
}
