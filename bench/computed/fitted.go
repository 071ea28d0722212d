package computed

import (
	"context"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// fitted computes the robust scores of Table I by the geometric median (Eq. 1) over grades that are drawn around a
// fifth of each total. The paper prints the scores and not the grades, so the spread of the draws can only be fitted to
// the scores.
type fitted struct {
	Spread float64 `yaml:"spread" doc:"standard deviation of the grades by criterion" range:"0:20"`
}

// Figures returns the score of every worker, the mean over the trials, with the range of 95 % of the trials; the
// ranking; the root of the mean square distance to the paper's scores; and how often the decision is right.
func (c *fitted) Figures(w *Work, t Trials) (how string, of Compute, err error) {
	s, err := readTableI()
	if err != nil {
		return "", nil, err
	}
	draw, trials := w.draw(s, c.Spread, t)
	return fmt.Sprintf("%d trials, seed %d, on the printed totals of Table I with grades of spread %v", trials, t.Seed,
		c.Spread), func(context.Context) (*report.Figures, error) { return c.run(s, draw()) }, nil
}

func (c *fitted) run(s scores, drawn [][]graded) (*report.Figures, error) {
	of, err := scorer("geometric-median")
	if err != nil {
		return nil, err
	}
	right := 0
	by := make([][]float64, len(s.byzantine)) // scores by worker and trial
	for _, workers := range drawn {
		best, winner := -1.0, 0
		for worker, w := range workers {
			e8 := slices.Repeat([]float64{s.byzantine[worker] / 5}, 5)
			score, err := of(append(slices.Clip(w.grades), e8), 1)
			if err != nil {
				return nil, err
			}
			by[worker] = append(by[worker], score)
			if score > best {
				best, winner = score, worker
			}
		}
		right += one(s.right[winner])
	}
	f := &report.Figures{Rates: map[string]*metrics.Rate{"decision_accuracy": metrics.Share(right, len(drawn))}}
	sums, square := make([]float64, len(by)), 0.0
	for worker, scores := range by {
		sums[worker] = total(scores)
		mean := sums[worker] / float64(len(scores))
		slices.Sort(scores)
		f.Rates[fmt.Sprintf("score_w%d", worker)] = &metrics.Rate{Value: mean, N: len(scores), Count: true,
			Low: scores[len(scores)/40], High: scores[len(scores)-1-len(scores)/40]}
		square += (mean - s.robust[worker]) * (mean - s.robust[worker])
	}
	distance := math.Sqrt(square / float64(len(by)))
	f.Rates["distance"] = &metrics.Rate{Value: distance, N: len(drawn), Low: distance, High: distance, Count: true}
	f.Lists = ranked(sums, len(drawn))
	return f, nil
}
