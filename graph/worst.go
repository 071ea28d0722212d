package graph

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Harm is what a set of liars does to a graph, in the order in which it counts.
type Harm struct {
	Nodes []int // the liars, ascending
	// Left is the robustness of the graph when they fall silent.
	Left int
	// Local is the smallest F for which they are F-local: how many of them one of the others hears at most.
	Local int
	// Heard is how many pairs of a liar and another who hears it there are.
	Heard int
}

// harm measures a set.
func harm(g Graph, nodes []int, stop func() bool) Harm {
	h := Harm{Nodes: slices.Sorted(slices.Values(nodes))}
	h.Local, _ = Locality(g, nodes)
	for _, i := range nodes {
		for _, j := range g.Out(i) {
			if !slices.Contains(nodes, j) {
				h.Heard++
			}
		}
	}
	if rest, _, err := Without(g, nodes); err == nil {
		h.Left = Robustness(rest, stop).R
	}
	return h
}

// worse orders harms: less robustness left, then heard by more at once, then heard more in all.
func (h Harm) worse(than Harm) bool {
	return cmp.Or(cmp.Compare(than.Left, h.Left), cmp.Compare(h.Local, than.Local), cmp.Compare(h.Heard, than.Heard)) > 0
}

// worstListing is how many sets are all listed; more are searched by exchange.
const worstListing = 5000

// WorstPlacement finds count nodes whose falling silent leaves the least robustness; among those, that the others hear
// most. It lists all sets where they are few, and otherwise exchanges nodes one by one from several starts. When stop
// says so it returns the worst set seen.
func WorstPlacement(g Graph, count int, seed uint64, stop func() bool) Harm {
	if stop == nil {
		stop = func() bool { return false }
	}
	first := make([]int, count)
	for i := range first {
		first[i] = i
	}
	worst := harm(g, first, stop)
	if combinations(g.n, count) <= worstListing {
		for set := slices.Clone(first); nextCombination(set, g.n) && !stop(); {
			if h := harm(g, set, stop); h.worse(worst) {
				worst = h
			}
		}
		return worst
	}
	rng := rand.New(rand.NewPCG(seed, 0x776f727374))
	for range 4 {
		if h := exchange(g, rng.Perm(g.n)[:count], stop); h.worse(worst) {
			worst = h
		}
	}
	return worst
}

// exchange swaps a member for an outsider as long as that does more harm.
func exchange(g Graph, set []int, stop func() bool) Harm {
	worst := harm(g, set, stop)
	for again := true; again && !stop(); {
		again = false
		for k := range set {
			for j := range g.n {
				if slices.Contains(set, j) || stop() {
					continue
				}
				swapped := slices.Clone(set)
				swapped[k] = j
				if h := harm(g, swapped, stop); h.worse(worst) {
					worst, set, again = h, swapped, true
				}
			}
		}
	}
	return worst
}

// combinations is n over k, cut at a large number.
func combinations(n, k int) int {
	c := 1
	for i := range k {
		if c = c * (n - i) / (i + 1); c > 1<<40 {
			return 1 << 40
		}
	}
	return c
}

// nextCombination steps through the ascending sets of numbers below n.
func nextCombination(set []int, n int) bool {
	for k := len(set) - 1; k >= 0; k-- {
		if set[k] < n-len(set)+k {
			set[k]++
			for j := k + 1; j < len(set); j++ {
				set[j] = set[j-1] + 1
			}
			return true
		}
	}
	return false
}

// Betweenness is, for each node, the number of shortest paths between two others that lead through it, each pair's paths
// counting 1 in all (Freeman 1977; Brandes' accumulation). A pair counts in both directions.
func Betweenness(g Graph) []float64 {
	score := make([]float64, g.n)
	out := make([][]int, g.n)
	for i := range out {
		out[i] = g.Out(i)
	}
	for s := range g.n {
		distance, paths, share := make([]int, g.n), make([]float64, g.n), make([]float64, g.n)
		distance[s], paths[s] = 1, 1
		queue := []int{s}
		for k := 0; k < len(queue); k++ {
			i := queue[k]
			for _, j := range out[i] {
				if distance[j] == 0 {
					distance[j] = distance[i] + 1
					queue = append(queue, j)
				}
				if distance[j] == distance[i]+1 {
					paths[j] += paths[i]
				}
			}
		}
		for k := len(queue) - 1; k > 0; k-- {
			i := queue[k]
			for _, j := range out[i] {
				if distance[j] == distance[i]+1 {
					share[i] += paths[i] / paths[j] * (1 + share[j])
				}
			}
			score[i] += share[i]
		}
	}
	return score
}
