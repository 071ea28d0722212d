package probe

import (
	"math"
	"math/rand/v2"

	"synod.dev/synod/core/stats"
)

// Graded is one answer with a confidence, and its grade.
type Graded struct {
	Question   string
	Confidence float64 // in [0,1]
	Right      bool
}

// Figure is a number with its 95 % interval: the percentile bootstrap over
// questions. If all of a few answers fall on one side, all resamples are alike and
// the bootstrap interval is too narrow. So for AUC, accuracy, precision and recall
// the interval is widened to a score interval (stats.AUCInterval, else Wilson's) in
// which all answers to a question count as one. F1, Brier and ECE are not widened.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Metrics measures how well confidences predict grades. For accuracy, precision, recall
// and F1, an answer with a confidence of at least 0.5 is predicted to be right. A
// figure that does not exist (all answers alike, no answer predicted right) is nil.
type Metrics struct {
	N         int     `json:"n"`
	Questions int     `json:"questions"`
	Right     int     `json:"right"` // answers graded right
	Accuracy  *Figure `json:"accuracy"`
	Precision *Figure `json:"precision"`
	Recall    *Figure `json:"recall"`
	F1        *Figure `json:"f1"`
	AUC       *Figure `json:"auc"` // see stats.AUC
	Brier     *Figure `json:"brier"`
	ECE       *Figure `json:"ece"` // expected calibration error over Bins
	Bins      []Bin   `json:"bins"`
}

// Bin is a range [From, To) of confidences, with their mean and the share of right
// answers in it; the last bin includes To.
type Bin struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	N          int      `json:"n"`
	Confidence *float64 `json:"confidence"` // mean; nil in an empty bin
	Right      *Figure  `json:"right"`      // share, with Wilson's interval
}

// The number of bootstrap resamples, and the seed: the same answers always have the
// same interval.
const (
	resamples     = 2000
	bootstrapSeed = 0xb007
)

// statistic is a figure as a function of a sample; ok is false if it does not exist.
type statistic func([]stats.Forecast) (value float64, ok bool)

// measure is a statistic with its field in Metrics and, unless nil, its score
// interval for answers that count only as the given fraction of an answer each.
type measure struct {
	of    statistic
	field func(*Metrics) **Figure
	score func(value float64, list []stats.Forecast, weight float64) (low, high float64)
}

var aucMeasure = measure{
	stats.AUC, func(f *Metrics) **Figure { return &f.AUC },
	func(v float64, l []stats.Forecast, weight float64) (low, high float64) {
		c := confusionOf(l)
		return stats.AUCInterval(v, weight*(c.truePositive+c.falseNegative), weight*(c.falsePositive+c.trueNegative))
	},
}

var measures = []measure{
	{accuracy, func(f *Metrics) **Figure { return &f.Accuracy },
		func(v float64, l []stats.Forecast, weight float64) (low, high float64) {
			return stats.Wilson(v, weight*float64(len(l)))
		}},
	{precision, func(f *Metrics) **Figure { return &f.Precision },
		func(v float64, l []stats.Forecast, weight float64) (low, high float64) {
			c := confusionOf(l)
			return stats.Wilson(v, weight*(c.truePositive+c.falsePositive))
		}},
	{recall, func(f *Metrics) **Figure { return &f.Recall },
		func(v float64, l []stats.Forecast, weight float64) (low, high float64) {
			c := confusionOf(l)
			return stats.Wilson(v, weight*(c.truePositive+c.falseNegative))
		}},
	{f1, func(f *Metrics) **Figure { return &f.F1 }, nil},
	aucMeasure,
	{stats.Brier, func(f *Metrics) **Figure { return &f.Brier }, nil},
	{stats.ECE, func(f *Metrics) **Figure { return &f.ECE }, nil},
}

// Measure computes all figures of a list of judged answers.
func Measure(list []Graded) Metrics {
	f := Metrics{N: len(list), Questions: len(byQuestion(list)), Bins: binned(list)}
	for _, j := range list {
		if j.Right {
			f.Right++
		}
	}
	for _, m := range measures {
		*m.field(&f) = m.figure(list, float64(f.Questions)/float64(f.N))
	}
	return f
}

func (m measure) figure(list []Graded, weight float64) *Figure {
	f := bootstrap(list, m.of)
	if f != nil && m.score != nil {
		low, high := m.score(f.Value, forecasts(list), weight)
		f.Low, f.High = math.Min(f.Low, low), math.Max(f.High, high)
	}
	return f
}

// Compared returns the AUC of one list of confidences minus that of another for the
// same answers in the same order. Pairs are resampled together.
func Compared(a, b []Graded) *Figure {
	index := make([]Graded, len(a)) // stands for both lists: the confidence is the index
	for i := range a {
		index[i] = Graded{Question: a[i].Question, Confidence: float64(i)}
	}
	return bootstrap(index, func(sample []stats.Forecast) (float64, bool) {
		x, y := make([]stats.Forecast, len(sample)), make([]stats.Forecast, len(sample))
		for i, s := range sample {
			x[i], y[i] = a[int(s.Confidence)].forecast(), b[int(s.Confidence)].forecast()
		}
		u, okX := stats.AUC(x)
		v, okY := stats.AUC(y)
		return u - v, okX && okY
	})
}

// bootstrap resamples questions, each with all its answers.
func bootstrap(list []Graded, of statistic) *Figure {
	value, ok := of(forecasts(list))
	if !ok {
		return nil
	}
	groups := byQuestion(list)
	rng := rand.New(rand.NewPCG(bootstrapSeed, uint64(len(groups))))
	answers := make([]stats.Forecast, 0, len(list))
	low, high, ok := stats.Bootstrap(rng, len(groups), resamples, func(sample []int) (float64, bool) {
		answers = answers[:0]
		for _, i := range sample {
			answers = append(answers, groups[i]...)
		}
		return of(answers)
	})
	if !ok {
		return nil
	}
	return &Figure{value, low, high}
}

func (j Graded) forecast() stats.Forecast {
	return stats.Forecast{Confidence: j.Confidence, Right: j.Right}
}

func forecasts(list []Graded) []stats.Forecast {
	out := make([]stats.Forecast, len(list))
	for i, j := range list {
		out[i] = j.forecast()
	}
	return out
}

// byQuestion groups answers by question, in the order of first appearance.
func byQuestion(list []Graded) (groups [][]stats.Forecast) {
	at := map[string]int{}
	for _, j := range list {
		i, known := at[j.Question]
		if !known {
			i = len(groups)
			at[j.Question] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], j.forecast())
	}
	return groups
}

// confusion counts answers by prediction and grade.
type confusion struct{ truePositive, falsePositive, falseNegative, trueNegative float64 }

func confusionOf(list []stats.Forecast) (c confusion) {
	for _, f := range list {
		switch {
		case f.Confidence >= 0.5 && f.Right:
			c.truePositive++
		case f.Confidence >= 0.5:
			c.falsePositive++
		case f.Right:
			c.falseNegative++
		default:
			c.trueNegative++
		}
	}
	return c
}

func ratio(a, b float64) (float64, bool) { return a / b, b > 0 }

func accuracy(list []stats.Forecast) (float64, bool) {
	c := confusionOf(list)
	return ratio(c.truePositive+c.trueNegative, float64(len(list)))
}

func precision(list []stats.Forecast) (float64, bool) {
	c := confusionOf(list)
	return ratio(c.truePositive, c.truePositive+c.falsePositive)
}

func recall(list []stats.Forecast) (float64, bool) {
	c := confusionOf(list)
	return ratio(c.truePositive, c.truePositive+c.falseNegative)
}

func f1(list []stats.Forecast) (float64, bool) {
	c := confusionOf(list)
	return ratio(2*c.truePositive, 2*c.truePositive+c.falsePositive+c.falseNegative)
}

func binned(list []Graded) []Bin {
	var r stats.Reliability
	for _, j := range list {
		r.Add(j.forecast())
	}
	out := make([]Bin, stats.Bins)
	for b := range out {
		out[b] = Bin{From: float64(b) / stats.Bins, To: float64(b+1) / stats.Bins, N: r.N[b]}
		if n := float64(r.N[b]); n > 0 {
			confidence, right := r.Confidence[b]/n, float64(r.Right[b])/n
			low, high := stats.Wilson(right, n)
			out[b].Confidence, out[b].Right = &confidence, &Figure{right, low, high}
		}
	}
	return out
}
