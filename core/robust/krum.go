package robust

import (
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod/core/stats"
)

// Krum returns the vector with the least sum of squared distances to its n-f-2
// nearest others; of equal ones, the first in lexicographic order. n must be at
// least 2f+3 (DecentLLMs §III.C.3 allows f ≤ (n-2)/2, one more than Blanchard et
// al. prove).
//
// With at most f+1 hostile vectors the result is near the honest ones: an honest
// vector still has n-f-2 honest others, so the winner's sum is bounded, and at least
// one of the winner's nearest vectors is honest. At n = 2f+3 no more is tolerated:
// f+2 equal hostile vectors have n-f-2 others at distance 0, and win with a sum of 0.
func (w *Workspace) Krum(vectors [][]float64, f int) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	n := len(w.rows)
	if f < 0 || n < 2*f+3 {
		return Result{}, fmt.Errorf("%w: krum with f = %d needs at least %d vectors, not %d", ErrInput, f, 2*f+3, n)
	}
	w.measure()
	copy(w.out, w.rows[w.krum(f)])
	return w.result(), nil
}

// Bulyan chooses n-2f vectors by repeated Krum and returns, for each entry, the mean
// of the n-4f chosen values nearest to the median of the chosen ones; n must be at
// least 4f+3.
//
// With f = 0 it is the mean, which one hostile vector can move arbitrarily far. With
// f ≥ 1 and at most f+1 hostile vectors it is near the honest ones: the hostile
// vectors are a minority of the n-2f chosen ones, so the median is bounded, and
// enough honest values are chosen that the nearest values are bounded too. Whether
// it tolerates more depends on the attack: at n = 4f+3, 2f+1 equal hostile vectors
// win (for f = 1, four).
func (w *Workspace) Bulyan(vectors [][]float64, f int) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	n := len(w.rows)
	if f < 0 || n < 4*f+3 {
		return Result{}, fmt.Errorf("%w: bulyan with f = %d needs at least %d vectors, not %d", ErrInput, f, 4*f+3, n)
	}
	w.measure()
	w.picked = w.picked[:0]
	for range n - 2*f {
		at := w.krum(f)
		row := slices.IndexFunc(w.left, func(i int) bool { return i == at })
		w.left = slices.Delete(w.left, row, row+1)
		w.picked = append(w.picked, at)
	}
	for j := range w.out {
		w.out[j] = w.nearest(j, n-4*f)
	}
	return w.result(), nil
}

// measure computes the squared distances and makes all rows available to krum.
func (w *Workspace) measure() {
	n := len(w.rows)
	w.square, w.left = resize(w.square, n*n), w.left[:0]
	for i, a := range w.rows {
		w.left = append(w.left, i)
		for k, b := range w.rows {
			s := 0.0
			for j := range a {
				d := a[j] - b[j]
				s += float64(d * d)
			}
			w.square[i*n+k] = s
		}
	}
}

// krum returns the row that Krum chooses among the remaining ones. It considers at
// least one neighbour, even if fewer than f+3 rows remain.
func (w *Workspace) krum(f int) (best int) {
	least, n := 0.0, len(w.rows)
	best = -1
	for _, i := range w.left {
		w.near = w.near[:0]
		for _, k := range w.left {
			if k != i {
				w.near = append(w.near, w.square[i*n+k])
			}
		}
		slices.Sort(w.near)
		look := min(max(1, len(w.left)-f-2), len(w.near))
		if s := sum(w.near[:look]); best < 0 || s < least {
			best, least = i, s
		}
	}
	return best
}

// nearest returns the mean of the count chosen values of column j that are nearest to
// their median; of two equally near values, the lower comes first.
func (w *Workspace) nearest(j, count int) float64 {
	w.column = w.column[:0]
	for _, i := range w.picked {
		w.column = append(w.column, w.rows[i][j])
	}
	slices.Sort(w.column)
	m := stats.Median(w.column)
	slices.SortStableFunc(w.column, func(a, b float64) int { return cmp.Compare(max(a-m, m-a), max(b-m, m-b)) })
	near := w.column[:count]
	slices.Sort(near)
	return mean(near)
}
