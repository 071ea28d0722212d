package reference

import (
	"cmp"
	"math"
	"slices"
)

// unsure is how far a total may be off: not at all beyond rounding, unless two vectors are too near to one another to
// tell which is chosen.
func unsure(near bool) float64 {
	if near {
		return math.Inf(1)
	}
	return 1e-9
}

// krum returns the vector with the least sum of squared distances to its n-f-2 nearest others (Blanchard et al. 2017);
// of equal ones the first in the order of their entries. Fewer than f+3 vectors look at one other. near reports that
// two
// sums differ by rounding at most, and not their vectors.
func krum(vectors [][]float64, f int) (best []float64, near bool) {
	sorted := slices.Clone(vectors)
	slices.SortFunc(sorted, slices.Compare[[]float64])
	least, exact := math.Inf(1), quarters(vectors)
	for i, v := range sorted {
		s := score(sorted, i, f)
		if best != nil && !exact && math.Abs(s-least) < 1e-5 {
			near = near || !slices.Equal(v, best)
		}
		if s < least {
			best, least = v, s
		}
	}
	return best, near
}

// quarters reports whether all entries are multiples of one quarter, with which sums of squares are exact.
func quarters(vectors [][]float64) bool {
	for _, v := range vectors {
		for _, x := range v {
			if 4*x != math.Trunc(4*x) {
				return false
			}
		}
	}
	return true
}

// score is the sum of the squared distances of a vector to its nearest others.
func score(vectors [][]float64, i, f int) float64 {
	var squares []float64
	for k, o := range vectors {
		if k != i {
			square := 0.0
			for j := range o {
				square += (vectors[i][j] - o[j]) * (vectors[i][j] - o[j])
			}
			squares = append(squares, square)
		}
	}
	slices.Sort(squares)
	return sum(squares[:min(len(squares), max(1, len(vectors)-f-2))])
}

// bulyan chooses n-2f vectors, one after another by krum among those that are left, and takes, of each entry, the mean
// of the n-4f chosen values that are nearest to their median (El Mhamdi et al. 2018); of two equally near ones the
// lower.
func bulyan(vectors [][]float64, f int) (total, within float64, ok bool) {
	n, left := len(vectors), slices.Clone(vectors)
	var chosen [][]float64
	for range n - 2*f {
		v, near := krum(left, f)
		if near {
			return 0, math.Inf(1), true
		}
		i := slices.IndexFunc(left, func(o []float64) bool { return slices.Equal(o, v) })
		left, chosen = slices.Delete(left, i, i+1), append(chosen, v)
	}
	return byCriterion(chosen, func(ascending []float64) float64 {
		m := middle(ascending)
		near := slices.Clone(ascending)
		slices.SortStableFunc(near, func(a, b float64) int { return cmp.Compare(math.Abs(a-m), math.Abs(b-m)) })
		near = near[:n-4*f]
		slices.Sort(near)
		return mean(near)
	}), 1e-9, true
}
