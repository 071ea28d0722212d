package llm

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"synod.dev/synod"
)

// BreakerConfig says when a member is given up for a while.
type BreakerConfig struct {
	Failures int           // failures in a row that open the breaker; default 3
	CoolDown time.Duration // until one call may try again; it doubles with each that fails; default 30s
}

// maxCoolDown bounds the doubling.
const maxCoolDown = 10 * time.Minute

// Breaker keeps a dead member from stretching every round by its time limit.
// After some calls in a row that ended Unavailable or Timeout, further calls
// fail at once and quote the last reason; after a while one call probes whether
// the member is back. A member that does not accept the key is given up for
// good. Replies of any other kind show that the member lives.
//
// Its layer belongs outside Retry, so that a failure is a call given up and not
// one of its attempts; its gate belongs inside Limit, so that calls which were
// already waiting for a slot when the breaker opened do not each take their time
// in turn.
//
// failsafe-go's breaker was not used: it has no place for the reason, no opening
// for good, and counts a cancelled call as an outcome.
type Breaker struct {
	cfg BreakerConfig

	mu      sync.Mutex
	failed  int // in a row
	last    *Failure
	open    bool
	forGood bool
	probing bool
	until   time.Time
	cool    time.Duration
}

// NewBreaker makes a closed breaker, for one model.
func NewBreaker(c BreakerConfig) *Breaker {
	c.Failures = cmp.Or(c.Failures, 3)
	c.CoolDown = cmp.Or(c.CoolDown, 30*time.Second)
	return &Breaker{cfg: c, cool: c.CoolDown}
}

// Layer watches how calls end and refuses them while the breaker is open.
func (b *Breaker) Layer() Layer {
	return func(m Model) Model { return &breaking{layered{m}, b} }
}

// Gate only refuses.
func (b *Breaker) Gate() Layer {
	return func(m Model) Model { return &gated{layered{m}, b} }
}

type breaking struct {
	layered
	b *Breaker
}

type probeKey struct{}

func (l *breaking) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	probe, f := l.b.enter()
	if f != nil {
		return failed(synod.Reply{}, f)
	}
	if probe {
		ctx = context.WithValue(ctx, probeKey{}, l.b)
	}
	reply, err := l.Model.Complete(ctx, r)
	l.b.leave(probe, reply.Calls > 0 && ctx.Err() == nil, AsFailure(err))
	return reply, err
}

type gated struct {
	layered
	b *Breaker
}

func (l *gated) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if ctx.Value(probeKey{}) != l.b {
		if f := l.b.refuse(); f != nil {
			return failed(synod.Reply{}, f)
		}
	}
	return l.Model.Complete(ctx, r)
}

// enter lets a call in, as a probe or as one of many, or says why not.
func (b *Breaker) enter() (probe bool, f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return false, nil
	}
	if b.forGood || b.probing || time.Now().Before(b.until) {
		return false, b.reason()
	}
	b.probing = true
	return true, nil
}

func (b *Breaker) refuse() *Failure {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return nil
	}
	return b.reason()
}

// reason is the last failure again, and why nothing was sent.
func (b *Breaker) reason() *Failure {
	if b.forGood {
		return &Failure{Status: b.last.Status, Err: fmt.Errorf("not asked again: %w", b.last.Err)}
	}
	wait := max(0, time.Until(b.until)).Round(time.Second)
	return &Failure{Status: b.last.Status, Err: fmt.Errorf("not asked for another %v after %d failures in a row, the last: %w", wait, b.failed, b.last.Err)}
}

// leave takes note of how a call ended. A call that was not sent, or that ended
// because its caller ran out of time, tells nothing: tried is false.
func (b *Breaker) leave(probe, tried bool, f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch {
	case f != nil && f.Status == synod.Auth:
		b.open, b.forGood, b.last = true, true, f
	case f != nil && (!tried || f.Status == synod.Dropped || f.Status == synod.RateLimited):
		// says nothing about whether the member lives
	case f == nil || f.Status != synod.Unavailable && f.Status != synod.Timeout:
		b.failed, b.open, b.cool = 0, b.forGood, b.cfg.CoolDown
	case b.open && !probe:
		// was on its way when the breaker opened
	default:
		b.failed, b.last = b.failed+1, f
		if probe {
			b.cool = min(2*b.cool, maxCoolDown)
		}
		if probe || b.failed >= b.cfg.Failures {
			b.open, b.until = true, time.Now().Add(b.cool)
		}
	}
}
