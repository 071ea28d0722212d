package probe

import (
	"cmp"
	"math"
	"slices"
)

// confusion counts what is called right at a confidence of 0.5 or more.
func confusion(list []Judged) (hit, false1, missed, rejected float64) {
	for _, j := range list {
		switch {
		case j.Confidence >= 0.5 && j.Right:
			hit++
		case j.Confidence >= 0.5:
			false1++
		case j.Right:
			missed++
		default:
			rejected++
		}
	}
	return hit, false1, missed, rejected
}

func ratio(a, b float64) (float64, bool) { return a / b, b > 0 }

func accuracy(list []Judged) (float64, bool) {
	hit, _, _, rejected := confusion(list)
	return ratio(hit+rejected, float64(len(list)))
}

func precision(list []Judged) (float64, bool) {
	hit, wrong, _, _ := confusion(list)
	return ratio(hit, hit+wrong)
}

func recall(list []Judged) (float64, bool) {
	hit, _, missed, _ := confusion(list)
	return ratio(hit, hit+missed)
}

func f1(list []Judged) (float64, bool) {
	hit, wrong, missed, _ := confusion(list)
	return ratio(2*hit, 2*hit+wrong+missed)
}

// AUC is the chance that a right answer has a higher confidence than a wrong one,
// ties counted half: the area under the ROC curve, by ranks. Without answers of both
// kinds there is none.
func AUC(list []Judged) (float64, bool) {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b Judged) int { return cmp.Compare(a.Confidence, b.Confidence) })
	var right, wrong, sum float64
	for i := 0; i < len(sorted); {
		end := i
		for end < len(sorted) && sorted[end].Confidence == sorted[i].Confidence {
			end++
		}
		rank := float64(i+1+end) / 2 // of all that tie
		for _, j := range sorted[i:end] {
			if j.Right {
				right, sum = right+1, sum+rank
			} else {
				wrong++
			}
		}
		i = end
	}
	return (sum - right*(right+1)/2) / (right * wrong), right > 0 && wrong > 0
}

// brier is the mean square of what the confidence is off, right being 1.
func brier(list []Judged) (float64, bool) {
	sum := 0.0
	for _, j := range list {
		d := j.Confidence
		if j.Right {
			d--
		}
		sum += d * d
	}
	return ratio(sum, float64(len(list)))
}

// ece is the mean over answers of how far their bin's promise is off.
func ece(list []Judged) (float64, bool) {
	var n, conf, right [bins]float64
	for _, j := range list {
		b := binOf(j.Confidence)
		n[b]++
		conf[b] += j.Confidence
		if j.Right {
			right[b]++
		}
	}
	sum := 0.0
	for b := range n {
		sum += math.Abs(right[b] - conf[b])
	}
	return ratio(sum, float64(len(list)))
}

func binOf(c float64) int { return min(bins-1, max(0, int(c*bins))) }

func binned(list []Judged) []Bin {
	out := make([]Bin, bins)
	for b := range out {
		out[b].From, out[b].To = float64(b)/bins, float64(b+1)/bins
		conf, right := 0.0, 0.0
		for _, j := range list {
			if binOf(j.Confidence) != b {
				continue
			}
			out[b].N++
			conf += j.Confidence
			if j.Right {
				right++
			}
		}
		if n := float64(out[b].N); n > 0 {
			conf, right = conf/n, right/n
			low, high := wilson(right, n)
			out[b].Confidence, out[b].Right = &conf, &Figure{right, low, high}
		}
	}
	return out
}
