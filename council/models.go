package council

import (
	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/llm"
)

// ModelResult is what a model did in a run, in all seats that it has.
type ModelResult struct {
	Model  string   `json:"model"` // its name in the council
	Kind   llm.Kind `json:"kind"`
	Served string   `json:"served,omitempty"` // of an endpoint: its name at the server
	// Reported are the models that the server's replies named, sorted, at most eight; empty if none did.
	Reported []string  `json:"reported,omitempty"`
	Seats    []string  `json:"seats"`
	Calls    int       `json:"calls"` // requests that left, retries included
	Tokens   Tokens    `json:"tokens"`
	Cost     *llm.Cost `json:"cost"` // null: its price or its tokens are not known

	// Latency is null where no call was timed: simulated and recorded models, and replies
	// from a cache.
	Latency    *metrics.Latency `json:"latency"`
	Unreadable int              `json:"unreadable"` // replies that could not be read
	Failed     int              `json:"failed"`     // calls that brought no reply; without dropped ones
	Agree      int              `json:"agree"`      // seats that end on the decision
	Of         int              `json:"of"`         // seats that could have

	server string // its host and port; "" if it has none
}

// models adds up the members of each model, in the order of seats. An adversary's seat counts
// for its calls only.
func (j *judgment) models(members []Member, decision synod.Answer) []ModelResult {
	all := make([]ModelResult, len(j.plan.models))
	for k, of := range j.plan.models {
		r := &all[k]
		*r = ModelResult{Model: of.name, Kind: j.plan.seats[of.seats[0]].Kind, Seats: make([]string, len(of.seats))}
		var took []int
		for n, i := range of.seats {
			m, use := &members[i], &j.seats[i].Use
			took = append(took, j.seats[i].Took...)
			for _, name := range j.seats[i].Reported {
				r.Reported = llm.AddReported(r.Reported, name)
			}
			r.Seats[n] = m.ID
			r.Calls = synod.Sum(r.Calls, use.Calls)
			r.Tokens = Tokens{synod.Sum(r.Tokens.Prompt, use.Prompt), synod.Sum(r.Tokens.Completion, use.Completion)}
			r.Unreadable += m.Calls[statusUnreadable]
			r.Failed += m.Calls.Failed()
			if m.Adversary == nil && !j.plan.seats[i].NonVoting && decision != synod.None {
				r.Of++
				if answerOf(j.last[i]) == decision {
					r.Agree++
				}
			}
		}
		r.Latency = metrics.NewLatency(took)
	}
	return all
}

// Name returns the model's name in the council and, where its server's replies named another
// model than the one it was asked for, those names.
func (r *ModelResult) Name() string { return llm.ReportedName(r.Model, r.Served, r.Reported) }

// Failed returns the number of calls that brought no reply, without those that were dropped
// because the run ended or a limit was reached.
func (c StatusCount) Failed() (n int) {
	for i := range c {
		if i != statusOK && i != statusUnreadable && i != statusDropped {
			n += c[i]
		}
	}
	return n
}

// bill adds to each model what only the open models know. of is a buffer.
func (c *Council) bill(o *Outcome, uses, of []llm.Use) {
	for k := range o.Models {
		r, seats := &o.Models[k], c.plan.models[k].seats
		info := &uses[seats[0]].Info
		if r.Kind, r.Served, r.server = info.Kind, info.Model, info.Server; info.Kind != llm.Endpoint {
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
