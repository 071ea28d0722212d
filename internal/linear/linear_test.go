package linear

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// symmetric returns a random symmetric matrix. Some have equal eigenvalues, zeros or values of very different sizes.
func symmetric(t *rapid.T, n int) [][]float64 {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	kind := rapid.SampledFrom([]string{"dense", "sparse", "sizes", "laplacian", "diagonal"}).Draw(t, "kind")
	a := zeros(n)
	for i := range n {
		for j := range i + 1 {
			v := r.NormFloat64()
			switch kind {
			case "sparse", "laplacian":
				v = float64(-r.IntN(2))
			case "sizes":
				v *= math.Pow(10, float64(r.IntN(9)-4))
			case "diagonal":
				v = float64(r.IntN(3))
				if i != j {
					v = 0
				}
			}
			a[i][j], a[j][i] = v, v
		}
	}
	for i := range n {
		if kind == "laplacian" { // its eigenvalues are often equal
			a[i][i] = 0
			for j := range n {
				if j != i {
					a[i][i] -= a[i][j]
				}
			}
		}
	}
	return a
}

func zeros(n int) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	return a
}

func dense(a [][]float64) *mat.SymDense { return mat.NewSymDense(len(a), slices.Concat(a...)) }

func clone(a [][]float64) [][]float64 {
	b := make([][]float64, len(a))
	for i := range a {
		b[i] = slices.Clone(a[i])
	}
	return b
}

// The eigenvalues are gonum's, and the vectors are orthonormal and belong to them.
func TestEigen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		a := symmetric(t, n)
		var reference mat.EigenSym
		if !reference.Factorize(dense(a), false) {
			t.Skip("gonum finds no eigenvalues")
		}
		values, vectors, ok := Eigen(clone(a), true)
		only, none, okToo := Eigen(clone(a), false)
		if !ok || !okToo || len(vectors) != n || len(none) != 0 {
			t.Fatal(ok, okToo, len(vectors), len(none))
		}
		size := 1e-300
		for _, v := range values {
			size = max(size, math.Abs(v))
		}
		for k, want := range reference.Values(nil) {
			if math.Abs(values[k]-want) > 1e-12*size*float64(n) || math.Abs(only[k]-want) > 1e-12*size*float64(n) {
				t.Fatalf("eigenvalue %d is %g and %g, want %g", k, values[k], only[k], want)
			}
			for i := range n {
				if left := Dot(a[i], vectors[k]) - values[k]*vectors[k][i]; math.Abs(left) > 1e-12*size*float64(n) {
					t.Fatalf("row %d of vector %d is wrong by %g", i, k, left)
				}
				want := 0.0
				if i == k {
					want = 1
				}
				if p := Dot(vectors[i], vectors[k]); math.Abs(p-want) > 1e-12*float64(n) {
					t.Fatalf("the product of vectors %d and %d is %g", i, k, p)
				}
			}
		}
	})
}

// A matrix without finite eigenvalues is refused, and an empty one has none.
func TestEigenOfNothing(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64} {
		a := [][]float64{{1, bad, 2}, {bad, 1, 3}, {2, 3, bad}}
		if values, _, ok := Eigen(a, true); ok {
			t.Errorf("%g has the eigenvalues %v", bad, values)
		}
	}
	if values, vectors, ok := Eigen(nil, true); !ok || len(values) != 0 || len(vectors) != 0 {
		t.Error(values, vectors, ok)
	}
}

// The solution is gonum's, and a matrix is refused as not positive definite if and only if gonum refuses it.
func TestSolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		a, b := symmetric(t, n), make([]float64, n)
		shift := rapid.SampledFrom([]float64{0, 5, 1e5}).Draw(t, "shift")
		for i := range n {
			a[i][i] += shift
			b[i] = float64(i%7) - 3
		}
		var reference mat.Cholesky
		definite := reference.Factorize(dense(a))
		if definite && reference.Cond() > 1e9 {
			t.Skip("too close to singular to compare")
		}
		x, ok := Solve(clone(a), b)
		if ok != definite {
			if values, _, _ := Eigen(clone(a), false); math.Abs(values[0]) < 1e-9*math.Abs(values[n-1]) {
				t.Skip("singular but for rounding")
			}
			t.Fatalf("solved: %v; gonum: %v", ok, definite)
		}
		if !ok {
			return
		}
		var want mat.VecDense
		if err := reference.SolveVecTo(&want, mat.NewVecDense(n, b)); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if w := want.AtVec(i); math.Abs(x[i]-w) > 1e-6*max(1, math.Abs(w)) {
				t.Fatalf("x[%d] is %g, want %g", i, x[i], w)
			}
		}
	})
}

func BenchmarkEigen(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	a := zeros(300)
	for i := range a {
		for j := range i + 1 {
			a[i][j] = r.NormFloat64()
			a[j][i] = a[i][j]
		}
	}
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			Eigen(clone(a), true)
		}
	})
	b.Run("gonum", func(b *testing.B) {
		for b.Loop() {
			var e mat.EigenSym
			e.Factorize(dense(a), true)
		}
	})
}

// A value that is tiny beside others in its row counts.
func TestEigenOfVeryDifferentValues(t *testing.T) {
	a := [][]float64{{1, 1e4, 1e-5}, {1e4, 2, 0}, {1e-5, 0, 3}}
	values, vectors, ok := Eigen(clone(a), true)
	if !ok {
		t.Fatal("no eigenvalues")
	}
	for k, v := range vectors {
		for i := range a {
			if left := Dot(a[i], v) - values[k]*v[i]; math.Abs(left) > 1e-10 {
				t.Errorf("row %d of vector %d is wrong by %g", i, k, left)
			}
		}
	}
}
