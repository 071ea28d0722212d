package llm

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"synod.dev/synod"
)

// retryConfig determines how failed calls are repeated. Zero fields take the defaults.
type retryConfig struct {
	attempts   int           // requests for one call at most; default 5, 1 repeats none
	first      time.Duration // wait before the second; it doubles from there; default 15ms
	longest    time.Duration // longest such wait; default 2s
	retryAfter time.Duration // longest wait that a server may ask for; default 60s
}

// rateFactor makes the waits longer if the server reports too many requests without a time to wait.
const rateFactor = 20

// retry is the layer that repeats calls whose failure is Retryable. The waits
// double and vary by up to a quarter, unless the server asks for a time. The layer gives up at once
// if the wait would be longer than allowed, or than the time that the run has left.
//
// The first wait is short because a council's stages follow one another: in a
// SAC question some thirteen of them each wait for their slowest call, and a
// stage of fifty calls of which a tenth fail nearly always has one to repeat.
//
// failsafe-go's policy was not used: it varies a Retry-After like any other
// wait, and so asks again before the server's time, and it cannot give up on a
// wait that is too long.
func retry(c retryConfig) layer {
	c.attempts = cmp.Or(c.attempts, 5)
	c.first = cmp.Or(c.first, 15*time.Millisecond)
	c.longest = cmp.Or(c.longest, 2*time.Second)
	c.retryAfter = cmp.Or(c.retryAfter, longestPause)
	return func(m Model) Model { return &retrying{layered{m}, c} }
}

type retrying struct {
	layered
	cfg retryConfig
}

func (l *retrying) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	var spent synod.Reply
	for n := 1; ; n++ {
		reply, err := l.Model.Complete(ctx, r)
		addCost(&spent, &reply)
		if err == nil {
			reply.Calls, reply.Usage, reply.Charged, reply.Fault = spent.Calls, spent.Usage, spent.Charged, spent.Fault
			return reply, nil
		}
		f := AsFailure(err)
		if !f.Retryable || ctx.Err() != nil {
			return failed(spent, f)
		}
		if n >= l.cfg.attempts {
			return failed(spent, f.because("after %d attempts", n))
		}
		wait, allowed := l.wait(ctx, f, n, r.Outage)
		if !allowed {
			return failed(spent, f.because("asked to wait %v, which is longer than allowed", wait.Round(time.Second)))
		}
		if !sleep(ctx, wait) {
			return failed(spent, ended(ctx, "waiting to repeat a call that failed: "+f.Error()))
		}
	}
}

// because returns a failure that is not tried again, with how it ended added.
func (f *Failure) because(format string, args ...any) *Failure {
	g := *f
	g.Retryable = false
	g.Err = fmt.Errorf("%w ("+format+")", append([]any{f.Err}, args...)...)
	return &g
}

// wait returns how long to wait after the nth attempt, and whether that is allowed.
func (l *retrying) wait(ctx context.Context, f *Failure, n int, o *Outage) (time.Duration, bool) {
	first, longest := l.cfg.first, l.cfg.longest
	if f.Status == synod.RateLimited {
		first, longest = first*rateFactor, longest*rateFactor
	}
	wait := min(first<<min(n-1, 20), longest)
	wait = time.Duration(float64(wait) * (0.75 + rand.Float64()/2))
	if f.RetryAfter > wait {
		wait = f.RetryAfter
	}
	if f.RetryAfter > o.longest(l.cfg.retryAfter) {
		return wait, false
	}
	deadline, ok := ctx.Deadline()
	return wait, !ok || time.Until(deadline) > wait
}
