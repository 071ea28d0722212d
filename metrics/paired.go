package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
)

// McNemar is the two-sided exact test of whether two runs are right on the same
// questions equally often: the probability, if they were, of a split of the
// questions on which they differ at least as uneven as this one. It is 1 where
// they never differ.
func (p *Pairs) McNemar() float64 {
	few, n := min(p[0][1], p[1][0]), p[0][1]+p[1][0]
	if n == 0 {
		return 1
	}
	sum := 0.0
	for k := range few + 1 {
		sum += math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
	}
	return min(2*sum, 1)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// resamples is how often Bootstrap draws.
const resamples = 10_000

// Bootstrap is the mean difference of a score on the same questions, later less
// earlier, with the percentile interval of resampled questions; nil where there
// are none. The seed fixes it to the last bit.
func Bootstrap(differences []float64, seed uint64) *Rate {
	n := len(differences)
	if n == 0 {
		return nil
	}
	mean := func(at func(int) int) float64 {
		sum := 0.0
		for i := range n {
			sum += differences[at(i)]
		}
		return sum / float64(n)
	}
	chance := rand.New(rand.NewPCG(seed, 0xb007))
	means := make([]float64, resamples)
	for i := range means {
		means[i] = mean(func(int) int { return chance.IntN(n) })
	}
	slices.Sort(means)
	const tail = resamples / 40 // 2.5 %
	return &Rate{Value: mean(func(i int) int { return i }), N: n, Low: means[tail], High: means[resamples-1-tail]}
}
