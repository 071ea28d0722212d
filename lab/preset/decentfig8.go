package preset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
	"synod.dev/synod/robust"
	"synod.dev/synod/script"
)

const fig8About = `The eight honest evaluators of Table I and f colluders, f = 0 … 7, which give the
Byzantine worker w9 the best grades and every other worker none. The paper does not print
the five grades behind a total, but their spread determines what the geometric median
does (finding F6). So each trial draws them around a fifth of the total with a standard
deviation of 3, 5 or 8, limited to [0, 20] and adjusted to the total. A cell has 2,000
trials (-n), the same for all aggregates and f.

decision_accuracy  the answer of the winner is right (last row of Table I)
capture            w9 wins
outside            the score of some worker is outside the range of its honest totals

Each point of the paper is one example; it is compared with the geometric median at
every spread. mean is not a robust aggregate. trimmed-mean tolerates fewer than half of
the evaluators, Krum five of thirteen, Bulyan one of nine; there are no cells beyond
these bounds.

The cells council-… run the protocol with simulated members and signatures: nine honest
workers and one that alters numbers, eight honest evaluators and f of the cartel, ten
questions. Only simulated members have a spread; other members have only the computed
cells.`

const (
	fig8Trials = 2000 // trials of a cell
	fig8Most   = 7    // maximum number of colluders
)

// fig8Spreads are the standard deviations of the five grades.
var fig8Spreads = []float64{3, 5, 8}

// collusion is one computed cell of Fig. 8.
type collusion struct {
	aggregate string
	spread    float64
	f         int
	trials    int
	seed      uint64
	draw      func() [][]graded // by trial and worker, the same in every cell of a spread
}

// graded has the grades of the honest evaluators for one worker, and the smallest and
// largest of their totals.
type graded struct {
	grades    [][]float64
	low, high float64
}

func fig8(o Options) (*plan, error) {
	s, err := readTableI()
	if err != nil {
		return nil, err
	}
	trials := fig8Trials
	if o.N > 0 {
		trials = o.N
	}
	p := &plan{note: "Computed: trials on the totals of Table I with random grades by criterion."}
	for _, spread := range fig8Spreads {
		draw := sync.OnceValue(func() [][]graded { return drawAll(s, spread, trials*o.Repeat, o.Seed) })
		for _, name := range append([]string{"mean"}, aggregateNames()...) {
			for f := range fig8Most + 1 {
				c := collusion{name, spread, f, trials * o.Repeat, o.Seed, draw}
				if a, err := robust.Catalogue.Find(name); err == nil && f > a.Bound(len(s.honest)+f) {
					continue
				}
				p.cells = append(p.cells, c.cell(s))
			}
		}
	}
	return p, p.councils(o)
}

func aggregateNames() (names []string) {
	for _, a := range robust.Catalogue.All() {
		names = append(names, a.Name)
	}
	return names
}

func (c collusion) cell(s scores) cell {
	out := cell{
		Cell: lab.Cell{
			Name: fmt.Sprintf("%s-s%v-f%d", c.aggregate, c.spread, c.f),
			Params: map[string]any{
				"protocol": "decentllms", "aggregate": c.aggregate, "spread": c.spread, "n_e": len(s.honest) + c.f,
				"f_e": c.f, "b": 1, "n_w": len(s.byzantine),
				"adversary": "cartel", "task": "table-1",
			},
		},
		how: fmt.Sprintf("%d trials for each cell, seed %d, on the printed totals of Table I with random grades",
			c.trials, c.seed),
		compute: func() (*report.Figures, error) { return c.run(s) },
	}
	if c.aggregate == "geometric-median" {
		captured := 0.0
		if c.f == fig8Most {
			captured = 1
		}
		out.Paper = map[string]report.Figure{"decision_accuracy": {Value: 1 - captured, N: 1},
			"capture": {Value: captured, N: 1}}
	}
	return out
}

// run returns the figures of the trials.
func (c collusion) run(s scores) (*report.Figures, error) {
	of, err := scorer(c.aggregate)
	if err != nil {
		return nil, err
	}
	right, captures, outside := 0, 0, 0
	for _, workers := range c.draw() {
		best, winner, out := -1.0, 0, false
		for worker, w := range workers {
			byzantine := slices.Repeat([]float64{0}, 5)
			if worker == byzantineWorker {
				byzantine = slices.Repeat([]float64{20}, 5)
			}
			total, err := of(append(slices.Clip(w.grades), slices.Repeat([][]float64{byzantine}, c.f)...), c.f)
			if err != nil {
				return nil, err
			}
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
		"decision_accuracy": metrics.Share(right, c.trials), "capture": metrics.Share(captures, c.trials),
		"outside": metrics.Share(outside, c.trials),
	}}, nil
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

// fig8Asked is the maximum number of questions for the council cells of Fig. 8.
const fig8Asked = 10

// councils adds the cells with councils of simulated members. The noise of a simulated
// evaluator, a share of the maximum grade 20, gives its grades their spread.
func (p *plan) councils(o Options) (err error) {
	if o.Members != "simulated" {
		return nil
	}
	o.N = min(o.N, fig8Asked)
	var note string
	if p.task, p.items, note, err = questions(o, "mmlu-pro", fig8Asked); err != nil {
		return err
	}
	p.note += " Councils: simulated members. " + note
	for _, aggregate := range []string{"geometric-median", "median-total"} {
		for _, spread := range fig8Spreads {
			for _, f := range []int{0, 3, 5, fig8Most - 1, fig8Most} {
				p.cells = append(p.cells, cartelCell(aggregate, spread, f, p.task))
			}
		}
	}
	return nil
}

func cartelCell(aggregate string, spread float64, f int, task string) cell {
	const workers, evaluators = 10, 8
	spec := council.Default()
	spec.Council = fmt.Sprintf("council-%s-s%v-f%d", aggregate, spread, f)
	spec.Protocol, spec.F, spec.Limits = council.Params{"name": "decentllms", "aggregate": aggregate}, f,
		council.Limits{}
	spec.Models = map[string]council.Params{
		"worker":    {"provider": "simulated", "wrong": 9, "seed": 1},
		"evaluator": {"provider": "simulated", "noise": spread / 20, "wrong": 9, "seed": 2},
	}
	spec.Seats = []council.SeatSpec{
		{ID: "w", Model: "worker", Count: workers - 1, Role: "worker"},
		{ID: "byzantine", Model: "worker", Role: "worker", Adversary: council.Params{"name": "number-alterer"}},
		{ID: "e", Model: "evaluator", Count: evaluators, Role: "evaluator"},
	}
	if f > 0 {
		spec.Seats = append(spec.Seats, council.SeatSpec{ID: "c", Model: "evaluator", Count: f, Role: "evaluator",
			Adversary: council.Params{"name": "cartel", "favours": "byzantine"}})
	}
	return cell{spec: spec, Cell: lab.Cell{
		Name: spec.Council,
		Params: map[string]any{
			"protocol": "decentllms", "aggregate": aggregate, "spread": spread, "n_e": evaluators + f, "f_e": f, "b": 1,
			"n_w": workers, "adversary": "cartel", "task": task,
		},
	}}
}
