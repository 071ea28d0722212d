package robust

import (
	"fmt"
	"slices"

	"synod.dev/synod"
)

// Aggregate is a named way to combine vectors of which some may be hostile.
type Aggregate struct {
	synod.Entry

	// Bound returns the largest number of hostile vectors of n that the aggregate is
	// meant for, or -1 if n is too small.
	Bound func(n int) int

	// Compute aggregates vectors of which at most f are hostile, 0 ≤ f ≤ Bound(n).
	// It must depend on the multiset of vectors only: the same vectors in another
	// order, and on another processor, must give the same bits. Canonical and
	// explicit roundings (see the package comment) achieve this. Compute must not
	// change the vectors. It may ignore the workspace.
	Compute func(w *Workspace, vectors [][]float64, f int) (Result, error)
}

// Of aggregates vectors of which at most f are hostile. It returns an error that
// wraps ErrInput if f is negative or above the bound, or if vectors are unusable.
func (a Aggregate) Of(w *Workspace, vectors [][]float64, f int) (Result, error) {
	n := len(vectors)
	switch most := a.Bound(n); {
	case most < 0:
		return Result{}, fmt.Errorf("%w: %d vectors are too few for %s", ErrInput, n, a.Name)
	case f < 0 || f > most:
		return Result{}, fmt.Errorf("%w: %s of %d vectors tolerates at most %d hostile ones, not %d", ErrInput, a.Name,
			n, most, f)
	}
	return a.Compute(w, vectors, f)
}

// Catalogue lists the aggregates by name. A program of another module adds its own
// with Catalogue.Add at the start of main.
var Catalogue = synod.NewCatalogue("aggregate",
	Aggregate{
		synod.Entry{Name: "bulyan", Summary: "Krum repeatedly, then per entry a mean around the median of the chosen " +
			"vectors"},
		quarter, (*Workspace).Bulyan,
	},
	Aggregate{
		synod.Entry{Name: "coordinate-median", Summary: "the median of each entry separately"},
		half, ignoreF((*Workspace).CoordinateMedian),
	},
	Aggregate{
		synod.Entry{Name: "geometric-median", Summary: "the point nearest to all vectors together; it may leave the " +
			"range of the honest vectors"},
		half, ignoreF((*Workspace).GeometricMedian),
	},
	Aggregate{
		synod.Entry{Name: "krum", Summary: "the vector nearest to its n-f-2 nearest others"},
		krumBound, (*Workspace).Krum,
	},
	Aggregate{
		synod.Entry{Name: "median-total", Summary: "the median of the vectors' sums; it stays in the range of the " +
			"honest sums"},
		half, ignoreF((*Workspace).MedianTotal),
	},
	Aggregate{
		synod.Entry{Name: "trimmed-mean", Summary: "the mean of each entry without its f lowest and f highest values"},
		half, (*Workspace).TrimmedMean,
	},
)

// Canonical returns a copy of the vectors in lexicographic order, with minus zero
// replaced by zero. Equal multisets of vectors give equal results. The error wraps
// ErrInput if there are no vectors, if they are empty or differ in length, or if an
// entry is not a number within ±Limit.
func Canonical(vectors [][]float64) ([][]float64, error) {
	var w Workspace
	if err := w.load(vectors); err != nil {
		return nil, err
	}
	return slices.Clone(w.rows), nil
}

func ignoreF(of func(*Workspace, [][]float64) (Result, error)) func(*Workspace, [][]float64, int) (Result, error) {
	return func(w *Workspace, vectors [][]float64, _ int) (Result, error) { return of(w, vectors) }
}

func half(n int) int { return (n+1)/2 - 1 }

func krumBound(n int) int {
	if n < 3 {
		return -1
	}
	return (n - 3) / 2
}

func quarter(n int) int {
	if n < 3 {
		return -1
	}
	return (n - 3) / 4
}
