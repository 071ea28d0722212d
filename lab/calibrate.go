package lab

import (
	"slices"

	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
)

// calibrators add up what members said of their first answers: all of them, and
// those of each model.
type calibrators struct {
	run    *Run
	all    metrics.Calibrator
	models []string
	by     []metrics.Calibrator
}

func (r *Run) calibrators() *calibrators {
	c := &calibrators{run: r}
	for _, s := range r.Seats {
		c.models = append(c.models, s.Model)
	}
	slices.Sort(c.models)
	c.models = slices.Compact(c.models)
	c.by = make([]metrics.Calibrator, len(c.models))
	return c
}

func (c *calibrators) add(of metrics.Case, seats []metrics.Seat) {
	c.all.Add(of.Forecasts(seats, func(int) bool { return true }))
	for i, model := range c.models {
		c.by[i].Add(of.Forecasts(seats, func(seat int) bool { return c.run.Seats[seat].Model == model }))
	}
}

// report is nil where no member said how sure it is.
func (c *calibrators) report() *report.Calibration {
	all := c.all.Calibration()
	if all == nil {
		return nil
	}
	out := &report.Calibration{Calibration: *all}
	for i, model := range c.models {
		if of := c.by[i].Calibration(); of != nil {
			out.Models = append(out.Models, report.ModelCalibration{Model: model, Calibration: *of})
		}
	}
	return out
}
