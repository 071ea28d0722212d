package council

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"synod.dev/synod"
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
func (c *Council) priced(p *Plan) (*Plan, error) {
	if by, ok := p.protocol.(protocol.Priced); !ok || !by.WantsPrices() {
		return p, nil
	}
	prices := c.relativePrices(p)
	if prices == nil {
		return p, nil
	}
	spec := p.spec
	spec.Protocol = maps.Clone(spec.Protocol)
	spec.Protocol["prices"] = prices
	return NewPlan(spec)
}

// relativePrices returns what a typical call of each seat costs, the cheapest that costs money being 1. A model whose
// price is unknown is taken to cost as much as the dearest one. Nil: no seat has an endpoint as its model.
func (c *Council) relativePrices(p *Plan) []float64 {
	usd := make([]float64, len(p.seats)) // 0: free, NaN: unknown
	endpoints, cheapest, dearest := false, math.Inf(1), 0.0
	for i := range p.seats {
		name := p.seats[i].Model
		use := llm.Use{Model: name, Info: c.models[name].Info(), Calls: 1, Usage: typical}
		if most, err := strconv.Atoi(fmt.Sprint(p.spec.Models[name]["max_tokens"])); err == nil && most > 0 {
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
