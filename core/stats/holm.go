package stats

import (
	"cmp"
	"slices"
)

// Holm returns p-values corrected for several comparisons by Holm's method: the chance that
// any true null hypothesis is rejected stays below the level at which they are compared.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	corrected, most := make([]float64, len(p)), 0.0
	for rank, i := range order {
		most = min(max(most, p[i]*float64(len(p)-rank)), 1)
		corrected[i] = most
	}
	return corrected
}
