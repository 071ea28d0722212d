package llm

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"synod.dev/synod"
)

// RetryConfig says how failed calls are repeated. Zero fields take the defaults.
type RetryConfig struct {
	Attempts   int           // requests for one call at most; default 5, 1 for none repeated
	First      time.Duration // wait before the second; it doubles from there; default 15ms
	Longest    time.Duration // longest such wait; default 2s
	RetryAfter time.Duration // longest wait that a server may ask for; default 60s
}

// rateFactor makes the waits longer where the server says that it has had enough
// and not for how long.
const rateFactor = 20

// Retry repeats calls whose failure is Retryable, with waits that double and
// vary by a quarter either way, and as the server asks where it does. It gives
// up at once when the wait asked for is longer than allowed or than the run has
// left.
//
// The first wait is short because a council's stages follow one another: in a
// SAC question some thirteen of them each wait for their slowest call, and a
// stage of fifty calls of which a tenth fail nearly always has one to repeat.
//
// failsafe-go's policy was not used: it varies a Retry-After like any other
// wait, and so asks again before the server's time, and it cannot give up on a
// wait that is too long.
func Retry(c RetryConfig) Layer {
	c.Attempts = cmp.Or(c.Attempts, 5)
	c.First = cmp.Or(c.First, 15*time.Millisecond)
	c.Longest = cmp.Or(c.Longest, 2*time.Second)
	c.RetryAfter = cmp.Or(c.RetryAfter, time.Minute)
	return func(m Model) Model { return &retrying{layered{m}, c} }
}

type retrying struct {
	layered
	cfg RetryConfig
}

func (l *retrying) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	var spent synod.Reply
	for n := 1; ; n++ {
		reply, err := l.Model.Complete(ctx, r)
		spent.Calls += reply.Calls
		spent.Usage.Prompt += reply.Usage.Prompt
		spent.Usage.Completion += reply.Usage.Completion
		reply.Calls, reply.Usage = spent.Calls, spent.Usage
		if err == nil {
			return reply, nil
		}
		f := AsFailure(err)
		if !f.Retryable || ctx.Err() != nil {
			return failed(spent, f)
		}
		if n >= l.cfg.Attempts {
			return failed(spent, f.because("after %d attempts", n))
		}
		wait, patient := l.wait(ctx, f, n)
		if !patient {
			return failed(spent, f.because("asked to wait %v, which is longer than allowed", wait.Round(time.Second)))
		}
		if !sleep(ctx, wait) {
			return failed(spent, ended(ctx, "waiting to repeat a call that failed: "+f.Error()))
		}
	}
}

// because adds how it ended to a failure that is not tried again.
func (f *Failure) because(format string, args ...any) *Failure {
	g := *f
	g.Retryable = false
	g.Err = fmt.Errorf("%w ("+format+")", append([]any{f.Err}, args...)...)
	return &g
}

// wait is how long to wait after the nth attempt, and whether that is bearable.
func (l *retrying) wait(ctx context.Context, f *Failure, n int) (time.Duration, bool) {
	first, longest := l.cfg.First, l.cfg.Longest
	if f.Status == synod.RateLimited {
		first, longest = first*rateFactor, longest*rateFactor
	}
	wait := min(first<<min(n-1, 20), longest)
	wait = time.Duration(float64(wait) * (0.75 + rand.Float64()/2))
	if f.RetryAfter > wait {
		wait = f.RetryAfter
	}
	if f.RetryAfter > l.cfg.RetryAfter {
		return wait, false
	}
	deadline, ok := ctx.Deadline()
	return wait, !ok || time.Until(deadline) > wait
}
