package odds

import (
	"fmt"
	"math"
	"slices"
)

// mostWeight bounds the log-odds and coefficients of a model, far above what any questions fit.
const mostWeight = 1000

// Check returns an error if a model that was read is not one that Fit can have made: it may come from a file of
// somebody else.
func (m *Predictor) Check() error {
	n := len(m.Members)
	wide := len(m.Coefficients)
	switch {
	case m.Labels < 1:
		return fmt.Errorf("odds: labels is %d; it must be at least 1", m.Labels)
	case m.Feedback < 0 || m.Feedback > m.Labels:
		return fmt.Errorf("odds: feedback is %d; it must be between 0 and the %d labels", m.Feedback, m.Labels)
	case !areMarks(m.Marks, n):
		return fmt.Errorf("odds: marks must have, for each of the %d members, none or %d ascending numbers between 0 "+
			"and 1", n, sureParts-1)
	case wide != m.width():
		return fmt.Errorf("odds: %d coefficients for %d members; there must be %d", wide, n, m.width())
	case !numbers(m.Coefficients, -mostWeight, mostWeight):
		return fmt.Errorf("odds: a coefficient is not a number between -%d and %d", mostWeight, mostWeight)
	case !isSquare(m.Same, n, 0, 1):
		return fmt.Errorf("odds: same must be a table of %d times %d numbers between 0 and 1", n, n)
	case !isSquare(m.Covariance, wide, -mostWeight, mostWeight):
		return fmt.Errorf("odds: covariance must be a table of %d times %d numbers", wide, wide)
	}
	if _, all := m.Kinds[""]; !all {
		return fmt.Errorf(`odds: kinds lacks "", which is about all kinds together`)
	}
	for name, k := range m.Kinds {
		if len(k.LogOdds) != n || !numbers(k.LogOdds, -mostWeight, mostWeight) {
			return fmt.Errorf("odds: the kind %q must have log-odds for each of the %d members", name, n)
		}
	}
	return nil
}

// areMarks accepts what marksOf returns.
func areMarks(rows [][]float64, n int) bool {
	return rows == nil || len(rows) == n && !slices.ContainsFunc(rows, func(row []float64) bool {
		return len(row) != 0 && len(row) != sureParts-1 || !slices.IsSorted(row) || !numbers(row, 0, 1)
	})
}

func isSquare(rows [][]float64, n int, low, high float64) bool {
	return len(rows) == n && !slices.ContainsFunc(rows, func(row []float64) bool {
		return len(row) != n || !numbers(row, low, high)
	})
}

func numbers(list []float64, low, high float64) bool {
	return !slices.ContainsFunc(list, func(x float64) bool { return math.IsNaN(x) || x < low || x > high })
}
