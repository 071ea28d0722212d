package council

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// typical is the assumed length of a first answer's call in tokens, by which prices per token become prices of calls.
// A model whose max_tokens is lower completes with no more than that.
var typical = synod.Usage{Prompt: 400, Completion: 150}

// freeShare is the price of a call that costs nothing, as a share of the cheapest one that does: free members come
// first, in the order of their weights.
const freeShare = 0.001

// priced returns the plan with the prices of its seats from the price table, where its protocol orders members by price
// and the council file gives none. The prices stand in the spec, so a journal and a resumed run have them without the
// table. Councils without a member that costs money are left as they are.
func (c *Council) priced(p *plan.Plan) (*plan.Plan, error) {
	if by, ok := p.Protocol().(protocol.Priced); !ok || !by.WantsPrices() {
		return p, nil
	}
	prices := c.relativePrices(p)
	if prices == nil {
		return p, nil
	}
	spec := *p.Full()
	spec.Protocol = maps.Clone(spec.Protocol)
	spec.Protocol["prices"] = prices
	return plan.New(spec)
}

// relativePrices returns what a typical call of each seat costs, the cheapest that costs money being 1. A model whose
// price is unknown is taken to cost as much as the dearest one. Nil: no seat has an endpoint as its model.
func (c *Council) relativePrices(p *plan.Plan) []float64 {
	usd := make([]float64, len(p.Seats())) // 0: free, NaN: unknown
	endpoints, cheapest, dearest := false, math.Inf(1), 0.0
	for i := range p.Seats() {
		name := p.Seats()[i].Model
		use := llm.Use{Model: name, Info: c.models[name].Info(), Calls: 1, Usage: typical}
		if most, err := strconv.Atoi(fmt.Sprint(p.Full().Models[name]["max_tokens"])); err == nil && most > 0 {
			use.Completion = min(use.Completion, most)
		}
		endpoints = endpoints || use.Info.Kind == llm.Endpoint
		money := c.prices.Bill([]llm.Use{use})
		switch usd[i] = money.AtLeast; {
		case len(money.Unknown) > 0:
			usd[i] = math.NaN()
		case usd[i] > 0:
			cheapest, dearest = min(cheapest, usd[i]), max(dearest, usd[i])
		}
	}
	switch {
	case !endpoints:
		return nil
	case dearest == 0: // no price is known: all count the same
		return slices.Repeat([]float64{1}, len(usd))
	}
	for i, x := range usd {
		switch {
		case math.IsNaN(x):
			x = dearest
		case x == 0:
			x = freeShare * cheapest
		}
		usd[i], _ = strconv.ParseFloat(strconv.FormatFloat(x/cheapest, 'g', 4, 64), 64)
	}
	return usd
}

// bill adds to each model what only the open models know. of is a buffer.
func (c *Council) bill(o *outcome.Outcome, uses, of []llm.Use) {
	for k := range o.Models {
		r, seats := &o.Models[k], c.plan.Models()[k].Seats
		info := &uses[seats[0]].Info
		if r.Kind, r.Served, r.Server = info.Kind, info.Model, info.Server; info.Kind != llm.Endpoint {
			r.Cost = &llm.Cost{} // nothing
			continue
		}
		of = of[:0]
		for _, i := range seats {
			of = append(of, uses[i])
		}
		money := c.prices.Bill(of)
		r.Cost = money.Cost()
	}
}

// PriceError reports that a limit in money cannot be kept because prices are not known.
type PriceError struct{ Models []outcome.Unpriced }

// Error names the models, and the lines that a price file needs.
func (e *PriceError) Error() string {
	var names, lines []string
	for _, u := range e.Models {
		names = append(names, fmt.Sprintf("%s (%s at %s)", u.Model, u.Served, u.Server))
		lines = append(lines, "  "+u.Line())
	}
	return fmt.Sprintf("usd needs the price of every model, and this one is not known: %s; a price file (--prices "+
		"FILE, or prices.yaml in the configuration folder) sets it, in USD for a million tokens:\n  prices:\n%s",
		strings.Join(names, ", "), strings.Join(lines, "\n"))
}

// checkPrices fails for a limit in money if the price of a model is not known.
func (c *Council) checkPrices(limits plan.Limits) error {
	if limits.USD == 0 {
		return nil
	}
	e := new(PriceError)
	seen := map[string]bool{}
	for _, name := range sortedKeys(c.models) {
		info := c.models[name].Info()
		if _, known := c.prices.Of(info); !known && !seen[info.Server+" "+info.Model] {
			seen[info.Server+" "+info.Model] = true
			e.Models = append(e.Models, outcome.Unpriced{Model: name, Server: info.Server, Served: info.Model})
		}
	}
	if len(e.Models) == 0 {
		return nil
	}
	return &plan.ConfigError{Section: "limits", Err: e}
}
