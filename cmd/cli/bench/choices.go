package bench

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/seating"
)

// choices returns what the measured questions recommend; nothing if there are too few, or fewer than two models.
func choices(run *bench.Run, usd map[string]float64) (all []display.Choice, err error) {
	models, questions, err := bench.Labelled(run)
	if err != nil || len(questions) < leastForChoices || len(models) < 2 {
		return nil, err
	}
	s := &seating.Sample{Models: models, Questions: questions}
	for _, m := range models {
		s.USD = append(s.USD, usd[m])
	}
	names := func(of []int) (names []string) {
		for _, i := range of {
			names = append(names, models[i])
		}
		return names
	}
	for _, a := range aims {
		r := s.Recommend(a.aim, run.Seed)
		if r == nil {
			continue
		}
		c := display.Choice{Aim: a.name, P: r.Stop, F: r.F, Right: r.Right, USD: r.USD, Likelihood: r.Likelihood,
			Single: models[r.Single.Model], SingleRight: r.Single.Right, SingleUSD: r.Single.USD}
		for _, tier := range r.Tiers.Tiers {
			c.Tiers = append(c.Tiers, names(tier))
		}
		all = append(all, c)
	}
	return all, nil
}

// write writes the council file of the choice that the user named. It reads the trust file that the answers were
// added to, because its probabilities come from there.
func (c *calibration) write(r *display.Calibration) error {
	if c.flags.write == "" {
		return nil
	}
	for _, choice := range r.Choices {
		if choice.Aim == c.flags.aim {
			return c.writeCouncil(&choice)
		}
	}
	return app.Fail(app.ExitFailure, fmt.Errorf("no council is recommended as %q, so %s was not written", c.flags.aim,
		c.flags.write), fewQuestions())
}

func (c *calibration) writeCouncil(choice *display.Choice) error {
	models := map[string]plan.Params{}
	var seats []map[string]string
	for _, tier := range choice.Tiers {
		for _, m := range tier {
			models[m] = c.council.Models[m]
			seats = append(seats, map[string]string{"id": m, "model": m})
		}
	}
	protocol := yaml.MapSlice{{Key: "name", Value: "single"}}
	if !choice.Alone() {
		protocol = yaml.MapSlice{{Key: "name", Value: "cascade"}, {Key: "tiers", Value: choice.Tiers}}
	}
	if choice.Likelihood && !choice.Alone() {
		protocol = append(protocol, yaml.MapItem{Key: "probe", Value: synod.LikelihoodConfidence})
	}
	if choice.P > 0 {
		protocol = append(protocol, yaml.MapItem{Key: "p", Value: min(max(choice.P, 0.5), 0.999)})
	}
	file := yaml.MapSlice{{Key: "council", Value: c.council.Council}, {Key: "protocol", Value: protocol},
		{Key: "f", Value: choice.F}, {Key: "models", Value: models}, {Key: "seats", Value: seats}}
	if r := reference(choice, models); r != nil {
		file = append(file, yaml.MapItem{Key: "reference", Value: r})
	}
	if !choice.Alone() {
		file = append(file, yaml.MapItem{Key: "trust", Value: map[string]string{"file": c.trustFile()}})
	}
	b, err := yaml.Marshal(file)
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	f, err := os.OpenFile(c.flags.write, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return app.Fail(app.ExitFailure, err, "choose another file with --write")
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	c.Say(c.cmd, "wrote "+app.OneLine(c.flags.write)+"; ask it with: synod ask -c "+app.ShellWord(c.flags.write)+
		" \"QUESTION\"")
	return nil
}

// reference is the best single model, with which the costs of a council are compared; nil: the council is that model,
// or nothing is known of its cost.
func reference(choice *display.Choice, seated map[string]plan.Params) *plan.ReferenceModel {
	_, asked := seated[choice.Single]
	if choice.Alone() && choice.Tiers[0][0] == choice.Single || !asked && choice.SingleUSD == 0 {
		return nil
	}
	const digits = 1e9
	return &plan.ReferenceModel{Model: choice.Single, USD: math.Round(choice.SingleUSD*digits) / digits}
}

// trustFile is where the answers of the calibration are added.
func (c *calibration) trustFile() string {
	if c.council.Trust.File != "" {
		return c.council.Trust.File
	}
	return c.TrustPath()
}
