package outcome

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

	Server string `json:"-"` // its host and port; "" if it has none
}

// models adds up the members of each model, in the order of seats. An adversary's seat counts
// for its calls only.
func (j *judgment) models(members []Member, decision synod.Answer) []ModelResult {
	all := make([]ModelResult, len(j.plan.Models()))
	for k, of := range j.plan.Models() {
		r := &all[k]
		*r = ModelResult{Model: of.Name, Kind: j.plan.Seats()[of.Seats[0]].Kind, Seats: make([]string, len(of.Seats))}
		var took []int
		for n, i := range of.Seats {
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
			if m.Adversary == nil && !j.plan.Seats()[i].NonVoting && decision != synod.None {
				r.Of++
				if AnswerOf(j.last[i]) == decision {
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
