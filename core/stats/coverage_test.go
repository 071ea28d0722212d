package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/core/stats"
)

// covers counts studies in which an interval has the true value.
type covers struct{ inside, n int }

func (c *covers) add(low, high, truth float64) {
	c.n++
	if low <= truth && truth <= high {
		c.inside++
	}
}

// check compares with the band of 93.5 to 96.5 %, widened by five standard errors of fewer than 10,000 studies.
func (c *covers) check(t *testing.T, what string) {
	t.Helper()
	share, slack := float64(c.inside)/float64(c.n), 5*math.Sqrt(0.05*0.95/float64(c.n))
	if c.n >= 10_000 {
		slack = 0
	}
	t.Logf("| %s | %.1f |", what, 100*share)
	if share < 0.935-slack || share > 0.965+slack {
		t.Errorf("%s: the interval has the true value in %.1f %% of %d studies", what, 100*share, c.n)
	}
}

func successes(chance *rand.Rand, n int, p float64) (k int) {
	for range n {
		if chance.Float64() < p {
			k++
		}
	}
	return k
}

// Of shares that are anywhere between 0.1 and 0.9: Wilson's interval, and that of the difference of two independent
// ones.
func TestCoversShares(t *testing.T) {
	for _, n := range []int{20, 100, 500} {
		chance := rand.New(rand.NewPCG(4, uint64(n)))
		var one, two covers
		for range *studies {
			p, q, size := 0.1+0.8*chance.Float64(), 0.1+0.8*chance.Float64(), float64(n)
			a, b := wilson(float64(successes(chance, n, p)), size), wilson(float64(successes(chance, n, q)), size)
			d := stats.Difference(a, b)
			one.add(a.Low, a.High, p)
			two.add(d.Low, d.High, p-q)
		}
		one.check(t, "Wilson, "+fmt.Sprint(n))
		two.check(t, "difference of independent shares, "+fmt.Sprint(n))
	}
}

// Times are skewed: a gamma distribution of shape 4 around the mean 1.
func TestCoversMeans(t *testing.T) {
	for _, n := range []int{30, 100} {
		chance := rand.New(rand.NewPCG(5, uint64(n)))
		var mean covers
		for range *studies {
			sum, squares := 0.0, 0.0
			for range n {
				x := 0.0
				for range 4 {
					x += chance.ExpFloat64() / 4
				}
				sum, squares = sum+x, squares+x*x
			}
			e := stats.MeanEstimate(n, sum, squares)
			mean.add(e.Low, e.High, 1)
		}
		mean.check(t, "mean of times, "+fmt.Sprint(n))
	}
}

// The AUC of normal confidences whose means differ, so that it is 0.6 to 0.9, with as many right answers as wrong ones.
func TestCoversAUC(t *testing.T) {
	for _, n := range []int{30, 100} {
		chance := rand.New(rand.NewPCG(6, uint64(n)))
		var auc covers
		for range *studies {
			truth := 0.6 + 0.3*chance.Float64()
			shift := 2 * math.Erfinv(2*truth-1)
			var list []stats.Forecast
			for i := range 2 * n {
				f := stats.Forecast{Confidence: chance.NormFloat64(), Right: i%2 == 0}
				if f.Right {
					f.Confidence += shift
				}
				list = append(list, f)
			}
			value, _ := stats.AUC(list)
			low, high := stats.AUCInterval(value, float64(n), float64(n))
			auc.add(low, high, truth)
		}
		auc.check(t, "AUC, "+fmt.Sprint(n)+" of each kind")
	}
}
