package metrics

import "synod.dev/synod/stats"

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
// value is empty.
type Calibrator struct {
	missing int
	sided   count
	bins    stats.Reliability
	loss    stats.ClusterMean // squared errors, clustered by question
}

// Add counts the forecasts of one question.
func (c *Calibrator) Add(question []Forecast) {
	loss, n := 0.0, 0
	for _, f := range question {
		if f.Confidence == nil {
			c.missing++
			continue
		}
		forecast := stats.Forecast{Confidence: *f.Confidence, Right: f.Right}
		c.bins.Add(forecast)
		c.sided.add((*f.Confidence >= 0.5) == f.Right, true)
		loss, n = loss+forecast.Loss(), n+1
	}
	c.loss.Add(loss, n)
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
		out.Bins[b] = Bin{From: float64(b) / stats.Bins, To: float64(b+1) / stats.Bins, N: n,
			Right: Share(c.bins.Right[b], n)}
		if n > 0 {
			mean := c.bins.Confidence[b] / float64(n)
			out.Bins[b].Confidence = &mean
		}
	}
	return out
}

// brier limits the interval to [0,1], which is the interval of a single question.
func (c *Calibrator) brier() *Rate {
	e, _ := c.loss.Estimate()
	r := newRate(e, c.loss.N())
	r.Low, r.High = max(r.Low, 0), min(r.High, 1)
	return r
}
