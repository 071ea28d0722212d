package llm

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"synod.dev/synod"
)

// limits bound the requests to a model. 0 means no limit.
type limits struct {
	concurrency int // requests at once
	perMinute   int // requests started in a minute
}

// limiter holds requests to one model of an account to the limits of all its
// users. Where users set different limits, the lowest counts. Requests of one caller
// (WithCaller) start in the order in which they came. Callers have equal shares: the
// next request is of the caller with the fewest running, so none can keep the others
// waiting by sending many. If the server asks not to be called for a while
// (Retry-After), no request starts before.
//
// A rate of 60 a minute or more is a bound on every second: k = perMinute/60
// requests may start together, and no more than k start in any window of
// k*60/perMinute seconds. A lower rate spaces requests evenly. A token bucket
// was not used: after a pause it lets through twice its rate.
type limiter struct {
	mu      sync.Mutex
	users   map[*limits]struct{}
	now     limits // the lowest of all users
	running int
	starts  []time.Time             // of the last requests, oldest first; at most k
	even    bool                    // requests are spaced evenly and a tenth slower: those who send them are elsewhere
	shares  map[string]*callerShare // by caller; those with a request that runs or waits
	begun   int                     // requests so far
	waiting []turn
	timer   *time.Timer   // starts the next request that waits for the rate; nil: none does
	paused  time.Time     // the server has asked not to be called before
	pauses  chan struct{} // closed when the pause becomes longer; nil: nobody waits for that
}

// longestPause is how long a server may ask calls to wait; if it asks for more, they
// fail at once.
const longestPause = time.Minute

// pause lets no request start for so long.
func (l *limiter) pause(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := time.Now().Add(d); until.After(l.paused) {
		l.paused = until
		if l.pauses != nil {
			close(l.pauses)
			l.pauses = nil
		}
	}
}

// refused returns a failure if a call does not wait for the end of the pause.
func (l *limiter) refused(ctx context.Context, longest time.Duration) *Failure {
	left := time.Until(l.paused)
	if left <= 0 || left <= longest && before(ctx, l.paused) {
		return nil
	}
	return failure(synod.RateLimited, "the server has asked not to be called for another %v", left.Round(time.Second))
}

// join adds a user's limits; leave takes them away again.
func (l *limiter) join(x *limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == nil {
		l.users = map[*limits]struct{}{}
	}
	l.users[x] = struct{}{}
	l.lowest()
}

func (l *limiter) leave(x *limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.users, x)
	l.lowest()
	l.admit()
}

func (l *limiter) lowest() {
	l.now = limits{}
	lower := func(at *int, v int) {
		if v > 0 && (*at == 0 || v < *at) {
			*at = v
		}
	}
	for x := range l.users {
		lower(&l.now.concurrency, x.concurrency)
		lower(&l.now.perMinute, x.perMinute)
	}
}

// acquire waits until a request may start. It fails if the context ends first, if a
// spare call would have to wait, or if the server has asked for a longer pause than
// this.
func (l *limiter) acquire(ctx context.Context, spare bool, longest time.Duration) *Failure {
	l.mu.Lock()
	if f := l.refused(ctx, longest); f != nil {
		l.mu.Unlock()
		return f
	}
	caller := callerOf(ctx)
	if len(l.waiting) == 0 && l.full() == "" && l.delay() == 0 {
		l.start(caller)
		l.mu.Unlock()
		return nil
	}
	if spare {
		l.mu.Unlock()
		return &Failure{Status: synod.Dropped, Err: errNoRoom}
	}
	t := turn{caller, make(chan struct{})}
	l.waiting = append(l.waiting, t)
	l.shareOf(caller).waiting++
	l.admit()
	return l.wait(ctx, t, longest)
}

// wait waits for a turn. It is called with the lock held and returns without.
func (l *limiter) wait(ctx context.Context, t turn, longest time.Duration) *Failure {
	for {
		if l.pauses == nil {
			l.pauses = make(chan struct{})
		}
		pauses, f := l.pauses, l.refused(ctx, longest)
		if f != nil && l.leaveQueue(t) {
			l.mu.Unlock()
			return f
		}
		l.mu.Unlock()
		select {
		case <-t.came:
			return nil
		case <-pauses:
			l.mu.Lock()
			continue
		case <-ctx.Done():
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		why := cmp.Or(l.full(), "waiting for the model's rate limit")
		if !l.leaveQueue(t) { // its turn came at the same moment
			l.end(t.caller)
		}
		return ended(ctx, why)
	}
}

// leaveQueue takes a turn out of the queue; false if it is not in it any more.
func (l *limiter) leaveQueue(t turn) bool {
	i := slices.Index(l.waiting, t)
	if i >= 0 {
		l.leaveAt(i)
	}
	return i >= 0
}

// leaveAt takes the turn at a place out of the queue.
func (l *limiter) leaveAt(i int) {
	caller := l.waiting[i].caller
	l.waiting = slices.Delete(l.waiting, i, i+1)
	l.shares[caller].waiting--
	l.forget(caller)
}

var errNoRoom = errors.New("the model's limits have no room for a second copy of the call")

// release ends a request of a caller.
func (l *limiter) release(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end(caller)
}

func (l *limiter) end(caller string) {
	l.running--
	l.shareOf(caller).running--
	l.forget(caller)
	l.admit()
}

// admit starts waiting requests as far as the limits allow.
func (l *limiter) admit() {
	for len(l.waiting) > 0 && l.full() == "" {
		if d := l.delay(); d > 0 {
			if l.timer == nil {
				l.timer = time.AfterFunc(d, func() {
					l.mu.Lock()
					defer l.mu.Unlock()
					l.timer = nil
					l.admit()
				})
			}
			return
		}
		i := l.next()
		t := l.waiting[i]
		l.start(t.caller)
		l.leaveAt(i)
		close(t.came)
	}
}

func (l *limiter) start(caller string) {
	l.running++
	l.begun++
	s := l.shareOf(caller)
	s.running++
	s.last = l.begun
	if k := l.burst(); k > 0 {
		if len(l.starts) >= k {
			l.starts = l.starts[len(l.starts)-k+1:]
		}
		l.starts = append(l.starts, time.Now())
	}
}

// burst is how many requests may start together; 0: no rate limit.
func (l *limiter) burst() int {
	if l.now.perMinute == 0 {
		return 0
	}
	if l.even {
		return 1
	}
	return max(1, l.now.perMinute/60)
}

// full returns what a request waits for if all slots are taken, else "".
func (l *limiter) full() string {
	if l.now.concurrency > 0 && l.running >= l.now.concurrency {
		return "waiting for a free slot of the model's concurrency limit"
	}
	return ""
}

// delay is how long the server's pause and the rate limit hold the next request back.
func (l *limiter) delay() time.Duration {
	var pause time.Duration
	if !l.paused.IsZero() {
		pause = max(0, time.Until(l.paused))
	}
	k := l.burst()
	if k == 0 || len(l.starts) < k {
		return pause
	}
	window := time.Duration(k) * time.Minute / time.Duration(l.now.perMinute)
	if l.even {
		window += window / 10
	}
	return max(pause, time.Until(l.starts[len(l.starts)-k].Add(window)))
}

// before reports whether a time comes before the deadline of a context.
func before(ctx context.Context, at time.Time) bool {
	deadline, ok := ctx.Deadline()
	return !ok || at.Before(deadline)
}

func (l *limiter) layer() layer {
	return func(m Model) Model { return &limited{layered{m}, l} }
}

type limited struct {
	layered
	l *limiter
}

func (m *limited) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if f := m.l.acquire(ctx, r.spare(), r.Outage.longest(longestPause)); f != nil {
		return failed(synod.Reply{}, f)
	}
	defer m.l.release(callerOf(ctx))
	reply, err := m.Model.Complete(ctx, r)
	if err != nil {
		if f := AsFailure(err); f.RetryAfter > 0 {
			m.l.pause(f.RetryAfter)
		}
	}
	return reply, err
}
