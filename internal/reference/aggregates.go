package reference

import (
	"cmp"
	"math"
	"slices"
)

// Total returns what the grades of one answer come to by an aggregate, with at most f hostile vectors: the sum of the
// five criteria of the aggregated vector, or the aggregated total. The right value may be so far within from it: the
// geometric median iterates, and of an even number of vectors on a line there are many. It is not ok if there are too
// few vectors, or the name is not known here.
func Total(name string, vectors [][]float64, f int) (total, within float64, ok bool) {
	const rounding = 1e-9
	n := len(vectors)
	if n <= 2*f {
		return 0, 0, false
	}
	switch name {
	case "trimmed-mean":
		return byCriterion(vectors, func(x []float64) float64 { return mean(x[f : n-f]) }), rounding, true
	case "coordinate-median":
		return byCriterion(vectors, middle), rounding, true
	case "median-total":
		totals := make([]float64, n)
		for i, v := range vectors {
			totals[i] = sum(v)
		}
		slices.Sort(totals)
		return middle(totals), rounding, true
	case "geometric-median":
		from, to := geometricMedians(vectors)
		return (sum(from) + sum(to)) / 2, 0.05 + math.Abs(sum(to)-sum(from))/2, true
	case "krum":
		if n < 2*f+3 {
			return 0, 0, false
		}
		v, near := krum(vectors, f)
		return sum(v), unsure(near), true
	case "bulyan":
		if n < 4*f+3 {
			return 0, 0, false
		}
		return bulyan(vectors, f)
	}
	return 0, 0, false
}

// byCriterion returns the sum of what a function makes of the ascending values of each criterion.
func byCriterion(vectors [][]float64, of func(ascending []float64) float64) (total float64) {
	for k := range vectors[0] {
		column := make([]float64, len(vectors))
		for i, v := range vectors {
			column[i] = v[k]
		}
		slices.Sort(column)
		total += of(column)
	}
	return total
}

func sum(all []float64) (s float64) {
	for _, x := range all {
		s += x
	}
	return s
}

// mean stays between the ends of the list, which rounding could leave.
func mean(ascending []float64) float64 {
	return max(ascending[0], min(ascending[len(ascending)-1], sum(ascending)/float64(len(ascending))))
}

// middle is the median of an ascending list: of an even number, the mean of the two in the middle.
func middle(ascending []float64) float64 {
	n := len(ascending)
	if n%2 == 1 {
		return ascending[n/2]
	}
	a, b := ascending[n/2-1], ascending[n/2]
	return a + (b-a)/2
}

// geometricMedians returns the points with the smallest sum of distances to all vectors (DecentLLMs, Eq. 1), from one
// to another. On a line these are the medians; elsewhere there is one. It is found by Weiszfeld's steps for distances
// that are a little too long near a vector, less and less, so that no vector stops them.
func geometricMedians(vectors [][]float64) (from, to []float64) {
	if on, direction := line(vectors); on {
		return medians(vectors, direction)
	}
	at, before, last := blurred(vectors)
	// Nearly on one line, or where the vectors pull on one of them with nearly as much as holds it, steps hardly get
	// shorter: then neither this point nor that of the code, which stops at steps of 1e-5 and after 1000 of them, is
	// where they would end. Then each point counts whose sum is almost the least.
	ratio := last / max(before, 1e-300)
	left := max(last, 1e-5) / max(1-ratio, 1e-9)
	if ratio > 0.99 {
		left = max(left, flatness(vectors, at, 0.01)/float64(len(at)))
	}
	from, to = slices.Clone(at), slices.Clone(at)
	for k := range at {
		from[k], to[k] = from[k]-left, to[k]+left
	}
	return from, to
}

// blurred is the point to which the steps lead, and how long the last two were.
func blurred(vectors [][]float64) (at []float64, before, last float64) {
	at = vectors[0]
	for step := range 2000 {
		blur := max(1e-9, math.Pow(0.98, float64(step)))
		next, weights := make([]float64, len(at)), 0.0
		for _, v := range vectors {
			w := 1 / math.Hypot(distance(at, v), blur)
			weights += w
			for k := range next {
				next[k] += w * v[k]
			}
		}
		for k := range next {
			next[k] /= weights
		}
		before, last, at = last, distance(next, at), next
	}
	return at, before, last
}

// Excess returns how much larger the sum of distances to all vectors is at a point than where it is least.
func Excess(vectors [][]float64, at []float64) float64 {
	sumAt := func(point []float64) (s float64) {
		for _, v := range vectors {
			s += distance(point, v)
		}
		return s
	}
	least, _, _ := blurred(vectors)
	best := sumAt(least)
	for _, v := range vectors {
		best = min(best, sumAt(v))
	}
	return sumAt(at) - best
}

// flatness returns how far a total may be from that of the point with the least sum of distances, at a point towards
// one of the vectors, or away from it, whose sum is by no more than slack larger.
func flatness(vectors [][]float64, least []float64, slack float64) (most float64) {
	sumAt := func(along []float64, far float64) (s float64) {
		for _, v := range vectors {
			square := 0.0
			for k := range v {
				d := least[k] + far*along[k] - v[k]
				square += d * d
			}
			s += math.Sqrt(square)
		}
		return s
	}
	for _, v := range vectors {
		along := make([]float64, len(v))
		for k := range v {
			along[k] = (v[k] - least[k]) / max(distance(v, least), 1e-9)
		}
		for _, sign := range []float64{1, -1} {
			far := 64.0 // no two grades are further apart
			for far > 1e-6 && sumAt(along, sign*far) > sumAt(along, 0)+slack {
				far *= 0.98
			}
			most = max(most, math.Abs(far*sum(along)))
		}
	}
	return most
}

// line reports whether all vectors are on one line, or too near it for steps to tell, and its direction, of length 1.
// That is zero if all are equal.
func line(vectors [][]float64) (on bool, direction []float64) {
	first := vectors[0]
	direction = make([]float64, len(first))
	far := slices.MaxFunc(vectors, func(a, b []float64) int {
		return cmp.Compare(distance(a, first), distance(b, first))
	})
	if d := distance(far, first); d > 0 { // that of a vector beside the first one would be chance
		for k := range direction {
			direction[k] = (far[k] - first[k]) / d
		}
	}
	for _, v := range vectors {
		along := place(v, first, direction)
		for k := range v {
			if math.Abs(first[k]+along*direction[k]-v[k]) > 1e-4 {
				return false, nil
			}
		}
	}
	return true, direction
}

// place returns how far a vector is from the first one in a direction.
func place(v, first, direction []float64) (along float64) {
	for k := range v {
		along += (v[k] - first[k]) * direction[k]
	}
	return along
}

// medians returns the one or the two vectors in the middle of a line.
func medians(vectors [][]float64, direction []float64) (from, to []float64) {
	sorted := slices.Clone(vectors)
	slices.SortFunc(sorted, func(a, b []float64) int {
		return cmp.Compare(place(a, vectors[0], direction), place(b, vectors[0], direction))
	})
	n := len(sorted)
	return sorted[(n-1)/2], sorted[n/2]
}

func distance(a, b []float64) (d float64) {
	for k := range a {
		d += (a[k] - b[k]) * (a[k] - b[k])
	}
	return math.Sqrt(d)
}
