package llm

import (
	"context"
	"errors"
	"time"

	"synod.dev/synod"
)

// unused reports whether nobody uses the model any more.
func (b *breaker) unused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.users) == 0
}

// tending reports whether the model is tested in the background, and not by calls for questions. The caller holds
// the lock.
func (b *breaker) tending() bool {
	return b.tended != nil && b.tended.Load() > 0 && len(b.users) > 0
}

// use adds or removes a way in which the model can be called for a test.
func (b *breaker) use(m Model, uses bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users == nil {
		b.users = map[Model]bool{}
	}
	if uses {
		b.users[m], b.info = true, m.Info()
	} else {
		delete(b.users, m)
	}
}

// due returns the model, and if it is to be tested now and may be, what to call for that; then the test has begun.
func (b *breaker) due(may bool) (Model, Info) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	switch {
	case b.testing || !may:
		return nil, b.info
	case b.wanted && (b.began.IsZero() || !now.Before(b.began.Add(b.cool))):
	case !b.open || now.Before(b.until):
		return nil, b.info
	}
	for m := range b.users {
		b.wanted, b.testing, b.began, b.tested = false, true, now, now
		return m, b.info
	}
	return nil, b.info
}

// judged records how a test in the background ended: nil, a failure that shows that the server works, or one that
// shows that it does not.
func (b *breaker) judged(m Model, f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.testing = false
	switch {
	case !b.users[m]: // its client was closed
	case f != nil && b.worked.After(b.began): // the test waited for its turn, and a question has told more
	case f != nil && (f.Status == synod.RateLimited || f.Status == synod.Dropped):
		b.until = time.Now().Add(b.cool)
	case f != nil && (f.Status == synod.Unavailable || f.Status == synod.Timeout || f.Status == synod.Auth):
		b.failed, b.last = b.failed+1, f
		b.remember(f)
		if b.open {
			b.cool = min(2*b.cool, maxCoolDown)
		}
		b.trip()
	default:
		b.back()
	}
}

// back closes the breaker after a test. The cool-down stays and doubles with the next opening, until a call for a
// question succeeds. Questions that were late say nothing until it is over, because the model is slow and not out.
func (b *breaker) back() {
	if b.open {
		b.callers = nil // their calls failed because the model was out
	}
	for _, own := range b.callers {
		own.mu.Lock()
		if own.open && own.late {
			own.close()
		}
		own.slow = time.Now().Add(b.cool)
		own.mu.Unlock()
	}
	cool := b.cool
	b.close()
	b.slow, b.cool = time.Now().Add(cool), min(2*cool, maxCoolDown)
}

var errMissed = errors.New("no reply before the others had answered and waiting for it ended")

// Missed counts a question in which a model that was opened by a Pool has replied to no call before they were cut off
// because of ErrLate or because they could not change the decision. It counts as a failed call, for the caller of ctx,
// unless the model has replied to somebody since the question was begun.
func Missed(ctx context.Context, m Model, begun time.Time) {
	for {
		switch l := m.(type) {
		case *breaking:
			l.b.missed(callerOf(ctx), begun)
			return
		case interface{ Within() Model }:
			m = l.Within()
		default:
			return
		}
	}
}

func (b *breaker) missed(caller string, begun time.Time) {
	b.mu.Lock()
	replied := b.worked.After(begun)
	b.mu.Unlock()
	if replied {
		return
	}
	f := &Failure{Status: synod.Timeout, Err: errMissed}
	own := b.of(caller)
	if own == nil {
		b.miss(f)
		return
	}
	own.miss(f)
	b.agree(f)
}

// miss counts a question that was late.
func (b *breaker) miss(f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Before(b.slow) || b.open && now.Before(b.until) {
		return
	}
	b.remember(f)
	if b.open { // the question was a test
		b.cool = min(2*b.cool, maxCoolDown)
		b.trip()
		return
	}
	b.failed, b.last = b.failed+1, f
	if b.failed >= b.cfg.failures {
		b.trip()
		b.late, b.wanted = true, true
	}
}
