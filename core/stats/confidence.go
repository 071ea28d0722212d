package stats

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod/internal/order"
)

// Forecast is a confidence in [0,1] that an answer is right, and whether it is.
type Forecast struct {
	Confidence float64
	Right      bool
}

// AUC returns the probability that a right answer has a higher confidence than a
// wrong one, ties counted half: the area under the ROC curve, computed by ranks
// (Mann–Whitney). It does not exist without answers of both kinds.
func AUC(list []Forecast) (float64, bool) {
	sorted := slices.Clone(list)
	order.Sort(sorted, func(a, b Forecast) int { return cmp.Compare(a.Confidence, b.Confidence) })
	var right, wrong, sum float64
	for i := 0; i < len(sorted); {
		end := i
		for end < len(sorted) && sorted[end].Confidence == sorted[i].Confidence {
			end++
		}
		rank := float64(i+1+end) / 2 // mean rank of equal confidences
		for _, f := range sorted[i:end] {
			if f.Right {
				right, sum = right+1, sum+rank
			} else {
				wrong++
			}
		}
		i = end
	}
	if right == 0 || wrong == 0 {
		return 0, false
	}
	return (sum - right*(right+1)/2) / (right * wrong), true
}

// Loss returns the squared error of the forecast, right being 1 and wrong being 0.
func (f Forecast) Loss() float64 {
	d := f.Confidence
	if f.Right {
		d--
	}
	return d * d
}

// Brier returns the mean squared error of forecasts. It does not exist without any.
func Brier(list []Forecast) (float64, bool) {
	sum := 0.0
	for _, f := range list {
		sum += f.Loss()
	}
	return sum / float64(len(list)), len(list) > 0
}

// ECE returns the expected calibration error: the mean over forecasts of how far
// the mean confidence of their bin is from the share of right answers in it. It
// does not exist without forecasts.
func ECE(list []Forecast) (float64, bool) {
	var r Reliability
	for _, f := range list {
		r.Add(f)
	}
	return r.ECE()
}

// Bins is the number of equally wide bins that [0,1] is divided into.
const Bins = 10

// Reliability counts forecasts by bins of confidence; bin b covers [b/Bins,
// (b+1)/Bins), the last one including 1. The zero value is empty.
type Reliability struct {
	N, Right   [Bins]int
	Confidence [Bins]float64 // sums
}

// Add counts a forecast and returns its bin.
func (r *Reliability) Add(f Forecast) (bin int) {
	b := min(Bins-1, max(0, int(f.Confidence*Bins)))
	r.N[b]++
	r.Confidence[b] += f.Confidence
	if f.Right {
		r.Right[b]++
	}
	return b
}

// Total returns the number of forecasts.
func (r *Reliability) Total() (n int) {
	for _, k := range r.N {
		n += k
	}
	return n
}

// ECE returns the expected calibration error. It does not exist without forecasts.
func (r *Reliability) ECE() (float64, bool) {
	sum := 0.0
	for b := range Bins {
		sum += math.Abs(r.Confidence[b] - float64(r.Right[b]))
	}
	n := r.Total()
	return sum / float64(n), n > 0
}
