package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"synod.dev/synod"
)

// Hedge determines when a slow call is sent a second time: once it has taken longer
// than this percentile, 50 to 99, of the model's own observed latency. 0 means
// never. Its text form is "p95".
//
// The first good reply wins and the other request is cancelled. Both count in
// calls, tokens and cost. The second request waits for nothing: it is not sent
// if at that time the model's concurrency or rate limit or the budget has no
// room for it, or the circuit breaker is open. The tokens of a cancelled request
// are not known; they are estimated by those of the winner, whose prompt and
// limits are the same, and a budget charges the cancelled request all that it
// may have cost.
//
// Latency is measured from when a request leaves (after all waiting for limits)
// to its reply, over the last 256 first requests of all users of the model in
// this process. Until 20 have been observed nothing is hedged. Only models
// behind an endpoint are hedged.
type Hedge int

// UnmarshalText reads "p50" to "p99", or "" for never.
func (h *Hedge) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*h = 0
		return nil
	}
	digits, ok := strings.CutPrefix(string(text), "p")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 50 || n > 99 {
		return fmt.Errorf("hedge is %q; it must be a percentile from p50 to p99, such as p95", text)
	}
	*h = Hedge(n)
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (h Hedge) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// String returns for example "p95", or "" for never.
func (h Hedge) String() string {
	if h == 0 {
		return ""
	}
	return "p" + strconv.Itoa(int(h))
}

const (
	minLatencies = 20  // fewer observations have no percentile
	maxLatencies = 256 // observations that are kept
)

// latencies are the last observed latencies of a model. Its zero value is ready.
type latencies struct {
	mu     sync.Mutex
	last   []time.Duration // a ring
	next   int
	sorted []time.Duration // of last, when fresh observations were made since
	fresh  int
}

// observe adds a latency; of a request that was cut off, the time until then.
func (l *latencies) observe(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) < maxLatencies {
		l.last = append(l.last, d)
	} else {
		l.last[l.next] = d
		l.next = (l.next + 1) % maxLatencies
	}
	l.fresh++
}

// percentile returns the p-th percentile (nearest rank), and false until enough
// latencies have been observed. It may lag up to 16 observations behind.
func (l *latencies) percentile(p int) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) < minLatencies {
		return 0, false
	}
	if l.sorted == nil || l.fresh >= 16 {
		l.sorted, l.fresh = append(l.sorted[:0], l.last...), 0
		slices.Sort(l.sorted)
	}
	rank := int(math.Ceil(float64(p) / 100 * float64(len(l.sorted))))
	return l.sorted[max(rank, 1)-1], true
}

// layer sends slow calls a second time. It belongs between retries and limits:
// each attempt may be hedged, and the second request needs a slot like any.
func (h Hedge) layer(l *latencies, b *breaker) layer {
	return func(m Model) Model { return &hedging{layered{m}, h, l, b} }
}

type hedging struct {
	layered
	at      Hedge
	latency *latencies
	breaker *breaker
}

// attempt is how one of the two requests ended.
type attempt struct {
	reply synod.Reply
	err   error
}

func (l *hedging) attempt(ctx context.Context, r Request) (a attempt) {
	a.reply, a.err = l.Model.Complete(ctx, r)
	return a
}

func (l *hedging) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	after, known := l.latency.percentile(int(l.at))
	if !known || r.ticket != nil && r.ticket.tests() {
		return l.Model.Complete(ctx, r)
	}
	firstCtx, cancelFirst := context.WithCancelCause(ctx)
	defer cancelFirst(nil)
	secondCtx, cancelSecond := context.WithCancelCause(ctx)
	defer cancelSecond(nil)
	ended := make(chan attempt, 1) // how the second ended
	var mu sync.Mutex
	var timer *time.Timer
	over, second := false, false
	start := func() {
		mu.Lock()
		defer mu.Unlock()
		if over || l.breaker.refusal() != nil {
			return
		}
		second = true
		go func() {
			again := r
			again.hedge, again.sent = true, nil
			a := l.attempt(secondCtx, again)
			if a.err == nil {
				cancelFirst(errOutrun)
			}
			ended <- a
		}()
	}
	r.sent = func() {
		mu.Lock()
		defer mu.Unlock()
		timer = time.AfterFunc(after+1, start) // slower, not as slow
	}
	first := l.attempt(firstCtx, r)
	mu.Lock()
	over = true
	if timer != nil {
		timer.Stop()
	}
	mu.Unlock()
	if !second {
		return first.reply, first.err
	}
	if first.err == nil {
		cancelSecond(errOutrun)
	}
	return merge(first, <-ended)
}

// merge returns the good reply of two, with what both have spent. If both
// failed, it is the failure of the first.
func merge(first, second attempt) (synod.Reply, error) {
	won, lost := first, second
	if first.err != nil && second.err == nil {
		won, lost = second, first
	}
	spent := lost.reply.Usage
	if errors.Is(lost.err, errOutrun) && lost.reply.Calls > 0 && spent == (synod.Usage{}) {
		spent = won.reply.Usage
	}
	lost.reply.Charged, lost.reply.Usage = lost.reply.Spent(), spent
	addCost(&won.reply, &lost.reply)
	return won.reply, won.err
}
