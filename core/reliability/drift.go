package reliability

import "math"

// FalseAlarms is the least mean number of answers between two false alarms of the test for a member whose answers do
// not change: the stated error rate of drift.
const FalseAlarms = 1000

// drift returns how many of a member's answers are before it changed, by the credits of its answers in order; 0: it did
// not change.
//
// It is the test of Shiryaev and Roberts: R is the sum, over all answers at which the change may have begun, of what a
// bet of 1 against the record since then has become, R ← (1+R)(1 + r − x), where x in [0,1] is the credit of an answer
// and r a lower limit of the record before it, one standard error below its mean. While the mean of x is r or more, R
// minus the number of answers is a supermartingale, so R reaches FalseAlarms after that many answers in the mean or
// later (Pollak, "Average run lengths of an optimal method of detecting a change in distribution", Annals of Statistics
// 15, 1987). After an alarm a new record begins.
func drift(credits []float64) (since int) {
	bets, right, n := 0.0, 1.0, 2.0
	for i, x := range credits {
		if i-since >= MinQuestions {
			mean := right / n
			if bets = (1 + bets) * (1 + max(0, mean-math.Sqrt(mean*(1-mean)/n)) - x); bets >= FalseAlarms {
				since, bets, right, n = i+1, 0, 1, 2
				continue
			}
		}
		right, n = right+x, n+1
	}
	return since
}
