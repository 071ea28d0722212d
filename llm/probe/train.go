package probe

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"synod.dev/synod/core/stats"
)

// Sample is one graded answer.
type Sample struct {
	Question string
	Right    bool
	Logprob  *float64 // mean log-probability of the answer's tokens, ≤ 0; nil: unknown
	Stated   *float64 // confidence from 0 to 1 that the model states; nil: unreadable or not asked for
	Asked    bool     // whether the model was asked for its confidence
}

// Data has samples and access to their hidden states. States returns the state of each
// sample, in their order. It is called for one layer and position at a time, so that not
// all states have to be in memory.
type Data struct {
	Task      string
	Subject   Subject
	Samples   []Sample
	Layers    []int
	Positions []string
	States    func(layer int, position string) ([][]float32, error)
}

// Config has the settings of training.
type Config struct {
	Seed       uint64  // seed of the split
	Components []int   // numbers of principal components to try, each 1 to 256
	C          float64 // inverse strength of the L2 penalty, above 0
	Progress   func(done, total int)
}

// maxComponents is the maximum of the paper.
const maxComponents = 256

// Defaults returns the settings of the paper, 256 components and C = 1, and seed 1.
func Defaults() Config { return Config{Seed: 1, Components: []int{maxComponents}, C: 1} }

// Validate returns an error for a setting that is out of range.
func (c Config) Validate() error {
	if len(c.Components) == 0 {
		return errors.New("probe: no number of components is given")
	}
	for _, k := range c.Components {
		if k < 1 || k > maxComponents {
			return fmt.Errorf("probe: %d components; want 1 to %d", k, maxComponents)
		}
	}
	if !(c.C > 0) || math.IsInf(c.C, 0) {
		return fmt.Errorf("probe: C is %v; it must be positive", c.C)
	}
	return nil
}

// SweepPoint is one point of the sweep: a probe of these parameters fitted on the training
// questions and measured on the validation questions.
type SweepPoint struct {
	Layer      int      `json:"layer"`
	Position   string   `json:"position"`
	Components int      `json:"components"` // at most the configured number
	Variance   float64  `json:"variance"`   // share of the variance in the components
	Train      *float64 `json:"train_auc"`
	AUC        *float64 `json:"auc"` // on the validation questions; the cell with the highest is chosen
	Accuracy   *float64 `json:"accuracy"`
	Precision  *float64 `json:"precision"` // this and F1: of "right" at a confidence of 0.5
	F1         *float64 `json:"f1"`
	Brier      *float64 `json:"brier"`
}

// trainer is the state of Train.
type trainer struct {
	data Data
	cfg  Config
	part func(Sample) Split
}

// Train fits probes for all layers, positions and numbers of components, chooses one and
// measures it on the test questions. It returns an error for invalid settings, if
// States fails, and if there are not enough right and wrong answers.
func Train(data Data, cfg Config) (Report, *Probe, error) {
	if err := cfg.Validate(); err != nil {
		return Report{}, nil, err
	}
	t := &trainer{data: data, cfg: cfg, part: func(s Sample) Split { return SplitOf(s.Question, cfg.Seed) }}
	r := Report{Version: Version, Task: data.Task, Seed: cfg.Seed, Subject: data.Subject, C: cfg.C}
	r.Training, r.Validation, r.Test = t.count(Training), t.count(Validation), t.count(Testing)
	var err error
	if r.Sweep, err = t.sweep(); err != nil {
		return Report{}, nil, err
	}
	best, ok := choose(r.Sweep)
	if !ok {
		return Report{}, nil, fmt.Errorf("probe: the probes cannot be compared: of the %d validation answers %d are "+
			"right, but right and wrong ones are needed; collect more", r.Validation.Answers, r.Validation.Right)
	}
	r.Chosen = best
	p, err := t.final(best)
	if err != nil {
		return Report{}, nil, err
	}
	states, err := data.States(best.Layer, best.Position)
	if err != nil {
		return Report{}, nil, err
	}
	r.measure(p, t.samples(Testing), pick(states, t.rows(Testing)))
	p.Test = r.Probe
	return r, p, nil
}

// rows returns the indices of the samples in some parts; samples returns the samples.
func (t *trainer) rows(parts ...Split) (rows []int) {
	for i, s := range t.data.Samples {
		if slices.Contains(parts, t.part(s)) {
			rows = append(rows, i)
		}
	}
	return rows
}

func (t *trainer) samples(p ...Split) []Sample { return pick(t.data.Samples, t.rows(p...)) }

func (t *trainer) right(p ...Split) (right []bool) {
	for _, s := range t.samples(p...) {
		right = append(right, s.Right)
	}
	return right
}

func pick[T any](all []T, rows []int) []T {
	some := make([]T, len(rows))
	for i, r := range rows {
		some[i] = all[r]
	}
	return some
}

// sweep fits a probe for every layer, position and number of components.
func (t *trainer) sweep() (cells []SweepPoint, err error) {
	done, total := 0, len(t.data.Layers)*len(t.data.Positions)
	for _, l := range t.data.Layers {
		for _, p := range t.data.Positions {
			some, err := t.cells(l, p)
			if err != nil {
				return nil, fmt.Errorf("layer %d, %s: %w", l, p, err)
			}
			cells = append(cells, some...)
			if done++; t.cfg.Progress != nil {
				t.cfg.Progress(done, total)
			}
		}
	}
	return cells, nil
}

// cells fits and validates probes at one layer and position.
func (t *trainer) cells(layer int, position string) (cells []SweepPoint, err error) {
	states, err := t.data.States(layer, position)
	if err != nil {
		return nil, err
	}
	train, held := matrix(pick(states, t.rows(Training))), pick(states, t.rows(Validation))
	b, err := fitBasis(train, slices.Max(t.cfg.Components))
	if err != nil {
		return nil, err
	}
	z := b.apply(train)
	have := len(b.deviation)
	tried := map[int]bool{}
	for _, k := range t.cfg.Components {
		if k = min(k, have); tried[k] {
			continue
		}
		tried[k] = true
		part := b.narrower(k)
		m, err := fitLogistic(firstColumns(z, k), t.right(Training), t.cfg.C)
		if err != nil {
			return nil, err
		}
		w, bias := part.fold(m.w, m.bias)
		c := SweepPoint{Layer: layer, Position: position, Components: k, Variance: part.share}
		seen := forecasts(judge(w, bias, t.samples(Training), pick(states, t.rows(Training))))
		c.Train = only(stats.AUC(seen))
		unseen := forecasts(judge(w, bias, t.samples(Validation), held))
		c.AUC, c.Accuracy, c.Brier = only(stats.AUC(unseen)), only(accuracy(unseen)), only(stats.Brier(unseen))
		c.Precision, c.F1 = only(precision(unseen)), only(f1(unseen))
		cells = append(cells, c)
	}
	return cells, nil
}

// choose returns the cell with the highest validation AUC; among equal ones the one with
// the fewest components, then the first.
func choose(cells []SweepPoint) (best SweepPoint, ok bool) {
	for _, c := range cells {
		if c.AUC != nil && (!ok || *c.AUC > *best.AUC || *c.AUC == *best.AUC && c.Components < best.Components) {
			best, ok = c, true
		}
	}
	return best, ok
}

// final fits the chosen probe again, on all questions except the test questions.
func (t *trainer) final(c SweepPoint) (*Probe, error) {
	states, err := t.data.States(c.Layer, c.Position)
	if err != nil {
		return nil, err
	}
	x := matrix(pick(states, t.rows(Training, Validation)))
	b, err := fitBasis(x, c.Components)
	if err != nil {
		return nil, err
	}
	m, err := fitLogistic(b.apply(x), t.right(Training, Validation), t.cfg.C)
	if err != nil {
		return nil, err
	}
	w, bias := b.fold(m.w, m.bias)
	return &Probe{
		Version: Version, Subject: t.data.Subject, Task: t.data.Task, Seed: t.cfg.Seed, Layer: c.Layer,
		Position:   c.Position,
		Components: len(m.w), Variance: b.share, C: t.cfg.C, Answers: len(t.rows(Training, Validation)), Bias: bias,
		Weights: w,
	}, nil
}

func matrix(rows [][]float32) *mat.Dense {
	if len(rows) == 0 {
		return new(mat.Dense)
	}
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		for j, v := range row {
			x.Set(i, j, float64(v))
		}
	}
	return x
}

// firstColumns returns the first k columns, which share the memory of x.
func firstColumns(x *mat.Dense, k int) *mat.Dense {
	n, _ := x.Dims()
	return x.Slice(0, n, 0, k).(*mat.Dense)
}

func only(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &v
}

// Split is a part of the data.
type Split int

// The parts. Every question is in exactly one.
const (
	Training Split = iota
	Validation
	Testing
)

// SplitOf returns the part of a question: on average six tenths are for training and two
// tenths for each of the others. It depends only on the seed and the id of the question,
// so no question changes its part when more are collected.
func SplitOf(question string, seed uint64) Split {
	h := fnv.New64a()
	_, _ = h.Write([]byte(question)) // never fails
	switch u := rand.New(rand.NewPCG(h.Sum64(), seed)).Float64(); {
	case u < 0.2:
		return Testing
	case u < 0.4:
		return Validation
	}
	return Training
}
