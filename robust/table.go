package robust

import (
	"fmt"
	"strings"
)

// Aggregate is a way to make one score of many vectors, by name. The table stands
// here, below the vocabulary's Catalogue, because aggregates know no council: a
// protocol that offers them lists this table.
type Aggregate struct {
	Name    string
	Summary string
	// Bound is the largest number of hostile vectors of n that it is meant for, -1
	// if n is too small for any use.
	Bound func(n int) int
	// Of aggregates vectors of which at most f are hostile, 0 ≤ f ≤ Bound(n).
	Of func(w *Workspace, vectors [][]float64, f int) (Result, error)
}

// Aggregates lists every aggregate, by name.
var Aggregates = []Aggregate{
	bounded("bulyan", "Krum again and again, then a mean around the median of those taken", quarter, (*Workspace).Bulyan),
	bounded("coordinate-median", "the median of each entry by itself", half, without((*Workspace).CoordinateMedian)),
	bounded("geometric-median", "the point nearest to all vectors together; it may leave the range of the honest", half, without((*Workspace).GeometricMedian)),
	bounded("krum", "the vector that is nearest to its n-f-2 nearest others", krumBound, (*Workspace).Krum),
	bounded("median-total", "the median of the vectors' sums; it stays in the range of the honest sums", half, without((*Workspace).MedianTotal)),
	bounded("trimmed-mean", "the mean of each entry without its f lowest and f highest", half, (*Workspace).TrimmedMean),
}

// Find returns the aggregate of that name.
func Find(name string) (Aggregate, error) {
	names := make([]string, len(Aggregates))
	for i, a := range Aggregates {
		if a.Name == name {
			return a, nil
		}
		names[i] = a.Name
	}
	return Aggregate{}, fmt.Errorf("robust: no aggregate is called %q; there are: %s", name, strings.Join(names, ", "))
}

// bounded refuses more hostile vectors than the aggregate is meant for.
func bounded(name, summary string, bound func(int) int, of func(*Workspace, [][]float64, int) (Result, error)) Aggregate {
	return Aggregate{name, summary, bound, func(w *Workspace, vectors [][]float64, f int) (Result, error) {
		n := len(vectors)
		switch most := bound(n); {
		case most < 0:
			return Result{}, fmt.Errorf("%w: %d vectors are too few for %s", ErrInput, n, name)
		case f < 0 || f > most:
			return Result{}, fmt.Errorf("%w: %s of %d vectors is meant for at most %d hostile ones, not %d", ErrInput, name, n, most, f)
		}
		return of(w, vectors, f)
	}}
}

// without is an aggregate that does not look at f.
func without(of func(*Workspace, [][]float64) (Result, error)) func(*Workspace, [][]float64, int) (Result, error) {
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
