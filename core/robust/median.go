package robust

import (
	"fmt"
	"slices"

	"synod.dev/synod/core/stats"
)

// CoordinateMedian returns the median of each entry separately; of an even number,
// the mean of the middle two. With f < n/2 hostile vectors every entry lies in the
// range of the honest entries. The vector as a whole need not resemble any of them.
func (w *Workspace) CoordinateMedian(vectors [][]float64) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	for j := range w.out {
		w.out[j] = stats.Median(w.sorted(j))
	}
	return w.result(), nil
}

// MedianTotal returns the median of the vectors' sums; of an even number, the mean
// of the middle two. With f < n/2 hostile vectors it lies in the range of the
// honest sums, which the geometric median does not guarantee (finding F6).
func (w *Workspace) MedianTotal(vectors [][]float64) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	w.totals = resize(w.totals, len(w.rows))
	for i, row := range w.rows {
		w.totals[i] = sum(row)
	}
	slices.Sort(w.totals)
	return Result{Total: stats.Median(w.totals), Converged: true}, nil
}

// TrimmedMean drops the f lowest and the f highest values of each entry and returns
// the mean of the rest; n must exceed 2f. With at most f hostile vectors every entry
// lies in the range of the honest entries. With one more, a hostile value can stay
// in the mean and move it arbitrarily far.
func (w *Workspace) TrimmedMean(vectors [][]float64, f int) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	if n := len(w.rows); f < 0 || n <= 2*f {
		return Result{}, fmt.Errorf("%w: a mean of %d vectors cannot be trimmed by %d at both ends", ErrInput, n, f)
	}
	for j := range w.out {
		w.out[j] = mean(w.sorted(j)[f : len(w.rows)-f])
	}
	return w.result(), nil
}

// sorted returns column j in ascending order.
func (w *Workspace) sorted(j int) []float64 {
	w.column = resize(w.column, len(w.rows))
	for i, row := range w.rows {
		w.column[i] = row[j]
	}
	slices.Sort(w.column)
	return w.column
}

// mean returns the mean of ascending values, limited to their range because
// rounding could leave it.
func mean(ascending []float64) float64 {
	m := sum(ascending) / float64(len(ascending))
	return min(max(m, ascending[0]), ascending[len(ascending)-1])
}
