// Package robust combines vectors of which a minority may be hostile: the geometric
// median and its alternatives (DecentLLMs §III.C.3; Vardi and Zhang 2000; Yin et al.
// 2018; Blanchard et al. 2017; El Mhamdi et al. 2018). Catalogue lists them by name.
//
// Members of a council must compute the same result bit for bit, so an aggregate is
// a function of the multiset of its inputs: they are sorted before anything is
// added, and every product that is added to something is rounded first, as in
// float64(a*b) + c. Without the conversion the compiler may fuse both operations
// (GOAMD64=v3, arm64), and two honest members with the same inputs disagree
// (finding F5).
//
// The aggregates differ in what a hostile minority can do. Aggregate.Bound is the
// number of hostile inputs of n that each is meant for. Up to it, the medians and
// the trimmed mean stay inside the range of the honest inputs; the geometric median,
// Krum and Bulyan stay near the honest inputs but may leave their range (finding F6).
//
// The package has rank 1: it needs only the root package's Catalogue, and stats.
//
//	var w robust.Workspace // allocates nothing when it is used again
//	r, err := w.GeometricMedian([][]float64{{18, 20, 17, 19, 20}, {17, 19, 18, 18, 20}, {0, 0, 0, 0, 0}})
//	if err != nil {
//		return err
//	}
//	fmt.Println(r.Total, r.Converged)
package robust

import (
	"errors"
	"fmt"
)

// Result is the aggregate of some vectors.
type Result struct {
	// Vector is the aggregated vector, nil for an aggregate of totals. It belongs to
	// the Workspace and is valid until the next call of one of its methods.
	Vector []float64
	Total  float64 // the sum of Vector, or the aggregated total
	// Converged is false only if an iteration reached its limit. The result is then
	// the last iterate: the same for all members, but less exact than the tolerance.
	Converged  bool
	Iterations int // 0 for an aggregate that does not iterate
}

// Limit is the largest magnitude of an input. Squares and sums of such inputs are
// finite.
const Limit = 1e100

// ErrInput is wrapped by all errors about vectors that cannot be aggregated.
var ErrInput = errors.New("robust: unusable input")

// Workspace holds the temporary memory of the aggregates. The zero value is ready to
// use. A workspace must not be used by two goroutines at once.
type Workspace struct {
	rows   [][]float64 // the vectors, in lexicographic order
	flat   []float64   // backing array of rows
	totals []float64
	column []float64
	out    []float64
	pull   []float64
	square []float64 // squared distances, n by n
	near   []float64
	picked []int
	left   []int
}

// load copies the vectors into the workspace in lexicographic order. Minus zero
// becomes zero, so that equal vectors have equal bits and their order has no effect.
func (w *Workspace) load(vectors [][]float64) error {
	if len(vectors) == 0 || len(vectors[0]) == 0 {
		return fmt.Errorf("%w: there are no vectors, or they are empty", ErrInput)
	}
	d := len(vectors[0])
	w.rows, w.flat = w.rows[:0], resize(w.flat, len(vectors)*d)
	for i, v := range vectors {
		if len(v) != d {
			return fmt.Errorf("%w: vector %d has %d entries, the first has %d", ErrInput, i, len(v), d)
		}
		row := w.flat[i*d : (i+1)*d : (i+1)*d]
		for j, x := range v {
			if !(x >= -Limit && x <= Limit) { // NaN too
				return fmt.Errorf("%w: entry %d of vector %d is %v; it must be a number within ±%g", ErrInput, j, i, x,
					float64(Limit))
			}
			row[j] = x + 0
		}
		w.insert(row)
	}
	w.out, w.pull = resize(w.out, d), resize(w.pull, d)
	return nil
}

// insert adds a row and keeps rows sorted. Insertion sort is the fastest for the
// small committees that occur.
func (w *Workspace) insert(row []float64) {
	w.rows = append(w.rows, row)
	i := len(w.rows) - 1
	for ; i > 0 && less(row, w.rows[i-1]); i-- {
		w.rows[i] = w.rows[i-1]
	}
	w.rows[i] = row
}

func less(a, b []float64) bool {
	for i, x := range a {
		if x != b[i] {
			return x < b[i]
		}
	}
	return false
}

// result returns the workspace's vector with its sum.
func (w *Workspace) result() Result { return Result{Vector: w.out, Total: sum(w.out), Converged: true} }

// sum adds from left to right. An assembly version could add in another order.
func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}

func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
