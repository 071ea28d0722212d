package probe

import (
	"errors"
	"fmt"
	"math"

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
