package probe

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Judged is one answer with a confidence in it, to be measured against its grade.
type Judged struct {
	Question   string
	Confidence float64 // in [0,1]
	Right      bool
}

// Figure is a number with its 95 % interval. The interval is the percentile
// bootstrap over questions.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Figures say how good confidences are. Accuracy, precision, recall and F1 are of
// calling an answer right if its confidence is at least 0.5. A figure that does not
// exist (no answer of one kind, nothing called right) is nil.
type Figures struct {
	N         int     `json:"n"`
	Questions int     `json:"questions"`
	Right     int     `json:"right"` // answers graded right
	Accuracy  *Figure `json:"accuracy"`
	Precision *Figure `json:"precision"`
	Recall    *Figure `json:"recall"`
	F1        *Figure `json:"f1"`
	AUC       *Figure `json:"auc"` // chance that a right answer has more than a wrong one, ties half
	Brier     *Figure `json:"brier"`
	ECE       *Figure `json:"ece"` // expected calibration error over Bins
	Bins      []Bin   `json:"bins"`
}

// Bin is a stretch of confidences: what they promise, and what came of it.
type Bin struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	N          int      `json:"n"`
	Confidence *float64 `json:"confidence"` // mean; nil in an empty bin
	Right      *float64 `json:"right"`      // share
}

// bins is how many equally wide stretches [0,1] is cut into.
const bins = 10

// resamples of the bootstrap, and its seed: the same answers have the same interval.
const (
	resamples     = 2000
	bootstrapSeed = 0xb007
)

// measures are the figures as functions of a sample; not ok: it has none.
var measures = []struct {
	of   func([]Judged) (float64, bool)
	into func(*Figures) **Figure
}{
	{accuracy, func(f *Figures) **Figure { return &f.Accuracy }},
	{precision, func(f *Figures) **Figure { return &f.Precision }},
	{recall, func(f *Figures) **Figure { return &f.Recall }},
	{f1, func(f *Figures) **Figure { return &f.F1 }},
	{AUC, func(f *Figures) **Figure { return &f.AUC }},
	{brier, func(f *Figures) **Figure { return &f.Brier }},
	{ece, func(f *Figures) **Figure { return &f.ECE }},
}

// Measure is everything there is to say about confidences.
func Measure(list []Judged) Figures {
	f := Figures{N: len(list), Questions: len(groups(list)), Bins: binned(list)}
	for _, j := range list {
		if j.Right {
			f.Right++
		}
	}
	for _, m := range measures {
		*m.into(&f) = bootstrap(list, m.of)
	}
	return f
}

// Compared is how much higher the AUC of one list of confidences is than that of
// another in the same answers, in the same order: the pairs are resampled together.
func Compared(a, b []Judged) *Figure {
	index := make([]Judged, len(a)) // stands for both: its confidence is the position
	for i := range a {
		index[i] = Judged{Question: a[i].Question, Confidence: float64(i)}
	}
	return bootstrap(index, func(sample []Judged) (float64, bool) {
		x, y := make([]Judged, len(sample)), make([]Judged, len(sample))
		for i, s := range sample {
			x[i], y[i] = a[int(s.Confidence)], b[int(s.Confidence)]
		}
		u, ok := AUC(x)
		v, also := AUC(y)
		return u - v, ok && also
	})
}

// bootstrap resamples questions, each with all its answers. Resamples in which the
// figure does not exist are left out.
func bootstrap(list []Judged, of func([]Judged) (float64, bool)) *Figure {
	value, ok := of(list)
	if !ok {
		return nil
	}
	by := groups(list)
	r := rand.New(rand.NewPCG(bootstrapSeed, uint64(len(by))))
	seen := make([]float64, 0, resamples)
	sample := make([]Judged, 0, len(list))
	for range resamples {
		sample = sample[:0]
		for range by {
			sample = append(sample, by[r.IntN(len(by))]...)
		}
		if v, ok := of(sample); ok {
			seen = append(seen, v)
		}
	}
	slices.Sort(seen)
	if len(seen) == 0 {
		return nil
	}
	at := func(q float64) float64 { return seen[int(math.Round(q*float64(len(seen)-1)))] }
	return &Figure{value, at(0.025), at(0.975)}
}

// groups puts answers to one question together, in the order of first appearance.
func groups(list []Judged) (by [][]Judged) {
	at := map[string]int{}
	for _, j := range list {
		i, known := at[j.Question]
		if !known {
			i = len(by)
			at[j.Question] = i
			by = append(by, nil)
		}
		by[i] = append(by[i], j)
	}
	return by
}
