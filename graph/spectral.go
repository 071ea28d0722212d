package graph

import (
	"fmt"
	"math"
)

// spectralLimit bounds the dense eigenvalue routine: n³ steps, about a second.
const spectralLimit = 1024

// AlgebraicConnectivity is λ₂, the second smallest eigenvalue of the Laplacian of an undirected graph: 0 exactly when the
// graph is not connected, n for a complete one. The error is below 1e-9·n.
func AlgebraicConnectivity(g Graph) (float64, error) {
	switch {
	case g.directed:
		return 0, fmt.Errorf("graph: algebraic connectivity is defined for undirected graphs")
	case g.n < 2 || g.n > spectralLimit:
		return 0, fmt.Errorf("graph: algebraic connectivity of %d nodes: want 2 to %d", g.n, spectralLimit)
	}
	diagonal, off := tridiagonal(laplacian(g))
	low, high := 0.0, 2*float64(g.MaxDegree())+1
	for high-low > 1e-12*(1+high) {
		mid := low + (high-low)/2
		if mid == low || mid == high {
			break
		}
		if eigenvaluesBelow(diagonal, off, mid) >= 2 {
			high = mid
		} else {
			low = mid
		}
	}
	return low, nil
}

// spectralBound is the largest r with λ₂ > 2(r-1), which makes an undirected graph r-robust: for a pair of sets with
// outside-degrees at most q = r-1 and x = a on S1, -b on S2, x'Lx = a²e₁ + b²e₂ + 2ab·e₁₂ ≤ 2(a²e₁ + b²e₂) ≤ 2q|x|², so the
// form is at most 2q|x|² on a plane and λ₂ ≤ 2q.
func spectralBound(g Graph) int {
	l2, err := AlgebraicConnectivity(g)
	if err != nil {
		return 0
	}
	return int(math.Ceil(l2/2 - 1e-6)) // far more than the rounding error, so never one too many
}

func laplacian(g Graph) [][]float64 {
	a := make([][]float64, g.n)
	for i := range a {
		a[i] = make([]float64, g.n)
		for _, j := range g.In(i) {
			a[i][j] = -1
		}
		a[i][i] = float64(g.InDegree(i))
	}
	return a
}

// tridiagonal reduces a symmetric matrix, destroying it, by Householder reflections to one with the same eigenvalues
// that is zero off the diagonal and its neighbours.
func tridiagonal(a [][]float64) (diagonal, off []float64) {
	n := len(a)
	v, w := make([]float64, n), make([]float64, n)
	for k := range n {
		diagonal = append(diagonal, a[k][k])
		if k == n-1 {
			break
		}
		norm := 0.0
		for i := k + 1; i < n; i++ {
			v[i] = a[i][k]
			norm += v[i] * v[i]
		}
		alpha := -math.Copysign(math.Sqrt(norm), v[k+1])
		off = append(off, alpha)
		v[k+1] -= alpha
		reflect(a, v, w, k+1)
	}
	return diagonal, off
}

// reflect replaces the trailing block A from row and column at on by HAH, H = I - 2vv'/|v|².
func reflect(a [][]float64, v, w []float64, at int) {
	n, norm := len(a), 0.0
	for i := at; i < n; i++ {
		norm += v[i] * v[i]
	}
	if norm == 0 {
		return
	}
	norm = math.Sqrt(norm)
	along := 0.0
	for i := at; i < n; i++ {
		v[i] /= norm
	}
	for i := at; i < n; i++ {
		w[i] = 0
		for j := at; j < n; j++ {
			w[i] += a[i][j] * v[j]
		}
		along += v[i] * w[i]
	}
	for i := at; i < n; i++ {
		w[i] = 2 * (w[i] - along*v[i])
	}
	for i := at; i < n; i++ {
		for j := at; j < n; j++ {
			a[i][j] -= v[i]*w[j] + w[i]*v[j]
		}
	}
}

// eigenvaluesBelow counts the eigenvalues under x of a symmetric tridiagonal matrix by the signs of its LDL' pivots.
func eigenvaluesBelow(diagonal, off []float64, x float64) (count int) {
	pivot := 1.0
	for i, d := range diagonal {
		coupling := 0.0
		if i > 0 {
			coupling = off[i-1] * off[i-1] / pivot
		}
		pivot = d - x - coupling
		if pivot == 0 {
			pivot = 1e-300
		}
		if pivot < 0 {
			count++
		}
	}
	return count
}
