// Package linear has the linear algebra of symmetric matrices that graphs and probes need: eigenvalues, eigenvectors
// and systems of equations.
//
// gonum/mat has these too. It keeps all of LAPACK in every program that uses it, 2 MB of the command and a sixth of the
// time of its build, for the 150 lines here; the tests compare every function with gonum.
//
// The package is pure and has rank −1: package graph uses it.
package linear

import (
	"cmp"
	"math"
	"slices"
)

// Dot returns the inner product of two vectors of the same length.
func Dot(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// addScaled adds f times b to a.
func addScaled(a []float64, f float64, b []float64) {
	a = a[:len(b)]
	for i, v := range b {
		a[i] += f * v
	}
}

// maxSteps is the largest number of steps for one eigenvalue; two are usual.
const maxSteps = 60

// Eigen returns the eigenvalues of a symmetric matrix in ascending order and, if wanted, unit eigenvectors in the same
// order, one a row. It overwrites the matrix. ok is false if a value is not finite or the iteration does not end.
//
// The matrix is reduced to three diagonals by reflections, whose eigenvalues are found by QL steps with implicit shifts
// (Golub and Van Loan, Matrix Computations, 4th edition, algorithms 8.3.1 and 8.3.2). Time grows with n³.
func Eigen(a [][]float64, wantVectors bool) (values []float64, vectors [][]float64, ok bool) {
	values, beside := tridiagonal(a)
	if wantVectors {
		vectors = product(a)
	}
	if !diagonalise(values, beside, vectors) {
		return nil, nil, false
	}
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	sorted, rows := make([]float64, len(values)), make([][]float64, len(vectors))
	for k, i := range order {
		if sorted[k] = values[i]; wantVectors {
			rows[k] = vectors[i]
		}
	}
	return sorted, rows, true
}

// tridiagonal reduces a symmetric matrix to a diagonal and the values beside it. Reflection k is I − 2·v·vᵀ with
// v in columns k+1 and up of row k of the matrix afterwards; v is 0 where nothing was reflected.
func tridiagonal(a [][]float64) (diagonal, beside []float64) {
	n := len(a)
	diagonal, beside = make([]float64, n), make([]float64, n)
	for k := range n {
		diagonal[k] = a[k][k]
		v := a[k][k+1:]
		if len(v) == 0 {
			break
		}
		if norm(v[1:]) == 0 {
			beside[k], v[0] = v[0], 0
			continue
		}
		beside[k] = -math.Copysign(norm(v), v[0])
		v[0] -= beside[k]
		scale := norm(v)
		for i := range v { // a unit vector, so that no square overflows
			v[i] /= scale
		}
		reflect(a[k+1:], v, k+1)
	}
	return diagonal, beside
}

// norm returns the Euclidean length of a vector without overflow.
func norm(v []float64) float64 {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 || math.IsInf(largest, 0) || math.IsNaN(largest) {
		return largest
	}
	sum := 0.0
	for _, x := range v {
		sum += x / largest * (x / largest)
	}
	return largest * math.Sqrt(sum)
}

// reflect replaces the part A of a matrix, its rows from a column on, by H·A·H with H = I − 2·v·vᵀ.
func reflect(rows [][]float64, v []float64, from int) {
	w := make([]float64, len(v))
	for i, row := range rows {
		w[i] = 2 * Dot(row[from:], v)
	}
	addScaled(w, -Dot(w, v), v)
	for i, row := range rows {
		addScaled(row[from:], -v[i], w)
		addScaled(row[from:], -w[i], v)
	}
}

// product returns the transposed product of the reflections.
func product(a [][]float64) [][]float64 {
	n := len(a)
	q := make([][]float64, n)
	for i := range q {
		q[i] = make([]float64, n)
		q[i][i] = 1
	}
	for k := n - 1; k >= 0; k-- {
		v := a[k][k+1:]
		for _, row := range q[k+1:] {
			addScaled(row[k+1:], -2*Dot(row[k+1:], v), v)
		}
	}
	return q
}

// diagonalise turns a matrix of three diagonals into its eigenvalues, and rotates the rows of vectors, if there are
// any, in the same way.
func diagonalise(d, e []float64, vectors [][]float64) bool {
	for l := range d {
		for step := 0; ; step++ {
			m := l
			for ; m < len(d)-1; m++ { // the first value beside the diagonal that is negligible
				if size := math.Abs(d[m]) + math.Abs(d[m+1]); math.Abs(e[m]) <= 0x1p-52*size {
					break
				}
			}
			if m == l {
				break
			}
			if step == maxSteps {
				return false
			}
			implicitStep(d, e, vectors, l, m)
		}
		if math.IsNaN(d[l]) || math.IsInf(d[l], 0) {
			return false
		}
	}
	return true
}

// implicitStep is one QL step with Wilkinson's shift on rows l to m.
func implicitStep(d, e []float64, vectors [][]float64, l, m int) {
	g := (d[l+1] - d[l]) / (2 * e[l])
	g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := s*e[i], c*e[i]
		r := math.Hypot(f, g)
		if e[i+1] = r; r == 0 {
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = (d[i]-g)*s + 2*c*b
		p = s * r
		d[i+1] = g + p
		g = c*r - b
		if vectors != nil {
			rotate(vectors[i], vectors[i+1], s, c)
		}
	}
	d[l] -= p
	e[l], e[m] = g, 0
}

func rotate(a, b []float64, s, c float64) {
	b = b[:len(a)]
	for k, x := range a {
		y := b[k]
		a[k], b[k] = c*x-s*y, s*x+c*y
	}
}

// Solve returns x with a·x = b for a symmetric positive definite matrix, of which it reads the lower half and
// overwrites it with its Cholesky factor. ok is false if the matrix is not positive definite.
func Solve(a [][]float64, b []float64) (x []float64, ok bool) {
	x = slices.Clone(b)
	for i, row := range a {
		for j, other := range a[:i] {
			row[j] = (row[j] - Dot(row[:j], other[:j])) / other[j]
		}
		pivot := row[i] - Dot(row[:i], row[:i])
		if !(pivot > 0) || math.IsInf(pivot, 0) {
			return nil, false
		}
		row[i] = math.Sqrt(pivot)
		x[i] = (x[i] - Dot(row[:i], x[:i])) / row[i]
	}
	for i := len(a) - 1; i >= 0; i-- {
		x[i] /= a[i][i]
		addScaled(x[:i], -x[i], a[i][:i])
	}
	return x, true
}
