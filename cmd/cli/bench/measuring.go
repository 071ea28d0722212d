package bench

import (
	"errors"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/seating"
)

// measuring returns the council in which the models of another one answer once each and do not talk: one seat a model,
// and two where it has several seats.
func measuring(of *plan.Spec, without []display.Unmeasured) (plan.Spec, error) {
	seats := map[string]int{}
	spec := plan.Spec{Council: of.Council, Form: of.Form, Schema: of.Schema, Tools: of.Tools, Pace: of.Pace,
		Reread: of.Reread,
		Limits: plan.Limits{Deadline: of.Limits.Deadline}, Models: map[string]plan.Params{},
		Protocol: plan.Params{"name": "majority"}, Graph: plan.Params{"family": "complete"},
		Rule: plan.Rule{Name: plan.Plurality}}
	var order []string
	for _, s := range of.Seats {
		if slices.ContainsFunc(without, func(u display.Unmeasured) bool { return u.Model == s.Model }) {
			continue
		}
		if seats[s.Model] == 0 {
			order = append(order, s.Model)
		}
		seats[s.Model] += max(s.Count, 1)
	}
	if len(order) == 0 {
		return spec, errors.New("no model of the council can be asked")
	}
	for _, name := range order {
		spec.Models[name] = of.Models[name]
		if reportsLikelihood(of.Models[name]) {
			spec.Protocol["probe"] = string(synod.LikelihoodConfidence)
		}
		seat := plan.SeatSpec{ID: name, Model: name}
		if seats[name] > 1 {
			seat.ID, seat.Count = name+"-", 2
		}
		spec.Seats = append(spec.Seats, seat)
	}
	return spec, nil
}

// reportsLikelihood reports whether a model, by its settings, says how likely its answers are.
func reportsLikelihood(settings plan.Params) bool { return settings["logprobs"] == true }

func measuredModel(m *seating.Measured, of *report.Model, finished int) display.CalibratedModel {
	one := display.CalibratedModel{Model: of.Model, Kind: of.Kind, Served: of.Served, Accuracy: m.Accuracy(of.Model),
		Silent: m.Count(of.Model, seating.Silent), Failed: m.Count(of.Model, seating.Failed), Latency: of.Latency,
		Money: of.Money}
	if asked := finished * of.Seats; of.Cost != nil && asked > 0 {
		one.USD = new(of.Cost.USD / float64(asked))
	}
	return one
}
