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
func Wilson(p, n float64) (low, high float64) { return score(p, n, Z) }

// score returns the score interval of a share p of n observations for a quantile z.
func score(p, n, z float64) (low, high float64) {
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
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
	return edge(auc, 0, rejected), edge(auc, 1, rejected)
}

// edge returns the border, between a value inside an interval and one outside it, from which values are rejected.
func edge(inside, outside float64, rejected func(float64) bool) float64 {
	for range 60 {
		if middle := (inside + outside) / 2; rejected(middle) {
			outside = middle
		} else {
			inside = middle
		}
	}
	return inside
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
	return Student(n-1) * math.Sqrt((n-1)/n*squares)
}

// Student returns the two-sided 95 % quantile of Student's t distribution with df degrees of freedom, which need not
// be whole. df must be above 0; the quantile falls to Z as df grows.
func Student(df float64) float64 {
	x := mathext.InvRegIncBeta(df/2, 0.5, 0.05)
	return math.Sqrt(df * (1 - x) / x)
}

// MeanEstimate returns the mean of n independent observations with the given sum
// and sum of squares, with Student's interval. A single observation has no
// variance: its interval is as wide as its value. n must be at least 1.
func MeanEstimate(n int, sum, squares float64) Estimate {
	mean := sum / float64(n)
	half := math.Abs(mean)
	if n > 1 {
		variance := max(squares-float64(n)*mean*mean, 0) / float64(n-1)
		half = Student(float64(n-1)) * math.Sqrt(variance/float64(n))
	}
	return Estimate{mean, mean - half, mean + half}
}
