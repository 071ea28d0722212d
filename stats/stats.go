// Package stats computes intervals, paired tests, resampled intervals and the
// quality of confidences.
//
// All intervals have a level of 95 %. Functions whose result does not exist for
// the given input (no data, only one class) say so with a bool; they never return
// 0 for missing data. Distributions are computed with gonum's incomplete beta
// function; its packages stat and distuv would bring all of LAPACK into programs.
//
// The package imports nothing of this module and is pure (rank 0): metrics, probe
// and robust compute with it, and report and lab print the results.
//
//	low, high := stats.Wilson(0.8, 10) // 8 of 10: 0.49 to 0.94
package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Z is the two-sided 95 % quantile of the standard normal distribution. It is a
// constant, because distuv.UnitNormal.Quantile is off by one unit in the last
// place and published figures were computed with this value.
const Z = 1.959963984540054

// Median returns the median of values in ascending order: of an even number, the
// mean of the middle two. It panics without values.
func Median(ascending []float64) float64 {
	n := len(ascending)
	return (ascending[(n-1)/2] + ascending[n/2]) / 2
}

// Wilson returns the score interval of a share p of n observations. n need not be
// whole: with clustered data it is the effective number of observations.
// Wilson (1927); Newcombe, Statistics in Medicine 17 (1998) 857–872, method 3.
func Wilson(p, n float64) (low, high float64) {
	middle := (p + Z*Z/(2*n)) / (1 + Z*Z/n)
	half := Z / (1 + Z*Z/n) * math.Sqrt(p*(1-p)/n+Z*Z/(4*n*n))
	low, high = max(0, middle-half), min(1, middle+half)
	if p == 0 { // exactly, whatever the rounding
		low = 0
	}
	if p == 1 {
		high = 1
	}
	return low, high
}

// Estimate is a figure with the ends of its interval.
type Estimate struct{ Value, Low, High float64 }

// Difference returns a − b of two independent estimates. Its interval is composed
// of theirs by the square-and-add method (Zou and Donner, Statistics in Medicine
// 27, 2008); for two Wilson intervals this is Newcombe's method 10.
func Difference(a, b Estimate) Estimate {
	d := a.Value - b.Value
	return Estimate{
		Value: d,
		Low:   d - math.Hypot(a.Value-a.Low, b.High-b.Value),
		High:  d + math.Hypot(a.High-a.Value, b.Value-b.Low),
	}
}

// PairedDifference returns the share of successes after minus the share before, of
// pairs counted by outcome: success both times, only before, only after, neither.
// The interval is Newcombe's for paired proportions (Statistics in Medicine 17,
// 1998, 2635–2650, method 10). There must be at least one pair.
func PairedDifference(both, onlyBefore, onlyAfter, neither int) Estimate {
	n := float64(both + onlyBefore + onlyAfter + neither)
	b, lost, won, none := float64(both), float64(onlyBefore), float64(onlyAfter), float64(neither)
	before, after := (b+lost)/n, (b+won)/n
	beforeLow, beforeHigh := Wilson(before, n)
	afterLow, afterHigh := Wilson(after, n)
	phi := 0.0 // continuity-corrected correlation
	if product := (b + lost) * (won + none) * (b + won) * (lost + none); product > 0 {
		top := b*none - lost*won
		if top > 0 {
			top = max(top-n/2, 0)
		}
		phi = top / math.Sqrt(product)
	}
	d := (won - lost) / n
	combine := func(x, y float64) float64 { return math.Sqrt(max(x*x-2*phi*x*y+y*y, 0)) }
	return Estimate{d, d - combine(after-afterLow, beforeHigh-before), d + combine(afterHigh-after, before-beforeLow)}
}

// WidestDifference returns the interval of a difference d of two shares that were
// measured on n paired observations and are not known themselves: the normal
// interval of shares ½±d/2, which have the largest variance.
func WidestDifference(d, n float64) (low, high float64) {
	half := Z * math.Sqrt(max(0.5-d*d/2, 0)/n) // p(1−p) + q(1−q) with p, q = ½±d/2
	return d - half, d + half
}

// AUCInterval returns the interval of an AUC that was measured on the given
// numbers of positive and negative cases: the values whose own standard error
// explains the measured one (Newcombe, Statistics in Medicine 25, 2006, method 5).
// Unlike most others it is not empty at 0 and 1. The numbers need not be whole.
func AUCInterval(auc, positive, negative float64) (low, high float64) {
	rejected := func(t float64) bool {
		half := (positive + negative) / 2
		variance := t * (1 - t) * (1 + (half-1)*((1-t)/(2-t)+t/(1+t))) / (positive * negative)
		return (t-auc)*(t-auc) > Z*Z*variance
	}
	edge := func(inside, outside float64) float64 {
		for range 60 {
			if middle := (inside + outside) / 2; rejected(middle) {
				outside = middle
			} else {
				inside = middle
			}
		}
		return inside
	}
	return edge(auc, 0), edge(auc, 1)
}

// McNemar returns the two-sided p-value of McNemar's exact test for b pairs that
// changed one way and c that changed the other way: the probability of a split at
// least as uneven if both ways are equally likely. It is 1 without changed pairs.
func McNemar(b, c int) float64 {
	if b+c == 0 {
		return 1
	}
	n, k := float64(b+c), float64(min(b, c))
	return min(1, 2*mathext.RegIncBeta(n-k, k+1, 0.5)) // twice the binomial probability of at most k of n
}

// McNemarSize returns how many pairs McNemar's test at 5 % needs to show a difference of two shares with a power of
// 80 %, where the share discordant of all pairs differ: Connor, "Sample size for testing differences in
// proportions for the paired-sample design", Biometrics 43 (1987), 207–211. It is 0 for no difference. The exact
// test needs a few more.
func McNemarSize(discordant, difference float64) int {
	if difference == 0 {
		return 0
	}
	const power = 0.8416212335729143 // 80 % quantile of the standard normal distribution
	d := difference * difference
	root := (Z*math.Sqrt(discordant) + power*math.Sqrt(max(discordant-d, 0))) / math.Abs(difference)
	return int(math.Ceil(root * root))
}

// Jackknife returns half the width of the interval of a figure, from its values
// when one group of the data is left out at a time (delete-a-group jackknife with
// Student's quantile). It needs at least two values.
func Jackknife(without []float64) float64 {
	n := float64(len(without))
	mean, squares := 0.0, 0.0
	for _, v := range without {
		mean += v / n
	}
	for _, v := range without {
		squares += (v - mean) * (v - mean)
	}
	standardError := math.Sqrt((n - 1) / n * squares)
	x := mathext.InvRegIncBeta((n-1)/2, 0.5, 2*(1-0.975))
	return math.Sqrt((n-1)*(1-x)/x) * standardError // the root is Student's quantile with n − 1 degrees of freedom
}

// ClusterMean adds up observations that come in clusters, such as the answers of
// all members to one question, and gives their mean an interval that allows for
// observations of one cluster being alike. The zero value is empty.
type ClusterMean struct {
	clusters, n, sum float64
	ss, sn, nn       float64 // sums over clusters of sum², sum·n and n²
}

// Add adds a cluster of n observations with the given sum. Empty clusters are ignored.
func (m *ClusterMean) Add(sum float64, n int) {
	if n <= 0 {
		return
	}
	k := float64(n)
	m.clusters, m.n, m.sum = m.clusters+1, m.n+k, m.sum+sum
	m.ss, m.sn, m.nn = m.ss+sum*sum, m.sn+sum*k, m.nn+k*k
}

// N returns the number of observations.
func (m *ClusterMean) N() int { return int(m.n) }

// Estimate returns the mean with the normal interval of a ratio of sums over
// clusters (linearised variance). It is not ok without observations, and the
// interval is infinite with a single cluster.
func (m *ClusterMean) Estimate() (e Estimate, ok bool) {
	if m.n == 0 {
		return e, false
	}
	mean, half := m.sum/m.n, math.Inf(1)
	if k := m.clusters; k > 1 {
		variance := (m.ss - 2*mean*m.sn + mean*mean*m.nn) / (m.n * m.n) * k / (k - 1)
		half = Z * math.Sqrt(max(variance, 0))
	}
	return Estimate{mean, mean - half, mean + half}, true
}

// MeanEstimate returns the mean of n independent observations with the given sum
// and sum of squares, with its normal interval. A single observation has no
// variance: its interval is as wide as its value. n must be at least 1.
func MeanEstimate(n int, sum, squares float64) Estimate {
	mean := sum / float64(n)
	half := math.Abs(mean)
	if n > 1 {
		variance := max(squares-float64(n)*mean*mean, 0) / float64(n-1)
		half = Z * math.Sqrt(variance/float64(n))
	}
	return Estimate{mean, mean - half, mean + half}
}
