package llm

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

// TestRetryRidesOutFailures: a tenth of all requests fail, no call does. The text of
// the question chooses the failures; random ones would use up all attempts of one
// call in 10^5.
func TestRetryRidesOutFailures(t *testing.T) {
	const calls, failures = 343, 4 + 34
	var mu sync.Mutex
	tried := map[string]int{}
	m, s := stub(t, nil, llmtest.With(func(x *llmtest.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		tried[x.User]++
		if x.User == "0" && tried["0"] <= 4 || strings.HasSuffix(x.User, "0") && tried[x.User] == 1 {
			llmtest.Status(500)(x)
			return
		}
		x.OK()
	}))
	stack := standard(m, testLayers{limits: limits{concurrency: 16}})
	var requests atomic.Int64
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			reply, err := stack.Complete(t.Context(), ask(t, strconv.Itoa(i)))
			if err != nil || reply.Calls < 1 {
				t.Errorf("%+v, %v", reply, err)
			}
			requests.Add(int64(reply.Calls))
		})
	}
	wg.Wait()
	if int(requests.Load()) != s.Count() || s.Count() != calls+failures {
		t.Errorf("%d requests reported, %d received", requests.Load(), s.Count())
	}
	if s.MaxConcurrent() > 16 {
		t.Errorf("%d at once", s.MaxConcurrent())
	}
}

// attempts makes a model whose nth attempt fails as listed, and counts them.
func attempts(n *int, failures ...*Failure) Model {
	return fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
		*n++
		if *n <= len(failures) {
			return failed(synod.Reply{Calls: 1, Usage: synod.Usage{Prompt: 1}}, failures[*n-1])
		}
		return fine("42")
	}}
}

func TestRetryWaits(t *testing.T) {
	down := &Failure{Status: synod.Unavailable, Retryable: true, Err: errDeadline}
	busy := &Failure{Status: synod.RateLimited, Retryable: true, Err: errDeadline}
	later := func(d time.Duration) *Failure {
		return &Failure{Status: synod.RateLimited, Retryable: true, RetryAfter: d, Err: errDeadline}
	}
	for name, x := range map[string]struct {
		failures    []*Failure
		deadline    time.Duration
		calls       int
		want        string // "" for success
		least, most time.Duration
	}{
		"none": {nil, 0, 1, "", 0, 0},
		"two":  {[]*Failure{down, down}, 0, 3, "", 33 * time.Millisecond, 57 * time.Millisecond},
		"for ever": {[]*Failure{down, down, down, down, down, down}, 0, 5, "after 5 attempts",
			168 * time.Millisecond, 282 * time.Millisecond},
		"rate limit":                {[]*Failure{busy}, 0, 2, "", 225 * time.Millisecond, 375 * time.Millisecond},
		"as asked":                  {[]*Failure{later(7 * time.Second)}, 0, 2, "", 7 * time.Second, 7 * time.Second},
		"asked too much":            {[]*Failure{later(2 * time.Hour)}, 0, 1, "asked to wait 2h0m0s", 0, 0},
		"asked beyond the deadline": {[]*Failure{later(7 * time.Second)}, 5 * time.Second, 1, "asked to wait 7s", 0, 0},
		"not retryable":             {[]*Failure{{Status: synod.Auth, Err: errDeadline}}, 0, 1, "deadline", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if x.deadline > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, x.deadline)
					defer cancel()
				}
				n, begun := 0, time.Now()
				reply, err := retry(retryConfig{})(attempts(&n, x.failures...)).Complete(ctx, Request{})
				took := time.Since(begun)
				if n != x.calls || reply.Calls != n || took < x.least || took > x.most {
					t.Errorf("%d attempts (%d reported) in %v: %v", n, reply.Calls, took, err)
				}
				if x.want == "" && (err != nil || reply.Usage.Prompt != n-1+3) || x.want != "" &&
					(err == nil || !strings.Contains(reply.Detail, x.want) || AsFailure(err).Retryable) {
					t.Errorf("%+v, %v", reply, err)
				}
			})
		})
	}
}

func TestRetryStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := retry(retryConfig{})(attempts(&n, &Failure{Status: synod.RateLimited, Retryable: true,
			RetryAfter: 30 * time.Second, Err: errDeadline}))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		reply, err := m.Complete(ctx, Request{})
		if time.Since(begun) != time.Second || AsFailure(err).Status != synod.Dropped || reply.Calls != 1 ||
			!strings.Contains(reply.Detail, "rate_limited") {
			t.Errorf("after %v: %+v, %v", time.Since(begun), reply, err)
		}
	})
}
