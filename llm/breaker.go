package llm

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod"
)

// breakerConfig determines when a model is not called for a while. Zero fields take
// the defaults.
type breakerConfig struct {
	failures int           // failures in a row that open the breaker; default 3
	coolDown time.Duration // until one call tests the model again; doubles with each failed test; default 30s
}

// maxCoolDown bounds the doubling of the cool-down.
const maxCoolDown = 10 * time.Minute

// breaker keeps a dead model from stretching every round by its time limit.
// After some calls in a row that ended Unavailable or Timeout, or one that ended
// Auth, further calls fail at once and quote the last reason. After the
// cool-down one call tests the model (half-open): if it succeeds the breaker
// closes, else it stays open for twice as long, up to maxCoolDown. A test call
// that has not returned after another cool-down no longer holds others back. So
// every open breaker becomes half-open again, also after a rejected key: the
// account may have been topped up. In a pool that is tended (Pool.Tend), no call for
// a question tests a model, but one in the background.
//
// Replies with any other status show that the model works. A call that was
// stopped by its own context (deadline of the run, ErrLate) does not count.
//
// Its layer belongs outside retries, so that a failure is a call given up and
// not one attempt; its gate belongs inside the limits, so that calls which were
// already waiting for a slot when the breaker opened do not each take their time
// limit in turn.
//
// failsafe-go's breaker was not used: it keeps no reason and counts a cancelled
// call as an outcome.
type breaker struct {
	cfg breakerConfig

	mu     sync.Mutex
	failed int // in a row
	last   *Failure
	open   bool
	until  time.Time // when the next call may test the model
	cool   time.Duration

	worked time.Time     // when a call last succeeded; zero: none has
	since  time.Time     // when it opened
	tested time.Time     // when the model last failed, or when a test began that has not returned
	closed chan struct{} // closed when the breaker closes; nil: it is
	faults []Fault       // the last calls that failed, the earliest first

	callers map[string]*breaker // of single callers; see WithCaller

	// For tests in the background; see Pool.Tend.
	tended  *atomic.Int64  // how many Tend of its pool test the model; nil: none does
	users   map[Model]bool // through which it can be tested
	info    Info
	wanted  bool // a test is to be made before the breaker opens, or as soon as it has opened
	testing bool
	began   time.Time // when the last test began
	late    bool      // it opened because questions were late
	slow    time.Time // until when a question that is late says nothing
}

// newBreaker returns a closed breaker.
func newBreaker(c breakerConfig) *breaker {
	c.failures = cmp.Or(c.failures, 3)
	c.coolDown = cmp.Or(c.coolDown, 30*time.Second)
	return &breaker{cfg: c, cool: c.coolDown}
}

// layer observes how calls end and refuses them while the breaker is open.
func (b *breaker) layer() layer {
	return func(m Model) Model { return &breaking{layered{m}, b} }
}

// gate only refuses.
func (b *breaker) gate() layer {
	return func(m Model) Model { return &gated{layered{m}, b} }
}

type breaking struct {
	layered
	b *breaker
}

func (l *breaking) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if r.Outage != nil {
		return l.outlast(ctx, r)
	}
	return l.once(ctx, r)
}

// once makes a call, unless the breaker is open.
func (l *breaking) once(ctx context.Context, r Request) (reply synod.Reply, err error) {
	t, f := l.b.admit(ctx)
	if f != nil {
		return failed(synod.Reply{}, f)
	}
	r.ticket = t
	returned := false
	defer func() {
		if !returned { // a panic of the model
			t.leave(false, &Failure{Status: synod.Unavailable})
		}
	}()
	reply, err = l.Model.Complete(ctx, r)
	returned = true
	f = AsFailure(err)
	t.leave((reply.Calls > 0 || f != nil && f.connecting) && ctx.Err() == nil, f)
	return reply, err
}

type gated struct {
	layered
	b *breaker
}

func (l *gated) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	t := r.ticket
	if t == nil {
		t = ticket{b: l.b}
	}
	if f := t.refused(); f != nil {
		return failed(synod.Reply{}, f)
	}
	return l.Model.Complete(ctx, r)
}

// enter admits a call, as a test or as one of many, or returns why not.
func (b *breaker) enter() (probe bool, f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.open:
		return false, nil
	case b.tending() || time.Now().Before(b.until):
		return false, b.reason()
	}
	b.tested = time.Now()
	b.until = b.tested.Add(b.cool) // in case the test does not return
	return true, nil
}

// refusal returns why calls are refused; nil while the breaker is closed.
func (b *breaker) refusal() *Failure {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return nil
	}
	return b.reason()
}

// reason is the last failure, and for how long nothing is sent.
func (b *breaker) reason() *Failure {
	wait := max(0, time.Until(b.until)).Round(time.Second)
	if b.last.Status == synod.Auth {
		return failure(b.last.Status, "not called for another %v: %w", wait, b.last.Err)
	}
	return failure(b.last.Status, "not called for another %v after %d failures in a row, the last: %w",
		wait, b.failed, b.last.Err)
}

// leave records how a call ended. tried is false if the call was not sent or
// was stopped by its caller's context.
func (b *breaker) leave(probe, tried bool, f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f != nil && (tried || f.Status == synod.Auth && (probe || !b.open)) {
		b.remember(f)
	}
	switch {
	case f != nil && f.Status != synod.Auth && (!tried || f.Status == synod.Dropped || f.Status == synod.RateLimited):
		if probe {
			b.until = time.Now() // this call does not count; the next one tests the model
		}
	case f == nil || f.Status != synod.Unavailable && f.Status != synod.Timeout && f.Status != synod.Auth:
		b.close()
		if f == nil {
			b.worked = time.Now()
		}
	case b.open && !probe:
		// was under way when the breaker opened
	default:
		b.failed, b.last = b.failed+1, f
		if probe {
			b.cool = min(2*b.cool, maxCoolDown)
		}
		if probe || b.failed >= b.cfg.failures || f.Status == synod.Auth {
			b.trip()
		}
	}
}

func (b *breaker) trip() {
	b.tested = time.Now()
	b.until = b.tested.Add(b.cool)
	if !b.open {
		b.open, b.since, b.closed = true, b.tested, make(chan struct{})
	}
}

func (b *breaker) close() {
	b.failed, b.late, b.cool = 0, false, b.cfg.coolDown
	if b.open {
		b.open = false
		close(b.closed)
	}
}

// Fault is a call that failed. Its Reason holds no secret and no body of a server.
type Fault struct {
	At     time.Time
	Status synod.Status
	Reason string
}

// mostFaults is how many failed calls a breaker remembers.
const mostFaults = 8

// remember keeps why a call failed.
func (b *breaker) remember(f *Failure) {
	if len(b.faults) == mostFaults {
		b.faults = append(b.faults[:0], b.faults[1:]...)
	}
	b.faults = append(b.faults, Fault{time.Now(), f.Status, f.Reason()})
}
