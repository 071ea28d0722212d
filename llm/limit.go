package llm

import (
	"context"
	"errors"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"synod.dev/synod"
)

// LimitConfig bounds what reaches a provider. Zero is without bound.
type LimitConfig struct {
	Concurrency int // requests at once
	PerMinute   int // requests started in a minute, spread evenly
}

// Limit lets calls through in the order in which they came. Waiting counts as
// the caller's time: it ends with the caller's context.
func Limit(c LimitConfig) Layer {
	return func(m Model) Model {
		l := &limited{layered: layered{m}}
		if c.Concurrency > 0 {
			l.slots = semaphore.NewWeighted(int64(c.Concurrency))
		}
		if c.PerMinute > 0 {
			l.pace = rate.NewLimiter(rate.Limit(float64(c.PerMinute)/60), max(1, c.PerMinute/60))
		}
		return l
	}
}

type limited struct {
	layered
	slots *semaphore.Weighted
	pace  *rate.Limiter
}

func (l *limited) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if l.slots != nil {
		if l.slots.Acquire(ctx, 1) != nil {
			return failed(synod.Reply{}, ended(ctx, "waiting for a free slot of the model's concurrency limit"))
		}
		defer l.slots.Release(1)
	}
	if l.pace != nil {
		if err := l.pace.Wait(ctx); err != nil {
			if ctx.Err() != nil {
				return failed(synod.Reply{}, ended(ctx, "waiting for the model's rate limit"))
			}
			return failed(synod.Reply{}, &Failure{Status: synod.Timeout, Err: errors.New("the model's rate limit does not let the call through before the deadline")})
		}
	}
	return l.Model.Complete(ctx, r)
}
