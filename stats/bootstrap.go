package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap returns the percentile interval of a statistic of n observations, or
// of n clusters of observations: the statistic is computed on resamples, each of n
// indices below n drawn with replacement. The sample slice is reused between calls.
// Resamples for which the statistic does not exist are left out; ok is false if
// it exists for none. The generator's seed determines the result exactly.
func Bootstrap(
	rng *rand.Rand, n, resamples int, statistic func(sample []int) (value float64, ok bool),
) (low, high float64, ok bool) {
	sample, values := make([]int, n), make([]float64, 0, resamples)
	for range resamples {
		for i := range sample {
			sample[i] = rng.IntN(n)
		}
		if v, ok := statistic(sample); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, 0, false
	}
	slices.Sort(values)
	at := func(q float64) float64 { return values[int(math.Round(q*float64(len(values)-1)))] }
	return at(0.025), at(0.975), true
}
