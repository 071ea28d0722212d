package computed

import (
	"fmt"
	"maps"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

// Catalogue lists the computations.
var Catalogue = synod.NewCatalogue("computation",
	Entry{synod.Entry{Name: "totals", Summary: "DecentLLMs, Table I: scores of the workers from the printed totals"},
		func() Computation { return &totals{} }},
	Entry{synod.Entry{Name: "fitted", Summary: "DecentLLMs, Table I: robust scores from drawn grades"},
		func() Computation { return &fitted{Spread: 2} }},
	Entry{synod.Entry{Name: "collusion", Summary: "DecentLLMs, Fig. 8: Table I with drawn grades and colluders"},
		func() Computation { return &collusion{Aggregate: "geometric-median", Spread: 5} }},
	Entry{synod.Entry{Name: "recorded-council", Summary: "cascade, votes and single members on recorded first answers"},
		func() Computation {
			return &recordedCouncil{Members: 7, F: 1, Attack: lie, Method: "cascade", P: 0.95, Splits: 20}
		}},
	Entry{synod.Entry{Name: "trust-attacks", Summary: "liars that poison the history of cascade, on recorded votes"},
		func() Computation { return newTrustAttacks() }},
	Entry{synod.Entry{Name: "worth", Summary: "what is recommended, against the best single model, on recorded votes"},
		func() Computation { return newWorth() }},
	Entry{synod.Entry{Name: "worth-casts", Summary: "whether casts beat their best member, on recorded votes"},
		func() Computation { return newWorthCasts() }},
	Entry{synod.Entry{Name: "worth-price", Summary: "tiers by price, without labels, on recorded votes"},
		func() Computation { return newWorthPrice() }},
	Entry{synod.Entry{Name: "worth-odds", Summary: "how true the probabilities of answers are, on recorded votes"},
		func() Computation { return newWorthOdds() }},
)

// Figures returns the description and the function of a computation with its name and parameters.
func (w *Work) Figures(given map[string]any, t Trials) (how string, of Compute, err error) {
	name, _ := given["name"].(string)
	e, err := Catalogue.Find(name)
	if err != nil {
		return "", nil, err
	}
	c := e.New()
	params := maps.Clone(given)
	delete(params, "name")
	if err := param.Decode(params, c); err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := param.Verify(c); err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return c.Figures(w, t)
}
