package llm

import (
	"context"
	"time"
)

// Permits grants requests to the models of provider accounts, beyond what a pool itself allows. The workers of a sweep
// ask the hub for a permit before each request, so that the limits of an account and the budget hold over all of them.
type Permits interface {
	// Acquire waits until a request may leave. The request is not sent if it fails.
	Acquire(ctx context.Context, w Wanted) (Permit, error)
}

// Permit allows one request.
type Permit interface {
	// Release is called once, when the request is over, with what it has cost. The server may have asked not to be
	// called for so long; 0: it has not.
	Release(spent Spent, pause time.Duration)
}

// Wanted is a request that a permit is wanted for.
type Wanted struct {
	Provider string `json:"provider"`
	Account  string `json:"account"` // Opened.Account: it holds no secret
	Model    string `json:"model"`

	Concurrency int   `json:"concurrency,omitempty"` // of the model's settings: requests at once; 0: no limit
	PerMinute   int   `json:"per_minute,omitempty"`  // likewise: requests started in a minute
	Most        Spent `json:"most"`                  // what the request may cost at most; of USD, what is known
}
