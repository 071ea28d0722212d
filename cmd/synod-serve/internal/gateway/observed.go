package gateway

import (
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// Observed is a request that has ended, for metrics and traces.
type Observed struct {
	ID, API, Model, Status string
	HTTP                   int
	Begun                  time.Time
	Took                   time.Duration
	Result                 store.Result
	Council                bool // false: one model was asked
	Parent                 string
	// Calls are those of the members' models in the order of their ends, with Options.Calls.
	Calls            []ObservedCall
	Question, Answer string // "" for what was passed on unread

	Key     string           // the name of the key; "": none
	Members []outcome.Member // of a council
	Refused bool             // it was refused before it was recorded
}

// ObservedCall is a call of a member's model, with its repetitions.
type ObservedCall struct {
	Seat, Model, Provider string
	Answered              string // the model that the server says it asked
	Begun, Ended          time.Time
	Status                synod.Status
	Requests              int
	Prompt, Completion    int
	Reused, Late          bool
}

// called notes a reply of a member's model. It is called by one goroutine at a time.
func (j *job) called(seat synod.NodeID, r *synod.Reply) {
	var s plan.Seat
	if seats := j.council().Plan().Seats(); int(seat) < len(seats) {
		s = seats[seat]
	}
	now := time.Now()
	provider := map[bool]string{true: "openai", false: "synod"}[s.Kind == "endpoint"]
	j.calls = append(j.calls, ObservedCall{Seat: s.ID, Model: s.Model, Provider: provider, Answered: r.Model,
		Begun: now.Add(-time.Duration(r.Took) * time.Millisecond), Ended: now, Status: r.Status, Requests: r.Calls,
		Prompt: r.Usage.Prompt, Completion: r.Usage.Completion, Reused: r.Reused, Late: r.Late})
}

// observe tells metrics and traces about a request that has ended.
func (g *Gateway) observe(grant store.Grant, r store.Result, took time.Duration, j *job, answer string) {
	if g.o.Observe == nil {
		return
	}
	o := Observed{ID: grant.ID, API: grant.API, Model: grant.Model, Status: r.Status, HTTP: r.HTTP, Begun: grant.Begun,
		Took: took, Result: r}
	if grant.Key != nil {
		o.Key = grant.Key.Name
	}
	if j != nil {
		o.Members = j.members
		o.Parent, o.Calls, o.Council, o.Question, o.Answer = j.parent, j.calls, j.served.Council != nil,
			j.question.Text, answer
	}
	g.o.Observe(o)
}
