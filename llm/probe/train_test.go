package probe

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

func zeros(n, d int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
	}
	return x
}

func dense(rows [][]float64) *mat.Dense {
	return mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...))
}

func randomMatrix(r *rand.Rand, n, d int) [][]float64 {
	x := zeros(n, d)
	for i := range n {
		for j := range d {
			x[i][j] = r.NormFloat64()*float64(1+j%5) + float64(j)
		}
	}
	return x
}

// At the optimum the gradient of the loss, computed by finite differences, is zero. [CP-2]
func TestLogisticOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n, k := rapid.IntRange(4, 30).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "k")
		c := []float64{0.01, 1, 100}[r.IntN(3)]
		z := zeros(n, k)
		right := make([]bool, n)
		yes := 0
		for i := range n {
			right[i] = i == 0 || i > 1 && r.IntN(3) > 0
			if right[i] {
				yes++
			}
			for j := range k {
				z[i][j] = r.NormFloat64()
			}
		}
		m, err := fitLogistic(dense(z), right, c)
		if err != nil {
			t.Fatal(err)
		}
		loss := func(w []float64, b float64) float64 {
			sum := b * b / 2 // liblinear penalises the intercept too
			for _, x := range w {
				sum += x * x / 2
			}
			for i := range n {
				margin := b
				for j := range k {
					margin += w[j] * z[i][j]
				}
				p, weight := 1/(1+math.Exp(-margin)), float64(n)/float64(2*(n-yes))
				if right[i] {
					weight = float64(n) / float64(2*yes)
				} else {
					p = 1 - p
				}
				sum -= c * weight * math.Log(p)
			}
			return sum
		}
		const h = 1e-5
		for j := range k + 1 {
			up, down := append([]float64(nil), m.w...), append([]float64(nil), m.w...)
			bu, bd := m.bias, m.bias
			if j < k {
				up[j], down[j] = up[j]+h, down[j]-h
			} else {
				bu, bd = bu+h, bd-h
			}
			if g := (loss(up, bu) - loss(down, bd)) / (2 * h); math.Abs(g) > 1e-3*math.Max(1, c) {
				t.Fatalf("the gradient along %d is %v", j, g)
			}
		}
	})
}

func TestOneClass(t *testing.T) {
	if _, err := fitLogistic(mat.NewDense(3, 1, []float64{1, 2, 3}), []bool{true, true, true}, 1); err == nil ||
		!strings.Contains(err.Error(), "of 3 training answers 3 are right") {
		t.Error(err)
	}
}

// The components are orthonormal and sorted by decreasing variance. After the z-score every
// coordinate has mean 0 and standard deviation 1. Variances are gonum's. The first k components of a larger basis
// equal a basis with k components.
func TestBasis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		n, d := rapid.IntRange(3, 25).Draw(t, "n"), rapid.IntRange(2, 40).Draw(t, "d")
		x := randomMatrix(r, n, d)
		b, err := fitBasis(dense(x), maxComponents)
		if err != nil {
			t.Fatal(err)
		}
		k := len(b.deviation)
		if want := min(n-1, d); k != want || math.Abs(b.share-1) > 1e-9 {
			t.Fatalf("%d components of %d×%d have the share %v of the variance", k, n, d, b.share)
		}
		var reference stat.PC
		if !reference.PrincipalComponents(dense(x), nil) {
			t.Fatal("gonum finds no components")
		}
		for i, variance := range reference.VarsTo(nil)[:k] {
			got := b.deviation[i] * b.deviation[i] * float64(n) / float64(n-1)
			if math.Abs(got-variance) > 1e-9*(1+variance) {
				t.Fatalf("component %d has the variance %v, gonum's %v", i, got, variance)
			}
		}
		var gram mat.SymDense
		gram.SymOuterK(1, b.vectors.T())
		z := b.apply(dense(x))
		for i := range k {
			for j := range k {
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(gram.At(i, j)-want) > 1e-9 {
					t.Fatalf("components %d and %d: %v", i, j, gram.At(i, j))
				}
			}
			mean, square := 0.0, 0.0
			for row := range n {
				mean += z.At(row, i) / float64(n)
				square += z.At(row, i) * z.At(row, i) / float64(n)
			}
			if math.Abs(mean) > 1e-6 || math.Abs(square-1) > 1e-6 || i > 0 && b.deviation[i] > b.deviation[i-1] {
				t.Fatalf("component %d: mean %v, mean square %v, deviations %v", i, mean, square, b.deviation)
			}
		}
		few := rapid.IntRange(1, k).Draw(t, "few")
		narrow, direct := b.narrower(few), must(fitBasis(dense(x), few))
		if math.Abs(narrow.share-direct.share) > 1e-9 {
			t.Fatalf("%d components have the shares %v and %v of the variance", few, narrow.share, direct.share)
		}
		// The weights of the state give the same function as those of the basis.
		w := make([]float64, few)
		for i := range w {
			w[i] = r.NormFloat64()
		}
		weights, bias := narrow.fold(w, 0.5)
		coordinates := narrow.apply(dense(x))
		for row := range n {
			a, c := 0.5, bias
			for i := range w {
				a += w[i] * coordinates.At(row, i)
			}
			for j := range d {
				c += weights[j] * x[row][j]
			}
			if math.Abs(a-c) > 1e-6*(1+math.Abs(a)) {
				t.Fatalf("row %d: %v in the basis, %v folded", row, a, c)
			}
		}
	})
	if _, err := fitBasis(dense(zeros(4, 2)), 2); !errors.Is(err, errFlat) {
		t.Error(err)
	}
}

func must(b *basis, err error) *basis {
	if err != nil {
		panic(err)
	}
	return b
}

// planted returns data with a signal in one place: in layer 1 at "mean", the states of right
// answers are shifted in one direction by the given distance.
func planted(n int, shift float64, seed uint64) Data {
	r := rand.New(rand.NewPCG(seed, 3))
	d := Data{Task: "generated", Subject: Subject{SHA256: "ab", Layers: 3, Width: 12, Form: "choice"},
		Layers: []int{0, 1, 2}, Positions: []string{"last", "mean"}}
	for i := range n {
		p := -r.ExpFloat64()
		d.Samples = append(d.Samples, Sample{Question: fmt.Sprint("q", i/2), Right: r.IntN(10) < 6, Logprob: &p,
			Asked: true})
	}
	states := map[string][][]float32{}
	for _, l := range d.Layers {
		for _, p := range d.Positions {
			for _, s := range d.Samples {
				row := make([]float32, 12)
				for j := range row {
					row[j] = float32(r.NormFloat64())
				}
				if s.Right && l == 1 && p == "mean" {
					row[4] += float32(shift)
				}
				states[fmt.Sprint(l, p)] = append(states[fmt.Sprint(l, p)], row)
			}
		}
	}
	d.States = func(l int, p string) ([][]float32, error) { return states[fmt.Sprint(l, p)], nil }
	return d
}

// Train finds the layer and position of a signal. Without a signal the report states that the
// probe is not shown to beat chance.
func TestTrain(t *testing.T) {
	cfg := Defaults()
	cfg.Components = []int{4, 256}
	r, p, err := Train(planted(500, 2, 7), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if p.Layer != 1 || p.Position != "mean" || r.Probe.AUC.Low <= 0.5 ||
		!strings.HasPrefix(r.Verdict, "the probe beats chance") {
		t.Errorf("layer %d %s, %+v: %s", p.Layer, p.Position, r.Probe.AUC, r.Verdict)
	}
	if r.Training.Answers+r.Validation.Answers+r.Test.Answers != 500 || r.Test.Answers != r.Probe.N ||
		len(r.Sweep) != 12 {
		t.Errorf("%+v %+v %+v, %d cells", r.Training, r.Validation, r.Test, len(r.Sweep))
	}
	for _, c := range r.Sweep { // CP-WBFT, Appendix C: accuracy, precision, F1 and AUC of every cell
		if c.Accuracy == nil || c.Precision == nil || c.F1 == nil || *c.F1 > 1 || *c.F1 > 2**c.Precision {
			t.Errorf("layer %d, %s: %+v", c.Layer, c.Position, c)
		}
	}
	if r.Rivals[0].Unreadable != r.Test.Answers || r.Rivals[0].Figures.AUC.Value != 0.5 || r.Rivals[0].Behind.Low <= 0 {
		t.Errorf("a model that states no confidence: %+v", r.Rivals[0])
	}
	same, err := Evaluate(p, planted(500, 2, 7))
	if err != nil || same.Probe.AUC.Value != r.Probe.AUC.Value || same.Test != r.Test {
		t.Errorf("measured again on its own test questions: %+v, %v", same.Probe.AUC, err)
	}
	other := planted(300, 2, 8)
	other.Task = "other"
	if all, err := Evaluate(p, other); err != nil || all.Test.Answers != 300 || all.Probe.AUC.Low < 0.5 {
		t.Errorf("on another task: %+v, %v", all.Test, err)
	}
	noise, _, err := Train(planted(500, 0, 9), cfg)
	if err != nil || !strings.Contains(noise.Verdict, "not shown to beat chance") {
		t.Errorf("%s, %v", noise.Verdict, err)
	}
	again, q, err := Train(planted(500, 2, 7), cfg)
	if err != nil || again.Chosen.Layer != r.Chosen.Layer || fmt.Sprint(q.Weights, q.Bias) != fmt.Sprint(p.Weights,
		p.Bias) {
		t.Error("the same data and seed gave another probe")
	}
}

// The parts have about the expected sizes, and another seed gives other parts.
func TestPartOf(t *testing.T) {
	var n [3]int
	for i := range 10_000 {
		q := fmt.Sprint("arc-easy-", i)
		n[SplitOf(q, 4)]++
	}
	if n[Training] < 5800 || n[Validation] < 1850 || n[Testing] < 1850 {
		t.Error(n)
	}
	differ := 0
	for i := range 100 {
		if SplitOf(fmt.Sprint(i), 1) != SplitOf(fmt.Sprint(i), 2) {
			differ++
		}
	}
	if differ < 30 {
		t.Errorf("with another seed %d of 100 questions are in another part", differ)
	}
}

// BenchmarkCell fits and validates one point of the sweep at the size that
// docs/research/papers.md reports: 500 answers, states of 576 numbers, 256 components.
func BenchmarkCell(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	d := planted(500, 1, 1)
	states := make([][]float32, 500)
	for i := range states {
		states[i] = make([]float32, 576)
		for j := range states[i] {
			states[i][j] = float32(r.NormFloat64())
		}
	}
	d.States = func(int, string) ([][]float32, error) { return states, nil }
	cfg := Defaults()
	t := &trainer{data: d, cfg: cfg, part: func(s Sample) Split { return SplitOf(s.Question, 1) }}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.cells(0, "mean"); err != nil {
			b.Fatal(err)
		}
	}
}
