package stats

import "math"

// shifts are by how much the log-odds of forecasts may be too high, as Overconfidence bets: of a forecast of 0.9 the
// answers are right in 0.85, 0.77, 0.55 or 0.31.
var shifts = []float64{0.5, 1, 2, 3}

// Overconfidence returns the evidence that answers are right less often than their forecasts say: the mean, over some
// alternatives whose log-odds are lower, of how many times more probable the alternative makes what came out. The
// order of the forecasts does not matter.
//
// It is an e-value. If each answer is right at least as often as was forecast before it was graded, the probability
// that the evidence ever reaches 1/α, while forecasts are added, is at most α (Ville's inequality; Shafer, "Testing by
// betting", Journal of the Royal Statistical Society A 184, 2021). So one may look after every forecast. It is 1
// without forecasts.
func Overconfidence(list []Forecast) float64 {
	sum := 0.0
	for _, shift := range shifts {
		evidence := 0.0
		for _, f := range list {
			evidence -= math.Log(1 - f.Confidence + f.Confidence*math.Exp(-shift))
			if f.Right {
				evidence -= shift
			}
		}
		sum += math.Exp(evidence)
	}
	return sum / float64(len(shifts))
}
