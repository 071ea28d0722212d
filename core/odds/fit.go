package odds

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// choice is a labelled question as the fit sees it: the features of its options, and which one is right.
type choice struct {
	options [][]float64
	right   int
}

// Fit returns the model of members that labelled questions make most probable. Every question has an answer or "" for
// each of the members. Without questions the model is the prior.
func Fit(members []string, labelled []Labelled) *Predictor {
	m := &Predictor{Members: slices.Clone(members), Labels: len(labelled), Kinds: learn(len(members), labelled),
		Same: alike(len(members), labelled), Marks: marksOf(len(members), labelled)}
	choices := make([]choice, len(labelled))
	for k, q := range labelled {
		options, given := m.options(q.Kind, q.Answers, q.Sure)
		right := slices.IndexFunc(given, func(g answered) bool { return g.answer == q.Right })
		if right < 0 {
			right = len(given)
		}
		choices[k] = choice{options, right}
	}
	s := start(m)
	covariance := s.climb(choices)
	m.Coefficients = s.at
	m.Covariance = make([][]float64, len(s.at))
	for i := range m.Covariance {
		m.Covariance[i] = mat.Row(nil, i, covariance)
	}
	return m
}

// search looks for the coefficients with the largest posterior.
type search struct {
	mean, precision, at []float64
}

func start(m *Predictor) *search {
	s := &search{mean: append(prior.mean[:], make([]float64, m.width()-shared)...),
		precision: append(prior.precision[:], slices.Repeat([]float64{prior.own}, len(m.Members))...)}
	if m.Marks != nil {
		s.precision = append(s.precision, prior.sure)
	}
	s.at = slices.Clone(s.mean)
	return s
}

// The search ends after so many steps, or when a step gains less.
const (
	mostSteps = 50
	leastGain = 1e-9
	halvings  = 30
)

// climb goes up by Newton's method, with steps that are halved until they gain something: the posterior is concave.
// It returns the inverse of the curvature there.
func (s *search) climb(choices []choice) *mat.SymDense {
	var inverse mat.SymDense
	height := s.height(s.at, choices)
	for range mostSteps {
		slope, curvature := s.slope(choices)
		var factors mat.Cholesky
		factors.Factorize(curvature) // the prior's precision makes it positive definite
		factors.InverseTo(&inverse)
		var step mat.VecDense
		step.MulVec(&inverse, slope)
		next, gain := s.step(&step, height, choices)
		if gain <= leastGain {
			break
		}
		s.at, height = next, height+gain
	}
	return &inverse
}

// step returns where a step leads, and how much higher that is; 0: no part of it leads higher.
func (s *search) step(step *mat.VecDense, height float64, choices []choice) (next []float64, gain float64) {
	for part := 1.0; part > math.Ldexp(1, -halvings); part /= 2 {
		next = slices.Clone(s.at)
		floats.AddScaled(next, part, step.RawVector().Data)
		if h := s.height(next, choices); h > height {
			return next, h - height
		}
	}
	return s.at, 0
}

// height is the logarithm of the posterior, up to a constant.
func (s *search) height(at []float64, choices []choice) (sum float64) {
	for i, b := range at {
		sum -= s.precision[i] / 2 * (b - s.mean[i]) * (b - s.mean[i])
	}
	for _, c := range choices {
		sum += math.Log(max(softmax(c.options, at)[c.right], math.SmallestNonzeroFloat64))
	}
	return sum
}

// slope returns the gradient of height, and minus its second derivatives.
func (s *search) slope(choices []choice) (slope *mat.VecDense, curvature *mat.SymDense) {
	n := len(s.at)
	gradient := make([]float64, n)
	curvature = mat.NewSymDense(n, nil)
	for i, b := range s.at {
		gradient[i] = -s.precision[i] * (b - s.mean[i])
		curvature.SetSym(i, i, s.precision[i])
	}
	off := mat.NewVecDense(n, nil)
	for _, c := range choices {
		p := softmax(c.options, s.at)
		mean := expected(c.options, p)
		floats.Add(gradient, c.options[c.right])
		floats.Sub(gradient, mean)
		for i, x := range c.options {
			floats.SubTo(off.RawVector().Data, x, mean)
			curvature.SymRankOne(curvature, p[i], off)
		}
	}
	return mat.NewVecDense(n, gradient), curvature
}

// expected returns the mean of the options' features.
func expected(options [][]float64, p []float64) []float64 {
	mean := make([]float64, len(options[0]))
	for i, x := range options {
		floats.AddScaled(mean, p[i], x)
	}
	return mean
}

// softmax returns the probabilities of options.
func softmax(options [][]float64, coefficients []float64) []float64 {
	p := make([]float64, len(options))
	for i, x := range options {
		p[i] = floats.Dot(x, coefficients)
	}
	sum := floats.LogSumExp(p)
	for i := range p {
		p[i] = math.Exp(p[i] - sum)
	}
	return p
}

// interval returns the limits of a 95 % interval for the probability of an option: by the delta method, for its
// log-odds, so that the limits are in (0, 1).
func (m *Predictor) interval(options [][]float64, p []float64, of int) (low, high float64) {
	rest := make([]float64, len(p)) // the probabilities of the other options, if this one is not right
	for i := range p {
		if i != of {
			rest[i] = p[i] / max(1-p[of], math.SmallestNonzeroFloat64)
		}
	}
	slope := slices.Clone(options[of]) // of the log-odds
	floats.Sub(slope, expected(options, rest))
	variance := 0.0
	for i, x := range slope {
		variance += x * floats.Dot(m.Covariance[i], slope)
	}
	odds, width := math.Log(p[of])-math.Log(max(1-p[of], math.SmallestNonzeroFloat64)), 1.96*math.Sqrt(max(variance, 0))
	return logistic(odds - width), logistic(odds + width)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
