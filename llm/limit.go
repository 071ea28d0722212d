package llm

import (
	"context"
	"errors"
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
// users. Where users set different limits, the lowest counts. Requests start in
// the order in which they came.
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
	starts  []time.Time // of the last requests, oldest first; at most k
	waiting []chan struct{}
	timer   *time.Timer // starts the next request that waits for the rate; nil: none does
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

// acquire waits until a request may start. It fails if the context ends first,
// or if a hedged copy would have to wait.
func (l *limiter) acquire(ctx context.Context, hedge bool) *Failure {
	l.mu.Lock()
	if len(l.waiting) == 0 && l.full() == "" && l.delay() == 0 {
		l.start()
		l.mu.Unlock()
		return nil
	}
	if hedge {
		l.mu.Unlock()
		return &Failure{Status: synod.Dropped, Err: errNoRoom}
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.admit()
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	why := l.full()
	for i, w := range l.waiting {
		if w == turn {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			if why == "" {
				why = "waiting for the model's rate limit"
			}
			return ended(ctx, why)
		}
	}
	l.running-- // its turn came at the same moment
	l.admit()
	return ended(ctx, "waiting for the model's limits")
}

var errNoRoom = errors.New("the model's limits have no room for a second copy of the call")

// release ends a request.
func (l *limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
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
		l.start()
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
	}
}

func (l *limiter) start() {
	l.running++
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
	return max(1, l.now.perMinute/60)
}

// full says what a request waits for if all slots are taken, else "".
func (l *limiter) full() string {
	if l.now.concurrency > 0 && l.running >= l.now.concurrency {
		return "waiting for a free slot of the model's concurrency limit"
	}
	return ""
}

// delay is how long the rate limit holds the next request back.
func (l *limiter) delay() time.Duration {
	k := l.burst()
	if k == 0 || len(l.starts) < k {
		return 0
	}
	window := time.Duration(k) * time.Minute / time.Duration(l.now.perMinute)
	return max(0, time.Until(l.starts[len(l.starts)-k].Add(window)))
}

func (l *limiter) layer() layer {
	return func(m Model) Model { return &limited{layered{m}, l} }
}

type limited struct {
	layered
	l *limiter
}

func (m *limited) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if f := m.l.acquire(ctx, r.hedge); f != nil {
		return failed(synod.Reply{}, f)
	}
	defer m.l.release()
	return m.Model.Complete(ctx, r)
}
