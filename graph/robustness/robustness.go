package robustness

import (
	"math"

	"synod.dev/synod/graph"
)

// Result is what is known about the robustness of a graph.
type Result struct {
	R       int      // the largest r that is proven, the same as Lower; the exact value if Exact
	Lower   int      // proven: the graph is Lower-robust
	Upper   int      // proven: the graph is not (Upper+1)-robust
	Exact   bool     // Lower == Upper
	Witness [2][]int // two disjoint nonempty sets, neither (Upper+1)-reachable; nil for a graph with a single node
}

// SearchLimit is the largest number of nodes for which the search runs. For larger graphs only bounds are known.
const SearchLimit = largeSize

// Find finds the largest r for which the graph is r-robust. A graph with one node counts as
// 1-robust, in line with ⌈n/2⌉ for complete graphs. If stop (nil: never) returns true, or the graph
// has more than SearchLimit nodes, the result has the bounds that are proven so far.
func Find(g graph.Graph, stop func() bool) Result { return search(g, 0, bestTactics, stop) }

// Decide finds out whether the graph is r-robust, which is often much faster than Find: it is if Lower ≥ r, and is not
// if Upper < r, which the witness proves. Otherwise stop has ended the search undecided. An r below 1 counts as 1.
func Decide(g graph.Graph, r int, stop func() bool) Result {
	return search(g, max(r, 1), bestTactics, stop)
}

// IsRobust reports whether the graph is r-robust; known is false if stop has ended the search undecided.
func IsRobust(g graph.Graph, r int, stop func() bool) (yes, known bool) {
	res := Decide(g, r, stop)
	return res.Lower >= r, res.Lower >= r || res.Upper < r
}

// search looks for the largest r or, with a goal above 0, finds out whether the graph is goal-robust.
func search(g graph.Graph, goal int, use tactics, stop func() bool) Result {
	n := g.N()
	if n < 2 {
		return Result{R: n, Lower: n, Upper: n, Exact: true}
	}
	if stop == nil {
		stop = never
	}
	res := quickBounds(g)
	switch {
	case res.Lower == res.Upper || n > SearchLimit || goal > 0 && (res.Lower >= goal || res.Upper < goal):
		return res.settled()
	case n <= smallSize:
		return improve[small](g, res, goal, use, stop)
	default:
		return improve[large](g, res, goal, use, stop)
	}
}

func never() bool { return false }

func (r Result) settled() Result {
	r.R, r.Exact = r.Lower, r.Lower == r.Upper
	return r
}

// quickBounds returns the bounds that need no search, with the pair that proves the upper one.
//
//	max r ≤ ⌈n/2⌉            two halves: no node has more than ⌈n/2⌉ in-neighbours outside its own (LeBlanc 2013)
//	max r ≤ max(δ, 1)        the node of least in-degree δ alone, and all others, each of which misses only that one
//	max r ≥ δ - ⌊n/2⌋ + 1    LeBlanc's thesis, property 5.23
//	max r ≥ 1                exactly if there is a rooted out-branching; otherwise there are two closed sets
func quickBounds(g graph.Graph) Result {
	n := g.N()
	half, least := (n+1)/2, 0
	for i := range n {
		if g.InDegree(i) < g.InDegree(least) {
			least = i
		}
	}
	degree := g.InDegree(least)
	res := Result{Lower: max(0, degree-n/2+1), Upper: half}
	first := func(i int) bool { return i < half }
	if max(degree, 1) < half {
		res.Upper = max(degree, 1)
		first = func(i int) bool { return i == least }
	}
	for i := range n {
		side := 1
		if first(i) {
			side = 0
		}
		res.Witness[side] = append(res.Witness[side], i)
	}
	if res.Lower == 0 {
		if pair, found := g.ClosedSets(); found {
			return Result{Witness: pair}
		}
		res.Lower = 1
	}
	return res
}

// spectralBound returns the largest r with λ₂ > 2(r-1). An undirected graph with that property is r-robust. Proof: take
// two disjoint sets whose members have at most q = r-1 neighbours outside. For x = a on S1 and -b on S2,
// x'Lx = a²e₁ + b²e₂ + 2ab·e₁₂ ≤ 2(a²e₁ + b²e₂) ≤ 2q|x|², so the form is at most 2q|x|² on a plane, and λ₂ ≤ 2q.
// It returns 0 if λ₂ is not known.
func spectralBound(g graph.Graph) int {
	l2, err := graph.AlgebraicConnectivity(g)
	if err != nil {
		return 0
	}
	return int(math.Ceil(l2/2 - 1e-6)) // much more than the rounding error, so never one too many
}
