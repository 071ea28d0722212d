package council

import (
	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
)

// compare says what the question would have cost the reference model alone. uses are those of the seats.
func (c *Council) compare(o *outcome.Outcome, records []outcome.Record, uses []llm.Use) {
	named := c.plan.Full().Reference
	if named.Model == "" {
		return
	}
	r := &outcome.Reference{Model: named.Model}
	o.Reference = r
	if o.Calls.Made == 0 {
		return // nothing was paid for, and what a reply costs that was kept is not known
	}
	if usd, known := c.alone(named.Model, records, uses); known {
		r.USD, r.Measured = &usd, true
	} else if named.USD > 0 {
		r.USD = &named.USD
	}
	if r.USD != nil && o.Cost != nil {
		r.Saved = new(*r.USD - o.Cost.USD)
	}
}

// alone returns what the answer of a model has cost, in the mean over its seats that were asked once. Such a call is
// what the model would have been asked alone. It is not known where members are asked again in later rounds.
func (c *Council) alone(model string, records []outcome.Record, uses []llm.Use) (usd float64, known bool) {
	var all []llm.Use
	for i := range records {
		if uses[i].Model == model && answeredOnce(&records[i]) {
			all = append(all, uses[i])
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	cost := c.prices.Bill(all).Cost()
	if cost == nil {
		return 0, false
	}
	return cost.USD / float64(len(all)), true
}

// answeredOnce reports whether a seat was asked once and replied, and its tokens are known.
func answeredOnce(r *outcome.Record) bool {
	calls := 0
	for _, n := range r.Statuses {
		calls += n
	}
	replied := r.Statuses.Of(synod.OK) + r.Statuses.Of(synod.Unreadable) + r.Statuses.Of(synod.Refused)
	return calls == 1 && replied == 1 && r.Use.Calls > 0 && r.Use.Silent == 0
}
