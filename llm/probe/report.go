package probe

import (
	"fmt"
	"math"
)

// Count counts the answers and questions in a part of the data.
type Count struct {
	Answers   int `json:"answers"`
	Questions int `json:"questions"`
	Right     int `json:"right"`
}

func (t *trainer) count(p Split) Count {
	seen := map[string]bool{}
	var c Count
	for _, s := range t.samples(p) {
		c.Answers++
		seen[s.Question] = true
		if s.Right {
			c.Right++
		}
	}
	c.Questions = len(seen)
	return c
}

// Report is the result of training a probe, or of measuring one on other answers.
type Report struct {
	Version    int          `json:"version"`
	Task       string       `json:"task"`
	Seed       uint64       `json:"seed"`
	Subject    Subject      `json:"subject"`
	C          float64      `json:"c"`
	Training   Count        `json:"training"`
	Validation Count        `json:"validation"`
	Test       Count        `json:"test"`
	Sweep      []SweepPoint `json:"sweep,omitempty"`
	Chosen     SweepPoint   `json:"chosen"`
	Probe      Metrics      `json:"probe"` // on the test answers
	Rivals     []Rival      `json:"rivals"`
	Verdict    string       `json:"verdict"`
}

// Rival is another source of confidence in the same answers.
type Rival struct {
	Name       string  `json:"name"`
	Figures    Metrics `json:"figures"`
	Unreadable int     `json:"unreadable"` // answers without such a confidence, which count as 0
	Behind     *Figure `json:"behind"`     // AUC of the probe minus that of the rival, on the same resamples
}

// judge returns the samples with a probe's confidence.
func judge(w []float64, bias float64, samples []Sample, states [][]float32) []Graded {
	out := make([]Graded, len(samples))
	for i, s := range samples {
		out[i] = Graded{s.Question, confidence(w, bias, states[i]), s.Right}
	}
	return out
}

// measure adds the figures of a probe on answers that it was not fitted on, and those of
// the rivals.
func (r *Report) measure(p *Probe, samples []Sample, states [][]float32) {
	mine := judge(p.Weights, p.Bias, samples, states)
	r.Probe = Measure(mine)
	stated, asked := rival("stated", samples, func(s Sample) *float64 { return s.Stated }), false
	for _, s := range samples {
		asked = asked || s.Asked
	}
	if asked {
		r.Rivals = append(r.Rivals, stated.against(mine))
	}
	r.Rivals = append(r.Rivals, rival("token log-probability", samples, likelihood).against(mine))
	r.Verdict = verdict(r.Probe)
}

// likelihood returns exp of the mean log-probability, a number in (0,1].
func likelihood(s Sample) *float64 {
	if s.Logprob == nil {
		return nil
	}
	v := math.Exp(*s.Logprob)
	return &v
}

type contender struct {
	Rival
	judged []Graded
}

// rival measures a confidence. A missing one counts as 0 (CP-1).
func rival(name string, samples []Sample, of func(Sample) *float64) contender {
	c := contender{Rival: Rival{Name: name}}
	for _, s := range samples {
		j := Graded{Question: s.Question, Right: s.Right}
		if v := of(s); v != nil {
			j.Confidence = *v
		} else {
			c.Unreadable++
		}
		c.judged = append(c.judged, j)
	}
	c.Figures = Measure(c.judged)
	return c
}

func (c contender) against(mine []Graded) Rival {
	c.Behind = Compared(mine, c.judged)
	return c.Rival
}

// verdict states whether a probe is better than chance.
func verdict(f Metrics) string {
	switch {
	case f.AUC == nil:
		return fmt.Sprintf("no statement is possible: the %d held-out answers are all right or all wrong", f.N)
	case f.AUC.Low > 0.5:
		return fmt.Sprintf("the probe beats chance on held-out questions: AUC %.3f, 95 %% interval %.3f to %.3f, N = "+
			"%d", f.AUC.Value, f.AUC.Low, f.AUC.High, f.N)
	case f.AUC.High < 0.5:
		return fmt.Sprintf("the probe is worse than chance on held-out questions: AUC %.3f, 95 %% interval %.3f to "+
			"%.3f, N = %d", f.AUC.Value, f.AUC.Low, f.AUC.High, f.N)
	}
	return fmt.Sprintf("the probe is not shown to beat chance: the 95 %% interval of its AUC on held-out questions, "+
		"%.3f to %.3f (value %.3f, N = %d), does not exclude 0.5", f.AUC.Low, f.AUC.High, f.AUC.Value, f.N)
}

// Evaluate measures a probe on answers that it was not fitted on: the test questions of
// its split for the task that it was trained on, and all questions of another task.
func Evaluate(p *Probe, data Data) (Report, error) {
	t := &trainer{data: data, part: func(s Sample) Split {
		if data.Task != p.Task {
			return Testing
		}
		return SplitOf(s.Question, p.Seed)
	}}
	states, err := data.States(p.Layer, p.Position)
	if err != nil {
		return Report{}, err
	}
	r := Report{
		Version: Version, Task: data.Task, Seed: p.Seed, Subject: p.Subject, C: p.C, Test: t.count(Testing),
		Chosen: SweepPoint{Layer: p.Layer, Position: p.Position, Components: p.Components, Variance: p.Variance},
	}
	r.measure(p, t.samples(Testing), pick(states, t.rows(Testing)))
	return r, nil
}
