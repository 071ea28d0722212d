package llm

import (
	"context"

	"synod.dev/synod"
)

type callerKey struct{}

// WithCaller returns a context whose calls are made for a caller, by an id of any kind. Failures that a caller's
// prompts can have drawn, such as a server's status 500, count against that caller: further calls for it fail at
// once, and those for others go on. The breaker of the model opens where failures of two callers, with no success
// between them, or of the connection show that it is not the prompts. Without a caller every failure counts for all.
func WithCaller(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callerKey{}, id)
}

func callerOf(ctx context.Context) string { id, _ := ctx.Value(callerKey{}).(string); return id }

// mostCallers bounds how many callers a breaker knows.
const mostCallers = 4096

// of returns the breaker of a caller; nil for "".
func (b *breaker) of(caller string) *breaker {
	if caller == "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.callers[caller]
	if own == nil {
		if b.callers == nil || len(b.callers) >= mostCallers {
			b.callers = map[string]*breaker{}
		}
		own = newBreaker(b.cfg)
		b.callers[caller] = own
	}
	return own
}

// ticket is a call that the breakers of a model and of a caller have admitted.
type ticket struct {
	b, own        *breaker // own is nil without a caller
	probe, probes bool     // it tests the model; it tests whether the caller's calls work again
}

// admit admits a call for the caller of ctx, or returns why not.
func (b *breaker) admit(ctx context.Context) (t ticket, f *Failure) {
	t = ticket{b: b, own: b.of(callerOf(ctx))}
	if t.probe, f = b.enter(); f != nil || t.own == nil {
		return t, f
	}
	if t.probes, f = t.own.enter(); f != nil {
		b.pass(t.probe)
	}
	return t, f
}

// refused returns why a call that was admitted is refused now; nil: it may leave.
func (t ticket) refused() (f *Failure) {
	if !t.probe {
		f = t.b.refusal()
	}
	if f == nil && t.own != nil && !t.probes {
		f = t.own.refusal()
	}
	return f
}

// tests reports whether the call tests the model, or whether its caller's calls work again.
func (t ticket) tests() bool { return t.probe || t.probes }

// leave records how the call ended; see breaker.leave.
func (t ticket) leave(tried bool, f *Failure) {
	if t.own == nil || f == nil || !f.callers() {
		t.b.leave(t.probe, tried, f)
		if t.own != nil {
			t.own.leave(t.probes, tried && f == nil, f)
		}
		return
	}
	t.own.leave(t.probes, tried, f)
	t.b.pass(t.probe)
	t.b.agree(f)
}

// callers reports whether the prompt of a caller can have drawn the failure: no connection fails because of one.
func (f *Failure) callers() bool {
	return !f.connecting && (f.Status == synod.Unavailable || f.Status == synod.Timeout || f.Status == synod.Auth)
}

// pass ends a test of the model that says nothing about it. The next call tests.
func (b *breaker) pass(probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe && b.open {
		b.until = b.tested
	}
}

// agree opens the breaker if the calls of two callers fail, and none of anybody has succeeded since. Where the model
// is tested in the background, a test decides, and one caller is enough for it.
func (b *breaker) agree(f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	failing := 0
	for _, own := range b.callers {
		own.mu.Lock()
		if own.open && own.since.After(b.worked) {
			failing++
		}
		own.mu.Unlock()
	}
	if b.tending() {
		b.wanted = failing > 0 && !b.open
		return
	}
	if failing >= 2 && !b.open {
		b.failed, b.last = b.cfg.failures, f
		b.trip()
	}
}
