package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// MaxSize is the largest number of questions that PairedSize and UnpairedSize look for.
const MaxSize = 1_000_000

// PairedPower returns the probability that McNemar's exact test of n pairs rejects at the level alpha, where a share
// won of pairs changes to success and a share lost from it. It is exact: the sum over the numbers of changed pairs.
// Duffy, Biometrics 40 (1984) 1005–1015.
func PairedPower(n int, lost, won, alpha float64) float64 {
	changed := lost + won
	if changed <= 0 {
		return 0
	}
	power := 0.0
	first, last := window(n, changed)
	for m := first; m <= last; m++ {
		k := critical(m, alpha)
		if k < 0 {
			continue
		}
		p := won / changed
		rejected := binomialAtMost(k, m, p) + binomialAtMost(k, m, 1-p)
		power += binomial(m, n, changed) * min(rejected, 1)
	}
	return min(power, 1)
}

// critical returns the largest k for which McNemar's test rejects k of m changed pairs one way; -1 if there is none.
func critical(m int, alpha float64) int {
	low, high := -1, m/2+1 // the test rejects low, and not high
	for high-low > 1 {
		if middle := (low + high) / 2; McNemar(middle, m-middle) <= alpha {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// UnpairedPower returns the probability that the chi-squared test without correction of two shares, each measured on n
// independent observations, rejects at the level alpha. It is exact: the sum over all pairs of counts that are
// likelier than 10⁻¹⁴.
func UnpairedPower(n int, p, q, alpha float64) float64 {
	z, power := normalQuantile(1-alpha/2), 0.0
	firstA, lastA := window(n, p)
	firstB, lastB := window(n, q)
	chances := make([]float64, lastB-firstB+1)
	for b := range chances {
		chances[b] = binomial(firstB+b, n, q)
	}
	for a := firstA; a <= lastA; a++ {
		rejected := 0.0
		for b := firstB; b <= lastB; b++ {
			sum, d := float64(a+b), float64(a-b)
			// (p̂−q̂)² > z²·2·p̄(1−p̄)/n with p̄ = sum/2n
			if d*d > z*z*sum*(1-sum/float64(2*n)) {
				rejected += chances[b-firstB]
			}
		}
		power += binomial(a, n, p) * rejected
	}
	return min(power, 1)
}

// PairedSize returns how many pairs McNemar's exact test at the level alpha needs to reject with the given power; ok is
// false above MaxSize.
func PairedSize(lost, won, alpha, power float64) (n int, ok bool) {
	return size(power, func(n int) float64 { return PairedPower(n, lost, won, alpha) })
}

// UnpairedSize returns how many observations of each of two shares the chi-squared test at the level alpha needs to
// reject with the given power; ok is false above MaxSize.
func UnpairedSize(p, q, alpha, power float64) (n int, ok bool) {
	return size(power, func(n int) float64 { return UnpairedPower(n, p, q, alpha) })
}

// size returns the smallest n with the given power, by bisection. Exact tests have a power that falls now and
// then as n grows, by less than a point, so a few smaller n may have it too.
func size(power float64, of func(n int) float64) (int, bool) {
	low, high := 1, 2 // of(low) is too little
	for of(high) < power {
		if low, high = high, 2*high; high > MaxSize {
			return 0, false
		}
	}
	for high-low > 1 {
		if middle := (low + high) / 2; of(middle) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return high, true
}

// Detectable returns the smallest difference in (0, most] that a test shows with the given power, to a hundredth of a
// point; ok is false if there is none. of must grow with the difference.
func Detectable(power, most float64, of func(difference float64) float64) (difference float64, ok bool) {
	if of(most) < power {
		return 0, false
	}
	low, high := 0.0, most
	for high-low > 1e-4 {
		if middle := (low + high) / 2; of(middle) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return high, true
}

// window returns the counts of n trials outside which the binomial distribution has no weight that matters: eight
// standard deviations around the mean and a few more for small means.
func window(n int, p float64) (first, last int) {
	mean, half := float64(n)*p, 8*math.Sqrt(float64(n)*p*(1-p))+20
	return max(0, int(mean-half)), min(n, int(mean+half))
}

// binomial returns the probability of k successes of n.
func binomial(k, n int, p float64) float64 {
	if p <= 0 || p >= 1 {
		if (p <= 0) == (k == 0) && (p >= 1) == (k == n) {
			return 1
		}
		return 0
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// binomialAtMost returns the probability of at most k successes of n.
func binomialAtMost(k, n int, p float64) float64 {
	switch {
	case k >= n || p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

// normalQuantile returns the quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
