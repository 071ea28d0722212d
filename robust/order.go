package robust

import (
	"fmt"
	"slices"
)

// CoordinateMedian is the median of each entry by itself; of an even number, the
// mean of the middle two. With f < n/2 hostile vectors every entry lies in the
// range of the honest entries; the vector as a whole need not look like any of
// theirs.
func (w *Workspace) CoordinateMedian(vectors [][]float64) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	for j := range w.out {
		w.out[j] = middle(w.sorted(j))
	}
	return w.result(), nil
}

// MedianTotal is the median of the vectors' sums; of an even number, the mean of
// the middle two. With f < n/2 hostile vectors it lies in the range of the honest
// sums, which the geometric median does not promise (F6).
func (w *Workspace) MedianTotal(vectors [][]float64) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	w.totals = resize(w.totals, len(w.rows))
	for i, row := range w.rows {
		w.totals[i] = sum(row)
	}
	slices.Sort(w.totals)
	return Result{Total: middle(w.totals), Converged: true}, nil
}

// TrimmedMean drops the f lowest and the f highest of each entry and takes the
// mean of the rest; n must exceed 2f. With at most f hostile vectors every entry
// lies in the range of the honest entries; one more, and one hostile value stays
// in the mean with any weight it likes.
func (w *Workspace) TrimmedMean(vectors [][]float64, f int) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	if n := len(w.rows); f < 0 || n <= 2*f {
		return Result{}, fmt.Errorf("%w: a mean of %d vectors cannot be trimmed by %d at either end", ErrInput, n, f)
	}
	for j := range w.out {
		w.out[j] = mean(w.sorted(j)[f : len(w.rows)-f])
	}
	return w.result(), nil
}

// sorted is column j in ascending order.
func (w *Workspace) sorted(j int) []float64 {
	w.column = resize(w.column, len(w.rows))
	for i, row := range w.rows {
		w.column[i] = row[j]
	}
	slices.Sort(w.column)
	return w.column
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// mean is the mean of ascending values, and in their range whatever was rounded.
func mean(sorted []float64) float64 {
	m := sum(sorted) / float64(len(sorted))
	return min(max(m, sorted[0]), sorted[len(sorted)-1])
}
