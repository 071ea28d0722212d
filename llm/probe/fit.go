package probe

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// basis is a PCA with a z-score: it maps a state to the coordinates along the first
// principal components, each divided by its standard deviation in training.
type basis struct {
	mean      []float64
	vectors   *mat.Dense // a component of length 1 in each column
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
	n, width := x.Dims()
	if n < 2 {
		return nil, fmt.Errorf("probe: %d states are too few for principal components", n)
	}
	b := &basis{mean: make([]float64, width)}
	for j := range b.mean {
		b.mean[j] = stat.Mean(mat.Col(nil, j, x), nil)
	}
	squares, vectors, err := components(b.centred(x), max)
	if err != nil {
		return nil, err
	}
	_, k := vectors.Dims()
	for _, s := range squares[:k] {
		b.deviation = append(b.deviation, math.Sqrt(s/float64(n)))
	}
	b.vectors, b.share = vectors, floats.Sum(squares[:k])/floats.Sum(squares)
	return b, nil
}

// centred returns the rows without the mean of the training states.
func (b *basis) centred(x mat.Matrix) *mat.Dense {
	rows := mat.DenseCopyOf(x)
	n, _ := rows.Dims()
	for i := range n {
		floats.Sub(rows.RawRowView(i), b.mean)
	}
	return rows
}

// components returns at most max right singular vectors of the rows, those of the largest
// singular values first, and the squares of all singular values. It uses the smaller one of
// the rows' products and the columns' products, which have the same eigenvalues apart from zeros.
func components(rows *mat.Dense, max int) (squares []float64, vectors *mat.Dense, err error) {
	n, width := rows.Dims()
	var products mat.SymDense
	if n > width {
		products.SymOuterK(1, rows.T())
	} else {
		products.SymOuterK(1, rows)
	}
	var eigen mat.EigenSym
	if sum := mat.Sum(&products); math.IsNaN(sum) || math.IsInf(sum, 0) || !eigen.Factorize(&products, true) {
		return nil, nil, errors.New("probe: the principal components were not found: a state is too large or no number")
	}
	squares = eigen.Values(nil)
	slices.Reverse(squares)
	k := 0
	for i, s := range squares {
		squares[i] = math.Max(s, 0) // rounding can leave a 0 below 0
		if i < max && squares[i] > negligible*squares[0] {
			k++
		}
	}
	if k == 0 {
		return nil, nil, errFlat
	}
	return squares, largestVectors(rows, &eigen, k), nil
}

// largestVectors returns the right singular vectors of the k largest eigenvalues, which stand last.
func largestVectors(rows *mat.Dense, eigen *mat.EigenSym, k int) *mat.Dense {
	n, width := rows.Dims()
	vectors := mat.NewDense(width, k, nil)
	var column mat.VecDense
	for i := range k {
		own := eigen.RawQ().(*mat.Dense).ColView(eigen.SymmetricDim() - 1 - i)
		if n > width {
			column.CloneFromVec(own)
		} else {
			column.MulVec(rows.T(), own)
			column.ScaleVec(1/mat.Norm(&column, 2), &column)
		}
		vectors.SetCol(i, column.RawVector().Data)
	}
	return vectors
}

// narrower returns the basis with its first k components, those of largest variance.
func (b *basis) narrower(k int) *basis {
	if k >= len(b.deviation) {
		return b
	}
	first := b.deviation[:k]
	share := b.share * floats.Dot(first, first) / floats.Dot(b.deviation, b.deviation)
	return &basis{b.mean, firstColumns(b.vectors, k), first, share}
}

// apply returns the coordinates of the rows of x.
func (b *basis) apply(x mat.Matrix) *mat.Dense {
	var z mat.Dense
	z.Mul(b.centred(x), b.vectors)
	n, _ := z.Dims()
	for i := range n {
		floats.Div(z.RawRowView(i), b.deviation)
	}
	return &z
}

// fold converts weights in the basis to weights of the state itself. Both give the same
// value for every state.
func (b *basis) fold(w []float64, bias float64) (weights []float64, offset float64) {
	weights = make([]float64, len(b.mean))
	scaled := floats.DivTo(make([]float64, len(w)), w, b.deviation)
	mat.NewVecDense(len(weights), weights).MulVec(b.vectors, mat.NewVecDense(len(w), scaled))
	return weights, bias - floats.Dot(weights, b.mean)
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

// fitLogistic minimises (|w|² + bias²)/2 + C·Σ cᵢ·loss(yᵢ, w·zᵢ + bias) over the rows of z. Like liblinear, which the
// paper uses, it penalises the intercept, which is the weight of a column of ones. With
// balanced classes cᵢ = n / (2·size of i's class). The loss is convex, so Newton's method
// with step halving finds its only minimum.
func fitLogistic(z *mat.Dense, right []bool, c float64) (*logistic, error) {
	class, err := balance(right)
	if err != nil {
		return nil, err
	}
	n, k := z.Dims()
	x := mat.NewDense(n, k+1, nil)
	x.Copy(z)
	for i := range n {
		x.Set(i, k, 1) // the intercept's column
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
			next := slices.Clone(beta)
			for j := range next {
				next[j] -= size * step[j]
			}
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

// margins returns the product of every row with beta.
func (p *problem) margins(beta []float64) []float64 {
	var m mat.VecDense
	m.MulVec(p.x, mat.NewVecDense(len(beta), beta))
	return m.RawVector().Data
}

// at returns the loss and its gradient.
func (p *problem) at(beta []float64) (loss float64, grad []float64) {
	slopes := p.margins(beta)
	for i, m := range slopes {
		y := 0.0
		if p.right[i] {
			y = 1
		}
		loss += p.c * p.weight[i] * (softplus(m) - y*m)
		slopes[i] = p.c * p.weight[i] * (sigmoid(m) - y)
	}
	grad = make([]float64, len(beta))
	mat.NewVecDense(len(grad), grad).MulVec(p.x.T(), mat.NewVecDense(len(slopes), slopes))
	floats.Add(grad, beta)
	return loss + floats.Dot(beta, beta)/2, grad
}

// newton returns the inverse of the Hessian times the gradient.
func (p *problem) newton(beta, grad []float64) ([]float64, error) {
	scaled := mat.DenseCopyOf(p.x)
	for i, m := range p.margins(beta) {
		s := sigmoid(m)
		floats.Scale(math.Sqrt(p.c*p.weight[i]*s*(1-s)), scaled.RawRowView(i))
	}
	var hessian mat.SymDense
	hessian.SymOuterK(1, scaled.T())
	for j := range beta {
		hessian.SetSym(j, j, hessian.At(j, j)+1)
	}
	var root mat.Cholesky
	if !root.Factorize(&hessian) {
		return nil, fmt.Errorf("%w: its Hessian is not positive definite", ErrNotConverged)
	}
	step := make([]float64, len(beta))
	err := root.SolveVecTo(mat.NewVecDense(len(step), step), mat.NewVecDense(len(grad), grad))
	if poor := mat.Condition(0); err != nil && !errors.As(err, &poor) { // step halving copes with a poor step
		return nil, fmt.Errorf("%w: %w", ErrNotConverged, err)
	}
	return step, nil
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
