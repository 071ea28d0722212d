package stats

import "math"

// Term is an estimate with its weight in a sum.
type Term struct {
	Weight float64
	Estimate
}

// Combine returns a weighted sum of estimates, such as the difference of two means. Its interval is composed of theirs
// and of their correlations by the method of variance estimates recovery: Zou, Statistics in Medicine 26 (2007)
// 3819–3833; Zou and Donner, Statistics in Medicine 27 (2008) 1693–1702. With two terms that are not correlated it is
// Difference. alike returns the correlation of two estimates, from −1 to 1.
func Combine(terms []Term, alike func(i, j int) float64) Estimate {
	var e Estimate
	low, high := make([]float64, len(terms)), make([]float64, len(terms)) // signed like the weights
	for i, t := range terms {
		e.Value += t.Weight * t.Value
		low[i], high[i] = t.Weight*(t.Value-t.Low), t.Weight*(t.High-t.Value)
		if t.Weight < 0 {
			low[i], high[i] = high[i], low[i]
		}
	}
	e.Low, e.High = e.Value-root(low, alike), e.Value+root(high, alike)
	return e
}

// Cautious returns a correlation that was measured on n pairs, moved toward 0 so that intervals which rest on it are
// not too narrow. It is the correction that Newcombe, Statistics in Medicine 17 (1998) 2635–2650, method 10, makes for
// two shares, at shares of one half.
func Cautious(correlation float64, n int) float64 {
	return math.Copysign(max(math.Abs(correlation)-2/float64(n), 0), correlation)
}

// root returns the length of a sum of correlated deviations.
func root(deviations []float64, alike func(i, j int) float64) float64 {
	sum := 0.0
	for i, a := range deviations {
		sum += a * a
		for j := range i {
			sum += 2 * alike(i, j) * a * deviations[j]
		}
	}
	return math.Sqrt(max(sum, 0))
}

// PowerAbove returns the chance that the lower end of a 95 % interval is above a bound, if the estimate has a normal
// distribution around the given effect with the given standard error.
func PowerAbove(effect, bound, standardError float64) float64 {
	if standardError <= 0 {
		if effect > bound {
			return 1
		}
		return 0
	}
	return normal((effect-bound)/standardError - Z)
}
