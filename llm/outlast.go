package llm

import (
	"context"
	"time"

	"synod.dev/synod"
)

// outlast makes a call, and makes it again after the outage in which it failed.
func (l *breaking) outlast(ctx context.Context, r Request) (synod.Reply, error) {
	var spent synod.Reply
	for {
		reply, err := l.once(ctx, r)
		addCost(&spent, &reply)
		if err == nil {
			reply.Calls, reply.Usage, reply.Charged, reply.Fault = spent.Calls, spent.Usage, spent.Charged, spent.Fault
			return reply, nil
		}
		f := AsFailure(err)
		if f.Status != synod.Unavailable && f.Status != synod.Timeout {
			return failed(spent, f)
		}
		if f.Lasting && callerOf(ctx) == "" {
			l.b.out(f)
		}
		if !l.b.outlast(ctx, r.Outage, l.Info().Name) {
			return failed(spent, f)
		}
	}
}

// out opens the breaker of a model that has worked before, after a failure that lasts, such as a refused connection:
// the call need not be lost until more have failed.
func (b *breaker) out(f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open && !b.worked.IsZero() {
		b.failed, b.last = max(b.failed, 1), f
		b.trip()
	}
}

// outlast waits while the breaker is open. It returns true if the call may be made
// again, because the breaker has closed or the model is to be tested; false if the
// breaker was not open, if ctx has ended, or if the call is not to wait any longer.
func (b *breaker) outlast(ctx context.Context, o *Outage, model string) bool {
	b.mu.Lock()
	if !b.open || b.worked.IsZero() || b.last.Status == synod.Auth || ctx.Err() != nil {
		b.mu.Unlock()
		return false
	}
	since, reason := b.since, b.last.Reason()
	b.mu.Unlock()
	if time.Since(since) >= o.Limit {
		return false
	}
	o.begin(model, reason, since)
	defer o.end(model)
	for {
		b.mu.Lock()
		if !b.open {
			b.mu.Unlock()
			return true
		}
		closed, test := b.closed, b.tested.Add(o.interval())
		tending := b.tending()
		if tending && test.Before(b.until) {
			b.until = test
		}
		if !tending && !time.Now().Before(test) {
			b.until = time.Now() // the next call to enter tests
			b.mu.Unlock()
			return true
		}
		b.mu.Unlock()
		left := time.Until(since.Add(o.Limit))
		if left <= 0 {
			return false
		}
		timer := time.NewTimer(min(left, max(time.Until(test), o.interval())))
		select {
		case <-closed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return false
		}
	}
}
