package graph

// Result is what is known about the robustness of a graph.
type Result struct {
	R       int      // the largest r that is proven; the exact value when Exact
	Lower   int      // proven: the graph is Lower-robust
	Upper   int      // proven: the graph is not (Upper+1)-robust
	Exact   bool     // Lower == Upper
	Witness [2][]int // disjoint nonempty sets, neither (Upper+1)-reachable; nil for a single node, which has no such pair
}

// Robustness finds the largest r for which the graph is r-robust. A graph with one node counts as 1-robust, in line
// with ⌈n/2⌉ for complete graphs. When stop (nil: never) reports true, what is proven so far is returned with Exact
// false. Beyond SearchLimit nodes only the quick bounds are returned.
func Robustness(g Graph, stop func() bool) Result { return decide(g, 0, bestTactics, stop) }

// IsRobust decides whether the graph is r-robust, which is often far quicker than to find the largest r. Yes means
// res.Lower ≥ r, no means res.Upper < r with a witness; neither, that stop ended the search undecided.
func IsRobust(g Graph, r int, stop func() bool) (yes, known bool) {
	res := Decide(g, r, stop)
	return res.Lower >= r, res.Lower >= r || res.Upper < r
}

// Decide is IsRobust with everything learnt on the way.
func Decide(g Graph, r int, stop func() bool) Result { return decide(g, max(r, 1), bestTactics, stop) }

// SearchLimit is the largest graph that is searched.
const SearchLimit = pairSize

// decide looks for the largest r, or with a goal above 0 only whether that is reached.
func decide(g Graph, goal int, use tactics, stop func() bool) Result {
	if stop == nil {
		stop = func() bool { return false }
	}
	if g.n < 2 {
		return Result{R: g.n, Lower: g.n, Upper: g.n, Exact: true}
	}
	res := quickBounds(g)
	switch {
	case res.Lower == res.Upper || g.n > SearchLimit || goal > 0 && (res.Lower >= goal || res.Upper < goal):
		return res.settled()
	case g.n <= wordSize:
		return wordDecide(g, res, goal, use, stop)
	default:
		return pairDecide(g, res, goal, use, stop)
	}
}

func (r Result) settled() Result {
	r.R, r.Exact = r.Lower, r.Lower == r.Upper
	return r
}

// quickBounds are the conditions that cost next to nothing, with the pair that proves the upper one.
//
//	max r ≤ ⌈n/2⌉            two halves: nobody hears more than ⌈n/2⌉ nodes outside its own (LeBlanc 2013)
//	max r ≤ max(δ, 1)        the node of least in-degree δ alone, against all others, who miss at most that one
//	max r ≥ δ - ⌊n/2⌋ + 1    LeBlanc, property 5.23
//	max r ≥ 1                exactly when a rooted out-branching exists, else two sets hear nobody outside
func quickBounds(g Graph) Result {
	half, least := (g.n+1)/2, 0
	for i := range g.n {
		if g.InDegree(i) < g.InDegree(least) {
			least = i
		}
	}
	degree := g.InDegree(least)
	res := Result{Lower: max(0, degree-g.n/2+1), Upper: half}
	split := func(i int) bool { return i < half }
	if max(degree, 1) < half {
		res.Upper = max(degree, 1)
		split = func(i int) bool { return i == least }
	}
	for i := range g.n {
		side := 1
		if split(i) {
			side = 0
		}
		res.Witness[side] = append(res.Witness[side], i)
	}
	if res.Lower == 0 {
		if pair, separate := g.sources(); separate {
			return Result{Witness: pair}
		}
		res.Lower = 1
	}
	return res
}
