package probe

import "math"

// z is the normal quantile of a 95 % interval.
const z = 1.959963984540054

// wilson is the score interval of a share p of n.
func wilson(p, n float64) (low, high float64) {
	centre, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return math.Max(0, (centre-half)/scale), math.Min(1, (centre+half)/scale)
}

// newcombe is the score interval of an AUC from m right and n wrong answers: the
// values whose own standard error explains what was seen (Newcombe, Statistics in
// Medicine 25, 2006, method 5). Unlike the usual ones it has a width at 0 and 1.
func newcombe(auc, m, n float64) (low, high float64) {
	far := func(t float64) bool { // t is as far from the seen AUC as chance takes it in 5 % of cases
		half := (m + n) / 2
		variance := t * (1 - t) * (1 + (half-1)*((1-t)/(2-t)+t/(1+t))) / (m * n)
		return (t-auc)*(t-auc) > z*z*variance
	}
	return edge(auc, 0, far), edge(auc, 1, far)
}

// edge finds, from inside outwards, where far becomes true.
func edge(inside, outside float64, far func(float64) bool) float64 {
	for range 60 {
		mid := (inside + outside) / 2
		if far(mid) {
			outside = mid
		} else {
			inside = mid
		}
	}
	return inside
}
