package computed

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/core/script"
)

// defaultTrials are the trials of a cell of Fig. 8.
const defaultTrials = 2000

// collusion draws the five grades behind the totals of Table I, which the paper does not print, and adds
// colluders that give w9 the best grades and every other worker none.
type collusion struct {
	Aggregate string  `yaml:"aggregate" doc:"an aggregate of the catalogue, or mean"`
	Spread    float64 `yaml:"spread" doc:"standard deviation of the grades by criterion" range:"0:20"`
	Colluders int     `yaml:"colluders" doc:"evaluators that collude, beside the eight honest ones" range:"0:100"`
}

// graded has the grades of the honest evaluators for one worker, and the smallest and
// largest of their totals.
type graded struct {
	grades    [][]float64
	low, high float64
}

// Figures returns how often the decision is right, w9 wins, and a score is outside the honest range.
func (c *collusion) Figures(w *Work, t Trials) (how string, of Compute, err error) {
	s, err := readTableI()
	if err != nil {
		return "", nil, err
	}
	if _, err := scorer(c.Aggregate); err != nil {
		return "", nil, err
	}
	draw, trials := w.draw(s, c.Spread, t)
	return fmt.Sprintf("%d trials for each cell, seed %d, on the printed totals of Table I with random grades", trials,
		t.Seed), func(context.Context) (*report.Figures, error) { return c.run(s, draw()) }, nil
}

// draw returns the draws of a spread, which are the same for all aggregates and colluders, and their number.
func (w *Work) draw(s scores, spread float64, t Trials) (of func() [][]graded, trials int) {
	trials = defaultTrials
	if t.Number > 0 {
		trials = t.Number
	}
	trials *= max(t.Repeat, 1)
	key := fmt.Sprint(spread, trials, t.Seed)
	if w.drawn[key] == nil {
		w.drawn[key] = sync.OnceValue(func() [][]graded { return drawAll(s, spread, trials, t.Seed) })
	}
	return w.drawn[key], trials
}

// run returns the figures of the trials.
func (c *collusion) run(s scores, drawn [][]graded) (*report.Figures, error) {
	of, err := scorer(c.Aggregate)
	if err != nil {
		return nil, err
	}
	right, captures, outside := 0, 0, 0
	sums := make([]float64, len(s.byzantine))
	for _, workers := range drawn {
		best, winner, out := -1.0, 0, false
		for worker, w := range workers {
			byzantine := slices.Repeat([]float64{0}, 5)
			if worker == byzantineWorker {
				byzantine = slices.Repeat([]float64{20}, 5)
			}
			colluders := slices.Repeat([][]float64{byzantine}, c.Colluders)
			total, err := of(append(slices.Clip(w.grades), colluders...), c.Colluders)
			if err != nil {
				return nil, err
			}
			sums[worker] += total
			out = out || total < w.low-rounding || total > w.high+rounding
			if total > best {
				best, winner = total, worker
			}
		}
		right += one(s.right[winner])
		captures += one(winner == byzantineWorker)
		outside += one(out)
	}
	return &report.Figures{Rates: map[string]*metrics.Rate{
		"decision_accuracy": metrics.Share(right, len(drawn)), "capture": metrics.Share(captures, len(drawn)),
		"outside": metrics.Share(outside, len(drawn)),
	}, Lists: ranked(sums, len(drawn))}, nil
}

// ranked returns the mean score of every worker, and the workers from the highest to the lowest.
func ranked(sums []float64, trials int) map[string][]float64 {
	scores, ranking := make([]float64, len(sums)), make([]float64, len(sums))
	for i, sum := range sums {
		scores[i], ranking[i] = math.Round(10*sum/float64(trials))/10, float64(i)
	}
	slices.SortStableFunc(ranking, func(a, b float64) int { return cmp.Compare(sums[int(b)], sums[int(a)]) })
	return map[string][]float64{"scores": scores, "ranking": ranking}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scorer returns an aggregate of the catalogue, or the mean.
func scorer(name string) (func(vectors [][]float64, f int) (float64, error), error) {
	if name == "mean" {
		return func(vectors [][]float64, _ int) (sum float64, _ error) {
			for _, v := range vectors {
				sum += total(v)
			}
			return sum / float64(len(vectors)), nil
		}, nil
	}
	a, err := robust.Catalogue.Find(name)
	if err != nil {
		return nil, err
	}
	w := new(robust.Workspace)
	return func(vectors [][]float64, f int) (float64, error) {
		r, err := a.Of(w, vectors, f)
		return r.Total, err
	}, nil
}

// drawAll draws the grades of the honest evaluators in every trial.
func drawAll(s scores, spread float64, trials int, seed uint64) [][]graded {
	all := make([][]graded, trials)
	for k := range all {
		r := rand.New(rand.NewPCG(script.Derive(seed, uint64(spread)), uint64(k)))
		for worker := range s.byzantine {
			w := graded{low: 100}
			for _, e := range s.honest {
				v := split(r, e[worker], spread)
				w.grades = append(w.grades, v)
				w.low, w.high = min(w.low, total(v)), max(w.high, total(v))
			}
			all[k] = append(all[k], w)
		}
	}
	return all
}

// rounding is the tolerance for sums of grades.
const rounding = 1e-6

// split draws five grades in [0, 20] whose sum is sum, from a normal distribution around
// a fifth of it.
func split(r *rand.Rand, sum, spread float64) []float64 {
	v := make([]float64, 5)
	for j := range v {
		v[j] = min(max(sum/5+spread*r.NormFloat64(), 0), 20)
	}
	for rest := sum - total(v); rest > 1e-9 || rest < -1e-9; rest = sum - total(v) {
		for j := range v {
			v[j] = min(max(v[j]+rest/5, 0), 20)
		}
	}
	return v
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}
