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

// Figure is a number with its 95 % interval: the percentile bootstrap over questions.
// Resamples of few answers that happen to be all on one side are all alike, so for
// the AUC, accuracy, precision and recall the interval is widened to a score interval
// (Newcombe's fifth for the AUC, Wilson's for the others) in which all answers to a
// question count as one. F1, Brier and ECE have no such widening.
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
	Right      *Figure  `json:"right"`      // share, with Wilson's interval
}

// bins is how many equally wide stretches [0,1] is cut into.
const bins = 10

// resamples of the bootstrap, and its seed: the same answers have the same interval.
const (
	resamples     = 2000
	bootstrapSeed = 0xb007
)

// measure is a figure as a function of a sample (not ok: it has none), and its score
// interval, if there is one, for answers of which each is worth only a share.
type measure struct {
	of    func([]Judged) (float64, bool)
	into  func(*Figures) **Figure
	score func(value float64, list []Judged, share float64) (low, high float64)
}

var measures = []measure{
	{accuracy, func(f *Figures) **Figure { return &f.Accuracy }, func(v float64, l []Judged, share float64) (low, high float64) {
		return wilson(v, share*float64(len(l)))
	}},
	{precision, func(f *Figures) **Figure { return &f.Precision }, func(v float64, l []Judged, share float64) (low, high float64) {
		hit, wrong, _, _ := confusion(l)
		return wilson(v, share*(hit+wrong))
	}},
	{recall, func(f *Figures) **Figure { return &f.Recall }, func(v float64, l []Judged, share float64) (low, high float64) {
		hit, _, missed, _ := confusion(l)
		return wilson(v, share*(hit+missed))
	}},
	{f1, func(f *Figures) **Figure { return &f.F1 }, nil},
	{AUC, func(f *Figures) **Figure { return &f.AUC }, func(v float64, l []Judged, share float64) (low, high float64) {
		hit, wrong, missed, rejected := confusion(l)
		return newcombe(v, share*(hit+missed), share*(wrong+rejected))
	}},
	{brier, func(f *Figures) **Figure { return &f.Brier }, nil},
	{ece, func(f *Figures) **Figure { return &f.ECE }, nil},
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
		*m.into(&f) = m.figure(list, float64(f.Questions)/float64(f.N))
	}
	return f
}

func (m measure) figure(list []Judged, share float64) *Figure {
	f := bootstrap(list, m.of)
	if f != nil && m.score != nil {
		low, high := m.score(f.Value, list, share)
		f.Low, f.High = math.Min(f.Low, low), math.Max(f.High, high)
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
