package metrics

import (
	"fmt"
	"math/rand/v2"

	"synod.dev/synod/core/stats"
	"synod.dev/synod/council/trust"
)

// Stated is how well probabilities hold that were stated of answers.
type Stated struct {
	N   int   `json:"n"`   // answers
	ECE *Rate `json:"ece"` // expected calibration error over Bins, with the interval of resampled answers
	// IfTrue is the mean error that probabilities without any fault show on as many answers, by chance alone.
	IfTrue float64 `json:"ece_if_true"`
	Brier  *Rate   `json:"brier"`
	Bins   []Bin   `json:"bins"`
}

// redraws is how many times the answers of a Stated are drawn again.
const redraws = 1000

// NewStated measures probabilities that were stated of answers to different questions; nil without any. The seed
// decides the resamples.
func NewStated(list []stats.Forecast, seed uint64) *Stated {
	var c Calibrator
	for i := range list {
		c.Add(&GradedQuestion{Question: fmt.Sprint(i)}, []Forecast{{&list[i].Confidence, list[i].Right}})
	}
	all := c.Calibration()
	if all == nil {
		return nil
	}
	chance := rand.New(rand.NewPCG(seed, 3))
	low, high, _ := stats.Bootstrap(chance, len(list), redraws, func(sample []int) (float64, bool) {
		var r stats.Reliability
		for _, i := range sample {
			r.Add(list[i])
		}
		return r.ECE()
	})
	var byChance Mean
	for range redraws {
		var r stats.Reliability
		for _, f := range list {
			r.Add(stats.Forecast{Confidence: f.Confidence, Right: chance.Float64() < f.Confidence})
		}
		ece, _ := r.ECE()
		byChance.Add(ece)
	}
	return &Stated{N: all.N, Brier: all.Brier, Bins: all.Bins, IfTrue: byChance.Rate().Value,
		ECE: &Rate{Value: *all.ECE, N: all.N, Low: min(low, *all.ECE), High: max(high, *all.ECE)}}
}

// Later is a probability that was stated before the answer was graded.
type Later struct {
	stats.Forecast
	Question string // answers to one question count once
	Month    string // in which it was graded, such as 2026-11; "": not known
}

// Marked returns what was stated of the answers that users have marked, and how they marked them.
func Marked(marks []trust.Mark) (all []Later) {
	for i := range marks {
		if m := &marks[i]; m.Probability != nil {
			all = append(all, Later{stats.Forecast{Confidence: *m.Probability, Right: m.Right}, m.Question, m.Month()})
		}
	}
	return all
}

// DriftLevel is the level of a Drift: how likely it warns at some time, at most, although probabilities hold.
const DriftLevel = 0.01

// Drift is a test whether answers that were graded later are right less often than was stated.
type Drift struct {
	Month  string  `json:"month,omitempty"` // only the answers graded in it; "": all
	N      int     `json:"n"`
	Stated float64 `json:"stated"` // mean probability
	Right  *Rate   `json:"right"`  // share of right answers
	P      float64 `json:"p"`      // of the test, which allows for looking after every answer
	Warns  bool    `json:"warns"`  // P is at most DriftLevel
}

// Once returns the first answer to each question, because the later ones were stated by those who knew its grade. list
// is in the order in which answers were graded.
func Once(list []Later) (once []Later) {
	seen := map[string]bool{}
	for _, l := range list {
		if l.Question == "" || !seen[l.Question] {
			seen[l.Question] = true
			once = append(once, l)
		}
	}
	return once
}

// Drifts tests all answers, and those of the latest month, where months are known, as Once returns them.
func Drifts(list []Later) (tests []Drift) {
	once := Once(list)
	if len(once) == 0 {
		return nil
	}
	tests = append(tests, drift(once, ""))
	if month := once[len(once)-1].Month; month != "" {
		tests = append(tests, drift(once, month))
	}
	return tests
}

func drift(list []Later, month string) Drift {
	var of []stats.Forecast
	d, right := Drift{Month: month}, 0
	for _, l := range list {
		if month != "" && l.Month != month {
			continue
		}
		of = append(of, l.Forecast)
		d.Stated += l.Confidence
		right += toInt(l.Right)
	}
	d.N = len(of)
	d.Stated /= float64(d.N)
	d.Right = Share(right, d.N)
	d.P = min(1, 1/stats.Overconfidence(of))
	d.Warns = d.P <= DriftLevel
	return d
}

// Warning says in a sentence that the answers were right too rarely; "": they were not.
func (d *Drift) Warning() string {
	if !d.Warns {
		return ""
	}
	when := ""
	if d.Month != "" {
		when = " in " + d.Month
	}
	return fmt.Sprintf("probabilities promise too much: %d answers were graded%s, %.0f %% of them were to be right, "+
		"and %.0f %% were (p=%.1g, level %g)", d.N, when, 100*d.Stated, 100*d.Right.Value, d.P, DriftLevel)
}
