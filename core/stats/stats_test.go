package stats_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"synod.dev/synod/core/stats"
)

func near(t *testing.T, what string, got, want stats.Estimate, tolerance float64) {
	t.Helper()
	if math.Abs(got.Value-want.Value) > tolerance || math.Abs(got.Low-want.Low) > tolerance ||
		math.Abs(got.High-want.High) > tolerance {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func wilson(k, n float64) stats.Estimate {
	low, high := stats.Wilson(k/n, n)
	return stats.Estimate{Value: k / n, Low: low, High: high}
}

func TestZ(t *testing.T) {
	if z := distuv.UnitNormal.Quantile(0.975); math.Abs(z-stats.Z) > 1e-14 {
		t.Error(z)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{1, 2}, 1.5}, {[]float64{1, 2, 9}, 2}, {[]float64{1, 2, 4, 9}, 3}} {
		if got := stats.Median(c.values); got != c.want {
			t.Errorf("%v: %v", c.values, got)
		}
	}
}

// Newcombe, Statistics in Medicine 17 (1998), Table I: Wilson's score limits.
func TestWilson(t *testing.T) {
	for _, c := range []struct{ k, n, low, high float64 }{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
		{8, 10, 0.4902, 0.9433},
	} {
		near(t, "wilson", wilson(c.k, c.n), stats.Estimate{Value: c.k / c.n, Low: c.low, High: c.high}, 5e-5)
	}
}

// edge returns by bisection where rejected becomes true between in and out.
func edge(in, out float64, rejected func(float64) bool) float64 {
	for range 80 {
		if mid := (in + out) / 2; rejected(mid) {
			out = mid
		} else {
			in = mid
		}
	}
	return in
}

// Wilson's limits are by definition the shares that the score test just rejects.
func TestWilsonByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := float64(rapid.IntRange(1, 500).Draw(t, "n"))
		k := float64(rapid.IntRange(0, int(n)).Draw(t, "k"))
		p := k / n
		rejected := func(q float64) bool { return math.Abs(p-q) > stats.Z*math.Sqrt(q*(1-q)/n) }
		low, high := stats.Wilson(p, n)
		if math.Abs(low-edge(p, 0, rejected)) > 1e-9 || math.Abs(high-edge(p, 1, rejected)) > 1e-9 {
			t.Fatalf("%v/%v: [%v, %v]", k, n, low, high)
		}
	})
}

// Newcombe (1998), Statistics in Medicine 17, 873–890, Table II, method 10: 56/70 −
// 48/80 is 0.2000 (0.0524 to 0.3339), and 9/10 − 3/10 is 0.6000 (0.1705 to 0.8090).
func TestDifference(t *testing.T) {
	near(t, "56/70 − 48/80", stats.Difference(wilson(56, 70), wilson(48, 80)),
		stats.Estimate{Value: 0.2, Low: 0.0524, High: 0.3339}, 5e-5)
	near(t, "9/10 − 3/10", stats.Difference(wilson(9, 10), wilson(3, 10)),
		stats.Estimate{Value: 0.6, Low: 0.1705, High: 0.8090}, 5e-5)
}

// The limits are by definition the differences that the score test just rejects, the probabilities under
// the null hypothesis being the likeliest ones, which are found by search here.
func TestPairedDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := func(name string) int { return rapid.IntRange(0, 30).Draw(t, name) }
		both, lost, won, neither := count("both"), count("lost"), count("won"), count("neither")
		if both+lost+won+neither == 0 {
			return
		}
		n, d := float64(both+lost+won+neither), float64(won-lost)/float64(both+lost+won+neither)
		rejected := func(delta float64) bool {
			q := likeliest(float64(lost), float64(won), n, delta)
			variance := (2*q + delta - delta*delta) / n
			return (d-delta)*(d-delta) > stats.Z*stats.Z*variance
		}
		got := stats.PairedDifference(both, lost, won, neither)
		if low, high := edge(d, -1, rejected), edge(d, 1, rejected); math.Abs(got.Low-low) > 1e-5 ||
			math.Abs(got.High-high) > 1e-5 || got.Value != d {
			t.Fatalf("%+v, by definition %v to %v", got, low, high)
		}
	})
}

// likeliest returns the probability of losses with the largest likelihood if that of wins is higher by delta.
func likeliest(lost, won, n, delta float64) float64 {
	likelihood := func(q float64) float64 {
		sum := 0.0
		for _, term := range [][2]float64{{lost, q}, {won, q + delta}, {n - lost - won, 1 - 2*q - delta}} {
			if term[0] > 0 {
				sum += term[0] * math.Log(max(term[1], 1e-300))
			}
		}
		return sum
	}
	low, high := max(0, -delta), (1-delta)/2
	for range 200 { // the logarithm of the likelihood is concave
		a, b := low+(high-low)/3, high-(high-low)/3
		if likelihood(a) < likelihood(b) {
			low = a
		} else {
			high = b
		}
	}
	return (low + high) / 2
}

// The interval covers the true difference of paired shares about as often as it says.
func TestPairedDifferenceCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const trials = 2000
	covered := 0
	for range trials {
		var c [4]int // both, only before, only after, neither: .5, .1, .2, .2
		for range 60 {
			switch u := rng.Float64(); {
			case u < .5:
				c[0]++
			case u < .6:
				c[1]++
			case u < .8:
				c[2]++
			default:
				c[3]++
			}
		}
		if e := stats.PairedDifference(c[0], c[1], c[2], c[3]); e.Low <= .1 && .1 <= e.High {
			covered++
		}
	}
	if share := float64(covered) / trials; share < .93 || share > .99 {
		t.Errorf("the interval covers the truth in %.3f of trials", share)
	}
}

// Shares of ½±d/2 have the largest variance among shares that differ by d.
func TestWidestDifference(t *testing.T) {
	low, high := stats.WidestDifference(0, 100)
	if want := stats.Z * math.Sqrt(0.5/100); math.Abs(high-want) > 1e-12 || math.Abs(low+want) > 1e-12 {
		t.Errorf("[%v, %v], want ±%v", low, high, want)
	}
	if low, high := stats.WidestDifference(1, 10); low != 1 || high != 1 {
		t.Errorf("a difference of 1 has one pair of shares only: [%v, %v]", low, high)
	}
}

// The limits are by definition the values that their own standard error just rejects.
func TestAUCIntervalByScan(t *testing.T) {
	for _, c := range []struct{ auc, m, n float64 }{{.5, 10, 10}, {.8, 20, 5}, {1, 7, 7}, {0, 3, 9}, {.93, 100, 60}} {
		low, high := stats.AUCInterval(c.auc, c.m, c.n)
		first, last := 2.0, -1.0
		for i := range 100_001 {
			t := float64(i) / 100_000
			q1, q2, star := (1-t)/(2-t), t/(1+t), (c.m+c.n)/2-1
			if se := math.Sqrt(t * (1 - t) * (1 + star*q1 +
				star*q2) / (c.m * c.n)); math.Abs(t-c.auc) <= stats.Z*se+1e-12 {
				first, last = min(first, t), max(last, t)
			}
		}
		if math.Abs(low-first) > 2e-5 || math.Abs(high-last) > 2e-5 {
			t.Errorf("%+v: [%v, %v], by scan [%v, %v]", c, low, high, first, last)
		}
	}
}

// Against exact rationals.
func TestMcNemar(t *testing.T) {
	if stats.McNemar(0, 0) != 1 || stats.McNemar(5, 5) != 1 || math.Abs(stats.McNemar(0, 5)-0.0625) > 1e-12 {
		t.Error(stats.McNemar(0, 0), stats.McNemar(5, 5), stats.McNemar(0, 5))
	}
	rapid.Check(t, func(t *rapid.T) {
		b, c := rapid.IntRange(0, 150).Draw(t, "b"), rapid.IntRange(0, 150).Draw(t, "c")
		n, sum := int64(b+c), new(big.Int)
		for k := range int64(min(b, c)) + 1 {
			sum.Add(sum, new(big.Int).Binomial(n, k))
		}
		want, _ := new(big.Rat).SetFrac(sum.Lsh(sum, 1), new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
		if got := stats.McNemar(b, c); math.Abs(got-min(want, 1)) > 1e-9 {
			t.Fatalf("%d against %d: %v, want %v", b, c, got, min(want, 1))
		}
	})
}

// The jackknife of a mean with single observations as groups is Student's interval.
func TestJackknife(t *testing.T) {
	values := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}
	var without []float64
	for i := range values {
		rest := slices.Delete(slices.Clone(values), i, i+1)
		without = append(without, stat.Mean(rest, nil))
	}
	want := 2.262157 * math.Sqrt(stat.Variance(values, nil)/10) // Student's quantile, 9 degrees of freedom
	if got := stats.Jackknife(without); math.Abs(got-want) > 1e-5 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMeanEstimate(t *testing.T) {
	near(t, "one value", stats.MeanEstimate(1, 4, 16), stats.Estimate{Value: 4, Low: 0, High: 8}, 1e-12)
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-100, 100), 2, 30).Draw(t, "values")
		sum, squares := 0.0, 0.0
		for _, v := range values {
			sum, squares = sum+v, squares+v*v
		}
		student := distuv.StudentsT{Sigma: 1, Nu: float64(len(values) - 1)}.Quantile(0.975)
		mean, half := stat.Mean(values, nil), student*math.Sqrt(stat.Variance(values, nil)/float64(len(values)))
		if e := stats.MeanEstimate(len(values), sum, squares); math.Abs(e.Value-mean) > 1e-9 ||
			math.Abs(e.High-mean-half) > 1e-5 || math.Abs(mean-half-e.Low) > 1e-5 {
			t.Fatalf("%+v, want %v ± %v", e, mean, half)
		}
	})
}

// The interval of clustered observations agrees with a bootstrap over clusters.
func TestClusterMean(t *testing.T) {
	var m stats.ClusterMean
	if _, ok := m.Estimate(); ok {
		t.Error("there is no mean of nothing")
	}
	m.Add(1, 0)
	m.Add(3, 4)
	if e, ok := m.Estimate(); !ok || e.Value != .75 || !math.IsInf(e.High, 1) || m.N() != 4 {
		t.Errorf("one cluster: %+v %v", e, ok)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	m = stats.ClusterMean{}
	var sums, sizes []float64
	total, count := 0.0, 0.0
	for range 80 {
		easy, n, sum := rng.Float64(), 1+rng.IntN(6), 0.0
		for range n {
			if rng.Float64() < easy {
				sum++
			}
		}
		m.Add(sum, n)
		sums, sizes = append(sums, sum), append(sizes, float64(n))
		total, count = total+sum, count+float64(n)
	}
	low, high, _ := stats.Bootstrap(rng, len(sums), 4000, func(sample []int) (float64, bool) {
		s, n := 0.0, 0.0
		for _, i := range sample {
			s, n = s+sums[i], n+sizes[i]
		}
		return s / n, true
	})
	e, _ := m.Estimate()
	near(t, "80 clusters", e, stats.Estimate{Value: total / count, Low: low, High: high}, .015)
}

func TestBootstrap(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(i%4) / 4 // mean 3/8, variance 5/64
	}
	mean := func(sample []int) (float64, bool) {
		sum := 0.0
		for _, i := range sample {
			sum += values[i]
		}
		return sum / float64(len(sample)), true
	}
	run := func(seed uint64) (low, high float64) {
		low, high, ok := stats.Bootstrap(rand.New(rand.NewPCG(seed, 0)), len(values), 4000, mean)
		if !ok {
			t.Fatal("no interval")
		}
		return low, high
	}
	low, high := run(7)
	if a, b := run(7); a != low || b != high {
		t.Error("the same seed must give the same interval")
	}
	half := stats.Z * math.Sqrt(5.0/64/200) // the normal interval, which is close
	near(t, "mean", stats.Estimate{Low: low, High: high}, stats.Estimate{Low: .375 - half, High: .375 + half}, .004)
	if _, _, ok := stats.Bootstrap(rand.New(rand.NewPCG(1, 0)), 3, 10,
		func([]int) (float64, bool) { return 0, false }); ok {
		t.Error("a statistic that never exists has no interval")
	}
}

func forecasts(t *rapid.T) []stats.Forecast {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) stats.Forecast {
		return stats.Forecast{Confidence: float64(rapid.IntRange(0, 20).Draw(t, "confidence")) / 20,
			Right: rapid.Bool().Draw(t, "right")}
	}), 0, 40).Draw(t, "forecasts")
}

// The AUC is the share of pairs in the right order, and the area under gonum's ROC curve.
func TestAUC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := forecasts(t)
		won, pairs := 0.0, 0.0
		for _, a := range list {
			for _, b := range list {
				if a.Right && !b.Right {
					pairs++
					switch {
					case a.Confidence > b.Confidence:
						won++
					case a.Confidence == b.Confidence:
						won += .5
					}
				}
			}
		}
		got, ok := stats.AUC(list)
		if ok != (pairs > 0) || ok && math.Abs(got-won/pairs) > 1e-12 {
			t.Fatalf("%v %v, by pairs %v of %v", got, ok, won, pairs)
		}
		if !ok {
			return
		}
		slices.SortFunc(list, func(a, b stats.Forecast) int { return int(20*a.Confidence) - int(20*b.Confidence) })
		var y []float64
		var classes []bool
		for _, f := range list {
			y, classes = append(y, f.Confidence), append(classes, f.Right)
		}
		tpr, fpr, _ := stat.ROC(nil, y, classes, nil)
		if area := integrate.Trapezoidal(fpr, tpr); math.Abs(got-area) > 1e-9 {
			t.Fatalf("%v, area under the ROC curve %v", got, area)
		}
	})
}

// Brier score and calibration error by their definitions.
func TestBrierAndECE(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := forecasts(t)
		brier, okB := stats.Brier(list)
		ece, okE := stats.ECE(list)
		if okB != (len(list) > 0) || okE != okB {
			t.Fatal(okB, okE)
		}
		if !okB {
			return
		}
		wantB, wantE := 0.0, 0.0
		for b := range stats.Bins {
			confidence, right, n := 0.0, 0.0, 0.0
			for _, f := range list {
				if twentieths := int(math.Round(20 * f.Confidence)); min(9, twentieths/2) != b {
					continue
				}
				n++
				confidence += f.Confidence
				if f.Right {
					right++
				}
			}
			if n > 0 {
				wantE += n / float64(len(list)) * math.Abs(confidence/n-right/n)
			}
		}
		for _, f := range list {
			truth := map[bool]float64{true: 1}[f.Right]
			wantB += math.Pow(f.Confidence-truth, 2) / float64(len(list))
		}
		if math.Abs(brier-wantB) > 1e-12 || math.Abs(ece-wantE) > 1e-12 {
			t.Fatalf("Brier %v, want %v; ECE %v, want %v", brier, wantB, ece, wantE)
		}
	})
}

func TestReliabilityBins(t *testing.T) {
	var r stats.Reliability
	for _, c := range []float64{0, .05, .1, .95, 1} {
		r.Add(stats.Forecast{Confidence: c, Right: c > .5})
	}
	if r.N != [stats.Bins]int{2, 1, 0, 0, 0, 0, 0, 0, 0, 2} || r.Right[9] != 2 || r.Confidence[9] != 1.95 ||
		r.Total() != 5 {
		t.Errorf("%+v", r)
	}
}
