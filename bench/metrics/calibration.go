package metrics

import "synod.dev/synod/core/stats"

// Calibration measures how well members' confidences predicted whether their first
// answers were right.
type Calibration struct {
	N       int      `json:"n"`       // graded answers with a confidence
	Missing int      `json:"missing"` // graded answers without one
	Brier   *Rate    `json:"brier"`   // mean of (confidence − right)², clustered by question
	ECE     *float64 `json:"ece"`     // expected calibration error over Bins
	Sided   *Rate    `json:"sided"`   // share with a confidence on the right side of 0.5
	Bins    []Bin    `json:"bins"`
}

// Bin is a range [From, To) of confidences; the last one includes To.
type Bin struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	N          int      `json:"n"`
	Confidence *float64 `json:"confidence"` // mean; nil in an empty bin
	Right      *Rate    `json:"right"`      // share of right answers
}

// Forecast is the confidence in an answer, nil if none was given, and its grade.
type Forecast struct {
	Confidence *float64 // in [0,1]
	Right      bool
}

// Calibrator adds up forecasts. Its size does not depend on their number. The zero
// value is empty. The repeats of a question must be added one after the other, as in Tally.
type Calibrator struct {
	questions questions
	missing   int
	sided     count
	right     [stats.Bins]count
	bins      stats.Reliability
	loss      stats.ClusterMean // squared errors, clustered by question
	open      struct {          // of the last question
		of   question
		loss float64
		n    int
	}
}

// Add counts the forecasts of one case.
func (c *Calibrator) Add(of *GradedQuestion, forecasts []Forecast) {
	q := c.questions.next(of)
	if c.open.of != q {
		c.loss.Add(c.open.loss, c.open.n)
		c.open.of, c.open.loss, c.open.n = q, 0, 0
	}
	for _, f := range forecasts {
		if f.Confidence == nil {
			c.missing++
			continue
		}
		forecast := stats.Forecast{Confidence: *f.Confidence, Right: f.Right}
		c.right[c.bins.Add(forecast)].add(q, f.Right, true)
		c.sided.add(q, (*f.Confidence >= 0.5) == f.Right, true)
		c.open.loss, c.open.n = c.open.loss+forecast.Loss(), c.open.n+1
	}
}

// Calibration returns the figures, or nil if no forecast had a confidence.
func (c *Calibrator) Calibration() *Calibration {
	ece, known := c.bins.ECE()
	if !known {
		return nil
	}
	out := &Calibration{
		N: c.bins.Total(), Missing: c.missing, ECE: &ece, Brier: c.brier(), Sided: c.sided.rate(),
		Bins: make([]Bin, stats.Bins),
	}
	for b := range out.Bins {
		n := c.bins.N[b]
		out.Bins[b] = Bin{From: float64(b) / stats.Bins, To: float64(b+1) / stats.Bins, N: n, Right: c.right[b].rate()}
		if n > 0 {
			mean := c.bins.Confidence[b] / float64(n)
			out.Bins[b].Confidence = &mean
		}
	}
	return out
}

// brier limits the interval to [0,1], which is the interval of a single question.
func (c *Calibrator) brier() *Rate {
	loss := c.loss
	loss.Add(c.open.loss, c.open.n)
	e, _ := loss.Estimate()
	r := newRate(e, loss.N())
	r.Low, r.High = max(r.Low, 0), min(r.High, 1)
	return r
}
