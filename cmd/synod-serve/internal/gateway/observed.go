package gateway

import (
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"

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
