package report

import (
	"fmt"
	"strconv"
	"strings"

	"synod.dev/synod/metrics"
)

// Calibration is what confidence in first answers was worth, over all honest
// members and model by model.
type Calibration struct {
	metrics.Calibration
	Models []ModelCalibration `json:"models"`
}

// ModelCalibration is that of the members of one model.
type ModelCalibration struct {
	Model string `json:"model"`
	metrics.Calibration
}

// notes says it for people: a line for each model, and the reliability plot as words.
func (c *Calibration) notes() (notes []string) {
	if c == nil {
		return nil
	}
	for _, m := range c.Models {
		b := m.Brier
		notes = append(notes, fmt.Sprintf("confidence of %s in its first answers: Brier %.3f (%.3f to %.3f) · ECE %.3f · n %d, %d without one", plain(m.Model), b.Value, b.Low, b.High, *m.ECE, m.N, m.Missing))
		var steps []string
		for _, bin := range m.Bins {
			if bin.N > 0 {
				steps = append(steps, fmt.Sprintf("%.2f: %.0f %% (%.0f to %.0f) of %d", *bin.Confidence, 100*bin.Right.Value, 100*bin.Right.Low, 100*bin.Right.High, bin.N))
			}
		}
		notes = append(notes, "  right, by mean confidence: "+strings.Join(steps, " · "))
	}
	return notes
}

// csv lists the figures, a line each, with add as Report.csv has it.
func (c *Calibration) csv(add func(figure string, rest ...string)) {
	if c == nil {
		return
	}
	line := func(name string, r *metrics.Rate) {
		add(name, number(r.Value), strconv.Itoa(r.N), number(r.Low), number(r.High))
	}
	line("brier", c.Brier)
	add("ece", number(*c.ECE), strconv.Itoa(c.N), "", "")
	add("confidence_missing", strconv.Itoa(c.Missing), "", "", "")
	for _, bin := range c.Bins {
		if bin.N > 0 {
			line(fmt.Sprintf("right_at_confidence_%.1f", bin.From), bin.Right)
		}
	}
}
