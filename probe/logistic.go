package probe

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// logistic is a fitted regression: P(right) = sigmoid(w·z + bias).
type logistic struct {
	w          []float64
	bias       float64
	iterations int
	gradient   float64 // largest component of the gradient at the end
}

// ErrNotConverged means that the optimum was not found.
var ErrNotConverged = errors.New("probe: the logistic regression did not converge")

const (
	maxNewton = 100
	tolerance = 1e-8 // of the gradient, per unit of training weight
)

// fitLogistic minimises |w|²/2 + C·Σ cᵢ·loss(yᵢ, w·zᵢ + bias) over the rows of z. With
// balanced classes cᵢ = n / (2·size of i's class). The loss is convex, so Newton's method
// with step halving finds its only minimum.
func fitLogistic(z *mat.Dense, right []bool, c float64) (*logistic, error) {
	n, k := z.Dims()
	class, err := balance(right)
	if err != nil {
		return nil, err
	}
	x := mat.NewDense(n, k+1, nil) // the last column is the intercept's
	for i := range n {
		copy(x.RawRowView(i), z.RawRowView(i))
		x.Set(i, k, 1)
	}
	p := problem{x: x, right: right, weight: class, c: c}
	beta := make([]float64, k+1)
	loss, grad := p.at(beta)
	for it := range maxNewton {
		if g := floats.Norm(grad, math.Inf(1)); g <= tolerance*math.Max(1, c*float64(n)) {
			return &logistic{beta[:k], beta[k], it, g}, nil
		}
		step, err := p.newton(beta, grad)
		if err != nil {
			return nil, err
		}
		moved := false
		for size := 1.0; size > 1e-10; size /= 2 {
			next := floats.AddScaledTo(make([]float64, k+1), beta, -size, step)
			l, g := p.at(next)
			if l <= loss-1e-4*size*floats.Dot(grad, step) || l <= loss && size == 1 {
				beta, loss, grad, moved = next, l, g, true
				break
			}
		}
		if !moved {
			break
		}
	}
	if g := floats.Norm(grad, math.Inf(1)); g <= 1e3*tolerance*math.Max(1, c*float64(n)) {
		return &logistic{beta[:k], beta[k], maxNewton, g}, nil // as close as rounding allows
	}
	return nil, fmt.Errorf("%w after %d steps", ErrNotConverged, maxNewton)
}

// balance returns weights that have the same sum for both classes.
func balance(right []bool) ([]float64, error) {
	yes := 0
	for _, r := range right {
		if r {
			yes++
		}
	}
	n := len(right)
	if yes == 0 || yes == n {
		return nil, fmt.Errorf("probe: of %d training answers %d are right: right and wrong answers are both needed", n, yes)
	}
	w := make([]float64, n)
	for i, r := range right {
		w[i] = float64(n) / float64(2*(n-yes))
		if r {
			w[i] = float64(n) / float64(2*yes)
		}
	}
	return w, nil
}

// problem computes the loss and its derivatives.
type problem struct {
	x      *mat.Dense
	right  []bool
	weight []float64
	c      float64
}

// at returns the loss and its gradient.
func (p *problem) at(beta []float64) (loss float64, grad []float64) {
	n, k := p.x.Dims()
	var margin mat.VecDense
	margin.MulVec(p.x, mat.NewVecDense(k, beta))
	slope := make([]float64, n)
	for i := range n {
		m := margin.AtVec(i)
		y := 0.0
		if p.right[i] {
			y = 1
		}
		loss += p.c * p.weight[i] * (softplus(m) - y*m)
		slope[i] = p.c * p.weight[i] * (sigmoid(m) - y)
	}
	var g mat.VecDense
	g.MulVec(p.x.T(), mat.NewVecDense(n, slope))
	grad = append([]float64(nil), g.RawVector().Data...)
	for j, w := range beta[:k-1] {
		loss += w * w / 2
		grad[j] += w
	}
	return loss, grad
}

// newton returns the inverse of the Hessian times the gradient.
func (p *problem) newton(beta, grad []float64) ([]float64, error) {
	n, k := p.x.Dims()
	var margin mat.VecDense
	margin.MulVec(p.x, mat.NewVecDense(k, beta))
	scaled := mat.DenseCopyOf(p.x)
	for i := range n {
		s := sigmoid(margin.AtVec(i))
		floats.Scale(math.Sqrt(p.c*p.weight[i]*s*(1-s)), scaled.RawRowView(i))
	}
	h := mat.NewSymDense(k, nil)
	h.SymOuterK(1, scaled.T())
	for j := range k - 1 {
		h.SetSym(j, j, h.At(j, j)+1)
	}
	h.SetSym(k-1, k-1, h.At(k-1, k-1)+1e-12)
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, fmt.Errorf("%w: its Hessian is not positive definite", ErrNotConverged)
	}
	var step mat.VecDense
	if err := chol.SolveVecTo(&step, mat.NewVecDense(k, grad)); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, fmt.Errorf("%w: %w", ErrNotConverged, err)
	}
	return step.RawVector().Data, nil
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// softplus returns log(1+eˣ) without overflow.
func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
