package llm

import (
	"context"
	"errors"
	"time"

	"synod.dev/synod"
)

// bound is the layer next to the client: it holds one request to its time limit
// (0: none), observes how long it takes, and classifies the client's errors.
func bound(limit time.Duration, l *latencies) layer {
	return func(m Model) Model { return &bounded{layered{m}, limit, l} }
}

type bounded struct {
	layered
	limit   time.Duration
	latency *latencies
}

func (l *bounded) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if l.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.limit, slowError{l.limit})
		defer cancel()
	}
	if r.sent != nil {
		r.sent()
	}
	begun := time.Now()
	reply, err := l.Model.Complete(ctx, r)
	cause := context.Cause(ctx)
	cut := errors.Is(cause, ErrLate) || errors.Is(cause, ErrSlow) || errors.Is(cause, errOutrun) ||
		errors.As(cause, new(slowError))
	if !r.hedge && (err == nil || cut) {
		l.latency.observe(time.Since(begun))
	}
	if err == nil {
		if reply.Status = synod.OK; reply.Calls == 0 && !reply.Reused {
			reply.Calls = 1
		}
		return reply, nil
	}
	f := AsFailure(err)
	if _, classified := errors.AsType[*Failure](err); !classified && cause != nil {
		f = ended(ctx, "waiting for the reply")
	}
	return failed(reply, f)
}
