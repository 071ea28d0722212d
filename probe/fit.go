package probe

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// basis is a PCA with a z-score: it maps a state to the coordinates along the first
// principal components, each divided by its standard deviation in training.
type basis struct {
	mean      []float64
	vectors   *mat.Dense // columns are components
	deviation []float64  // standard deviation of the training states along each component
	share     float64    // share of the variance in the components
}

// errFlat means that all states are equal.
var errFlat = errors.New("probe: the states do not differ")

// negligible is the variance, relative to the largest, below which a component is only
// rounding error.
const negligible = 1e-10

// fitBasis finds at most max components of the rows of x.
func fitBasis(x *mat.Dense, max int) (*basis, error) {
	n, d := x.Dims()
	if n < 2 {
		return nil, fmt.Errorf("probe: %d states are too few for principal components", n)
	}
	var pc stat.PC
	if !pc.PrincipalComponents(x, nil) {
		return nil, errors.New("probe: the singular value decomposition failed")
	}
	vars := pc.VarsTo(nil)
	k, sum, held := 0, 0.0, 0.0
	for i, v := range vars {
		sum += v
		if i < max && v > negligible*vars[0] && !math.IsNaN(v) {
			k, held = i+1, held+v
		}
	}
	if k == 0 || !(sum > 0) {
		return nil, errFlat
	}
	var all mat.Dense
	pc.VectorsTo(&all)
	b := &basis{mean: make([]float64, d), vectors: mat.DenseCopyOf(all.Slice(0, d, 0, k)), share: held / sum}
	for j := range d {
		b.mean[j] = stat.Mean(mat.Col(nil, j, x), nil)
	}
	for _, v := range vars[:k] {
		b.deviation = append(b.deviation, math.Sqrt(v*float64(n-1)/float64(n)))
	}
	return b, nil
}

// narrower returns the basis with its first k components, those of largest variance.
func (b *basis) narrower(k int) *basis {
	d, have := b.vectors.Dims()
	if k >= have {
		return b
	}
	part, all := 0.0, 0.0
	for i, s := range b.deviation {
		if i < k {
			part += s * s
		}
		all += s * s
	}
	return &basis{b.mean, b.vectors.Slice(0, d, 0, k).(*mat.Dense), b.deviation[:k], b.share * part / all}
}

// apply returns the coordinates of the rows of x.
func (b *basis) apply(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	centred := mat.NewDense(n, d, nil)
	for i := range n {
		row := centred.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			row[j] = v - b.mean[j]
		}
	}
	var z mat.Dense
	z.Mul(centred, b.vectors)
	for i := range n {
		row := z.RawRowView(i)
		for k := range row {
			row[k] /= b.deviation[k]
		}
	}
	return &z
}

// fold converts weights in the basis to weights of the state itself. Both give the same
// value for every state.
func (b *basis) fold(w []float64, bias float64) (weights []float64, offset float64) {
	scaled := make([]float64, len(w))
	for k := range w {
		scaled[k] = w[k] / b.deviation[k]
	}
	var v mat.VecDense
	v.MulVec(b.vectors, mat.NewVecDense(len(scaled), scaled))
	weights = mat.Col(nil, 0, &v)
	offset = bias
	for j, m := range b.mean {
		offset -= weights[j] * m
	}
	return weights, offset
}

// logistic is a fitted regression: P(right) = sigmoid(w·z + bias).
type logistic struct {
	w    []float64
	bias float64
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
	for range maxNewton {
		if g := floats.Norm(grad, math.Inf(1)); g <= tolerance*math.Max(1, c*float64(n)) {
			return &logistic{beta[:k], beta[k]}, nil
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
		return &logistic{beta[:k], beta[k]}, nil // as close as rounding allows
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
		return nil, fmt.Errorf("probe: of %d training answers %d are right: right and wrong answers are both needed", n,
			yes)
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
