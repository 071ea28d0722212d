package metrics

import (
	"math"

	"synod.dev/synod/journal"
)

// Calibration says what members' confidence in their first answers was worth.
type Calibration struct {
	N       int      `json:"n"`       // answers with a confidence, graded
	Missing int      `json:"missing"` // graded answers without one
	Brier   *Rate    `json:"brier"`   // mean of (confidence − right)²; the interval allows for answers to one question erring together
	ECE     *float64 `json:"ece"`     // expected calibration error: how far a bin's mean confidence is off, by answers
	Sided   *Rate    `json:"sided"`   // share with a confidence on the right side of 0.5, which itself is the right side of a right answer
	Bins    []Bin    `json:"bins"`
}

// Bin is a stretch [From, To) of confidences, the last one closed.
type Bin struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	N          int      `json:"n"`
	Confidence *float64 `json:"confidence"` // mean; nil in an empty bin
	Right      *Rate    `json:"right"`      // share of right answers
}

// bins is how many equally wide stretches [0,1] is cut into.
const bins = 10

// Forecast is one answer's confidence, nil if none came, and its grade.
type Forecast struct {
	Confidence *float64 // in [0,1]
	Right      bool
}

// Calibrator adds up forecasts. Its size does not grow with them.
type Calibrator struct {
	missing, questions int
	sided              count
	n, right           [bins]int
	sure               [bins]float64
	off                float64    // sum of squared errors
	spread             [3]float64 // sums over questions of s², s·n and n², for s their error and n their forecasts
}

// Add counts the forecasts of one question.
func (c *Calibrator) Add(question []Forecast) {
	s, n := 0.0, 0.0
	for _, f := range question {
		if f.Confidence == nil {
			c.missing++
			continue
		}
		b := min(bins-1, int(*f.Confidence*bins))
		c.n[b]++
		c.right[b] += bit(f.Right)
		c.sure[b] += *f.Confidence
		c.sided.add((*f.Confidence >= 0.5) == f.Right, true)
		d := *f.Confidence - float64(bit(f.Right))
		s, n = s+d*d, n+1
	}
	if n > 0 {
		c.questions++
		c.off += s
		c.spread = [3]float64{c.spread[0] + s*s, c.spread[1] + s*n, c.spread[2] + n*n}
	}
}

// Calibration is nil where no confidence came.
func (c *Calibrator) Calibration() *Calibration {
	out := &Calibration{Missing: c.missing, Bins: make([]Bin, bins)}
	ece := 0.0
	for b := range out.Bins {
		out.Bins[b] = Bin{From: float64(b) / bins, To: float64(b+1) / bins, N: c.n[b], Right: Wilson(c.right[b], c.n[b])}
		if c.n[b] > 0 {
			mean := c.sure[b] / float64(c.n[b])
			out.Bins[b].Confidence = &mean
		}
		out.N += c.n[b]
		ece += math.Abs(c.sure[b] - float64(c.right[b]))
	}
	if out.N == 0 {
		return nil
	}
	ece /= float64(out.N)
	out.ECE, out.Brier, out.Sided = &ece, c.brier(float64(out.N)), c.sided.rate()
	return out
}

// brier is a ratio of sums over questions, with its linearised variance; of one
// question nothing is known but that the score is in [0,1].
func (c *Calibrator) brier(n float64) *Rate {
	r := &Rate{Value: c.off / n, N: int(n), High: 1}
	if q := float64(c.questions); q > 1 {
		v := (c.spread[0] - 2*r.Value*c.spread[1] + r.Value*r.Value*c.spread[2]) / (n * n) * q / (q - 1)
		half := z * math.Sqrt(max(v, 0))
		r.Low, r.High = max(r.Value-half, 0), min(r.Value+half, 1)
	}
	return r
}

// Sure is what members said of their first answers, by seat: the confidence that
// they noted in round 0, nil where they noted none.
func Sure(noted []journal.Noted, seats int) []*float64 {
	sure := make([]*float64, seats)
	for _, n := range noted {
		if n.Round == 0 && int(n.Node) >= 0 && int(n.Node) < seats && n.Confidence != nil && *n.Confidence >= 0 && *n.Confidence <= 1 {
			sure[n.Node] = n.Confidence
		}
	}
	return sure
}

// Forecasts are those of a case's first answers by the named seats. What a liar
// says of itself, and what is absent or cannot be graded, is none.
func (c *Case) Forecasts(seats []Seat, of func(seat int) bool) (all []Forecast) {
	for i, a := range c.first() {
		if right, known := c.right(a); known && !seats[i].Adversary && of(i) && i < len(c.Sure) {
			all = append(all, Forecast{c.Sure[i], right})
		}
	}
	return all
}
