package probe

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod/internal/linear"
)

// basis is a PCA with a z-score: it maps a state to the coordinates along the first
// principal components, each divided by its standard deviation in training.
type basis struct {
	mean      []float64
	vectors   [][]float64 // components, of length 1
	deviation []float64   // standard deviation of the training states along each component
	share     float64     // share of the variance in the components
}

// errFlat means that all states are equal.
var errFlat = errors.New("probe: the states do not differ")

// negligible is the variance, relative to the largest, below which a component is only
// rounding error.
const negligible = 1e-10

// fitBasis finds at most max components of the rows of x.
func fitBasis(x [][]float64, max int) (*basis, error) {
	n := len(x)
	if n < 2 {
		return nil, fmt.Errorf("probe: %d states are too few for principal components", n)
	}
	b := &basis{mean: make([]float64, len(x[0]))}
	for _, row := range x {
		for j, v := range row {
			b.mean[j] += v / float64(n)
		}
	}
	squares, vectors, err := components(b.centred(x), max)
	if err != nil {
		return nil, err
	}
	sum, held := 0.0, 0.0
	for i, s := range squares {
		sum += s
		if i < len(vectors) {
			held += s
			b.deviation = append(b.deviation, math.Sqrt(s/float64(n)))
		}
	}
	b.vectors, b.share = vectors, held/sum
	return b, nil
}

// centred returns the rows without the mean of the training states.
func (b *basis) centred(x [][]float64) [][]float64 {
	rows := make([][]float64, len(x))
	for i, row := range x {
		rows[i] = make([]float64, len(row))
		for j, v := range row {
			rows[i][j] = v - b.mean[j]
		}
	}
	return rows
}

// components returns at most max right singular vectors of the rows, those of the largest
// singular values first, and the squares of all singular values. It uses the smaller one of
// the rows' products and the columns' products, which have the same eigenvalues apart from zeros.
func components(rows [][]float64, max int) (squares []float64, vectors [][]float64, err error) {
	few, width := rows, len(rows[0])
	tall := len(rows) > width
	if tall {
		few = transposed(rows)
	}
	values, own, ok := linear.Eigen(products(few), true)
	if !ok {
		return nil, nil, errors.New("probe: the principal components were not found: a state is too large or no number")
	}
	slices.Reverse(values)
	slices.Reverse(own)
	for i := range values {
		values[i] = math.Max(values[i], 0) // rounding can leave a 0 below 0
	}
	if !(values[0] > 0) {
		return nil, nil, errFlat
	}
	for i, v := range values {
		if i >= max || v <= negligible*values[0] {
			break
		}
		if tall {
			vectors = append(vectors, own[i])
			continue
		}
		vector := make([]float64, width)
		for k, row := range rows {
			for j, x := range row {
				vector[j] += own[i][k] * x
			}
		}
		length := math.Sqrt(linear.Dot(vector, vector))
		for j := range vector {
			vector[j] /= length
		}
		vectors = append(vectors, vector)
	}
	return values, vectors, nil
}

// products returns the inner products of all pairs of rows.
func products(rows [][]float64) [][]float64 {
	all := make([][]float64, len(rows))
	for i := range rows {
		all[i] = make([]float64, len(rows))
		for j := range i + 1 {
			all[i][j] = linear.Dot(rows[i], rows[j])
			all[j][i] = all[i][j]
		}
	}
	return all
}

func transposed(rows [][]float64) [][]float64 {
	columns := make([][]float64, len(rows[0]))
	for j := range columns {
		columns[j] = make([]float64, len(rows))
		for i, row := range rows {
			columns[j][i] = row[j]
		}
	}
	return columns
}

// narrower returns the basis with its first k components, those of largest variance.
func (b *basis) narrower(k int) *basis {
	if k >= len(b.vectors) {
		return b
	}
	part, all := 0.0, 0.0
	for i, s := range b.deviation {
		if i < k {
			part += s * s
		}
		all += s * s
	}
	return &basis{b.mean, b.vectors[:k], b.deviation[:k], b.share * part / all}
}

// apply returns the coordinates of the rows of x.
func (b *basis) apply(x [][]float64) [][]float64 {
	z := b.centred(x)
	for i, row := range z {
		z[i] = make([]float64, len(b.vectors))
		for k, v := range b.vectors {
			z[i][k] = linear.Dot(row, v) / b.deviation[k]
		}
	}
	return z
}

// fold converts weights in the basis to weights of the state itself. Both give the same
// value for every state.
func (b *basis) fold(w []float64, bias float64) (weights []float64, offset float64) {
	weights = make([]float64, len(b.mean))
	for k, v := range b.vectors {
		for j, x := range v {
			weights[j] += w[k] / b.deviation[k] * x
		}
	}
	return weights, bias - linear.Dot(weights, b.mean)
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
func fitLogistic(z [][]float64, right []bool, c float64) (*logistic, error) {
	class, err := balance(right)
	if err != nil {
		return nil, err
	}
	n, k := len(z), len(z[0])
	x := make([][]float64, n)
	for i, row := range z {
		x[i] = append(slices.Clone(row), 1) // the last column is the intercept's
	}
	p := problem{x: x, right: right, weight: class, c: c}
	beta := make([]float64, k+1)
	loss, grad := p.at(beta)
	for range maxNewton {
		if g := largest(grad); g <= tolerance*math.Max(1, c*float64(n)) {
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
			if l <= loss-1e-4*size*linear.Dot(grad, step) || l <= loss && size == 1 {
				beta, loss, grad, moved = next, l, g, true
				break
			}
		}
		if !moved {
			break
		}
	}
	if g := largest(grad); g <= 1e3*tolerance*math.Max(1, c*float64(n)) {
		return &logistic{beta[:k], beta[k]}, nil // as close as rounding allows
	}
	return nil, fmt.Errorf("%w after %d steps", ErrNotConverged, maxNewton)
}

// largest returns the largest absolute value.
func largest(v []float64) (m float64) {
	for _, x := range v {
		m = math.Max(m, math.Abs(x))
	}
	return m
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
	x      [][]float64
	right  []bool
	weight []float64
	c      float64
}

// at returns the loss and its gradient.
func (p *problem) at(beta []float64) (loss float64, grad []float64) {
	grad = make([]float64, len(beta))
	for i, x := range p.x {
		m := linear.Dot(x, beta)
		y := 0.0
		if p.right[i] {
			y = 1
		}
		loss += p.c * p.weight[i] * (softplus(m) - y*m)
		slope := p.c * p.weight[i] * (sigmoid(m) - y)
		for j, v := range x {
			grad[j] += slope * v
		}
	}
	for j, w := range beta[:len(beta)-1] {
		loss += w * w / 2
		grad[j] += w
	}
	return loss, grad
}

// newton returns the inverse of the Hessian times the gradient.
func (p *problem) newton(beta, grad []float64) ([]float64, error) {
	scaled := make([][]float64, len(p.x))
	for i, x := range p.x {
		s := sigmoid(linear.Dot(x, beta))
		root := math.Sqrt(p.c * p.weight[i] * s * (1 - s))
		scaled[i] = slices.Clone(x)
		for j := range x {
			scaled[i][j] *= root
		}
	}
	h := products(transposed(scaled))
	last := len(h) - 1
	for j := range last {
		h[j][j]++
	}
	h[last][last] += 1e-12
	step, ok := linear.Solve(h, grad)
	if !ok {
		return nil, fmt.Errorf("%w: its Hessian is not positive definite", ErrNotConverged)
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
