package reliability

import (
	"cmp"
	"slices"
)

// Unit is the weight 1 of a nat in the integers with which votes are counted, so that ties are exact.
const Unit = 1_000_000

// Cap limits weights so that no f of them outweigh the others: the sum of the f heaviest is less than that of the
// rest. With f ≥ 1 no limit is above the median weight, the lower one of two: half of the members weigh the same, so a
// member that earned its record by a lie weighs no more than half of the others do. It returns the largest such limit
// with the limited weights. Weights below MinWeight become MinWeight first.
// With n < 2f+1 weights there is no such limit; then all weights become MinWeight.
func Cap(weights []float64, f int) (capped []float64, limit float64) {
	whole := make([]int64, len(weights))
	for i, w := range weights {
		whole[i] = Whole(w)
	}
	limited, top := capWhole(whole, f)
	capped = make([]float64, len(weights))
	for i, w := range limited {
		capped[i] = float64(w) / Unit
	}
	return capped, float64(top) / Unit
}

// CapWhole is Cap for weights in integers, with which votes are counted.
func CapWhole(weights []float64, f int) []int64 {
	whole := make([]int64, len(weights))
	for i, w := range weights {
		whole[i] = Whole(w)
	}
	limited, _ := capWhole(whole, f)
	return limited
}

// maxWeight bounds a weight, so that sums of any council are exact.
const maxWeight = 1000

// Whole returns a weight in units of 1/Unit, between MinWeight and 1000.
func Whole(w float64) int64 {
	if !(w > MinWeight) { // NaN too
		w = MinWeight
	}
	return int64(min(w, maxWeight)*Unit + 0.5)
}

func capWhole(w []int64, f int) (capped []int64, limit int64) {
	if len(w) == 0 {
		return nil, 0
	}
	sorted := slices.Sorted(slices.Values(w))
	low, high := sorted[0], sorted[len(w)-1]
	if f > 0 {
		high = sorted[(len(w)-1)/2]
	}
	if !outweighed(w, low, f) {
		low = int64(MinWeight * Unit)
		high = low
	}
	// The f heaviest minus the rest is convex in the limit, and below 0 near 0, so the limits that do are an interval.
	for low < high {
		middle := low + (high-low+1)/2
		if outweighed(w, middle, f) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	capped = make([]int64, len(w))
	for i, x := range w {
		capped[i] = min(x, low)
	}
	return capped, low
}

// outweighed reports whether the f heaviest weights, limited, are less than the rest.
func outweighed(w []int64, limit int64, f int) bool {
	limited := make([]int64, len(w))
	for i, x := range w {
		limited[i] = min(x, limit)
	}
	slices.SortFunc(limited, func(a, b int64) int { return cmp.Compare(b, a) })
	lead := int64(0)
	for i, x := range limited {
		if i < f {
			lead += x
		} else {
			lead -= x
		}
	}
	return lead < 0
}
