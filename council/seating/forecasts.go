package seating

import (
	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/stats"
)

// Forecasts returns what a council states of its decisions, with whether they are right. Each fifth of the questions is
// decided with the probabilities that the other four fit. Questions that it does not decide are left out.
func (s *Sample) Forecasts(t Tiers, seed uint64) (all []stats.Forecast) {
	part := s.split(seed)
	for k := range parts {
		f := s.Fit(t, func(q int) bool { return part[q] != k })
		for i := range s.Questions {
			if part[i] == k {
				all = f.forecast(all, &s.Questions[i])
			}
		}
	}
	return all
}

// Foretell returns what the council states of its decisions of other questions, in their order, with the probabilities
// that all questions of the sample fit.
func (s *Sample) Foretell(t Tiers, others []odds.Labelled) (all []stats.Forecast) {
	f := s.Fit(t, every)
	for i := range others {
		all = f.forecast(all, &others[i])
	}
	return all
}

// forecast appends what the council states of its decision of a question, if it decides it.
func (f *Fitted) forecast(to []stats.Forecast, q *odds.Labelled) []stats.Forecast {
	d := f.Decide(q)
	if d.Answer == "" {
		return to
	}
	c := d.Chance.Stated(f.odds[0].Labels)
	return append(to, stats.Forecast{Confidence: c.Probability, Right: d.Answer == q.Right})
}

// Only returns the sample with the models of a council alone, and the council by their new indexes.
func (s *Sample) Only(t Tiers) (*Sample, Tiers) {
	only, of := &Sample{}, Tiers{Stop: t.Stop, F: t.F}
	var models []int
	for _, tier := range t.Tiers {
		var at []int
		for range tier {
			at = append(at, len(models)+len(at))
		}
		models, of.Tiers = append(models, tier...), append(of.Tiers, at)
	}
	only.Models, only.Questions = s.names(models), s.of(models, every)
	return only, of
}
