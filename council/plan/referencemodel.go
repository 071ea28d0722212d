package plan

import (
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

// ReferenceModel is the model that the user would ask alone if there were no council. Outcomes compare their cost with
// what it would have cost to ask that model.
type ReferenceModel struct {
	Model string  `yaml:"model" json:"model" doc:"its name under models" example:"strong"`
	USD   float64 `yaml:"usd,omitempty" json:"usd,omitempty" doc:"what a question costs that it alone is asked, in the mean; it counts for questions that the model is not asked; 0: not known" range:"0:1000000" unit:"US dollars" example:"0.004"`
}

// checkReference refuses a reference whose cost can never be known.
func checkReference(p *Plan) error {
	r := p.spec.Reference
	if r == (ReferenceModel{}) {
		return nil
	}
	if err := param.Verify(&r); err != nil {
		return err
	}
	if _, known := p.spec.Models[r.Model]; r.Model == "" || !known && r.USD == 0 {
		return fmt.Errorf("no model is called %q%s; name one under models, or set usd (example: reference: {model: "+
			"strong, usd: 0.004})", r.Model, synod.Hint(r.Model, slices.Collect(maps.Keys(p.spec.Models))))
	}
	return nil
}
