package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap returns the percentile interval of a statistic of n observations, or
// of n clusters of observations: the statistic is computed on resamples, each of n
// indices below n drawn with replacement. The percentiles are further out than 2.5 and 97.5 for small n, by as much as
// Student's interval is wider than the normal one: Hesterberg, The American Statistician 69 (2015) 371–386, section
// 4.3. The sample slice is reused between calls. Resamples for which the statistic does not exist are left out; ok is
// false if it exists for none. The generator's seed determines the result exactly.
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
	z := expanded(n)
	return quantile(values, normal(-z)), quantile(values, normal(z)), true
}

// ClusterBootstrap returns the ratio of two sums over clusters, such as a mean over the questions' repeats, with the
// BCa interval of resampled clusters (Efron, Journal of the American Statistical Association 82 (1987) 171–185) at
// the percentiles of Bootstrap. The acceleration is that of the linearised ratio. Clusters are questions: whatever
// belongs to one question must be in one cluster. Above 10,000 clusters it is the interval of ClusterMean.Estimate,
// from which it does not differ there by what is printed. It is not ok without clusters or if the
// sizes add up to 0; with one cluster the interval is infinite.
func ClusterBootstrap(rng *rand.Rand, resamples int, sums []float64, sizes []int) (e Estimate, ok bool) {
	var mean ClusterMean
	for i, s := range sums {
		mean.Add(s, sizes[i])
	}
	n := len(sums)
	e, ok = mean.Estimate()
	if !ok || n < 2 || n > 10_000 {
		return e, ok
	}
	values, below := ratios(rng, resamples, sums, sizes), 0.0
	for _, v := range values {
		switch {
		case math.Abs(v-e.Value) < 1e-12:
			below += 0.5
		case v < e.Value:
			below++
		}
	}
	slices.Sort(values)
	squares, cubes := 0.0, 0.0
	for i, s := range sums {
		d := s - e.Value*float64(sizes[i])
		squares, cubes = squares+d*d, cubes+d*d*d
	}
	if squares < 1e-18 || below == 0 || below == float64(len(values)) {
		return e, true
	}
	bias, acceleration := math.Sqrt2*math.Erfinv(2*below/float64(len(values))-1), cubes/(6*math.Pow(squares, 1.5))
	at := func(z float64) float64 {
		w := bias + z
		return quantile(values, normal(bias+w/(1-acceleration*w)))
	}
	z := expanded(n)
	return Estimate{e.Value, at(-z), at(z)}, true
}

// ratios returns the ratio of sums of each resample of clusters, without those whose sizes add up to 0.
func ratios(rng *rand.Rand, resamples int, sums []float64, sizes []int) []float64 {
	type cluster struct{ sum, size float64 }
	clusters := make([]cluster, len(sums))
	for i, s := range sums {
		clusters[i] = cluster{s, float64(sizes[i])}
	}
	values, n := make([]float64, 0, resamples), uint64(len(sums))
	for range resamples {
		var sum, size float64
		for left := n; left > 0; left -= min(left, 2) {
			// Two indices of one draw: each is the upper part of the product of n and 32 bits, whose chance is off by
			// less than n/2³².
			bits := rng.Uint64()
			c := &clusters[bits>>32*n>>32]
			sum, size = sum+c.sum, size+c.size
			if left > 1 {
				c = &clusters[bits&math.MaxUint32*n>>32]
				sum, size = sum+c.sum, size+c.size
			}
		}
		if size > 0 {
			values = append(values, sum/size)
		}
	}
	return values
}

// expanded returns the normal quantile for percentiles of resamples of n observations.
func expanded(n int) float64 {
	if n < 2 {
		return Z
	}
	k := float64(n)
	return math.Sqrt(k/(k-1)) * Student(k-1)
}

// normal returns the standard normal distribution function.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// quantile returns the value at a share q of ascending values.
func quantile(ascending []float64, q float64) float64 {
	return ascending[int(math.Round(q*float64(len(ascending)-1)))]
}
