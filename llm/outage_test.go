package llm

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
)

// frozen is a model that gives no reply in a stretch of time after the start.
type frozen struct {
	begun    time.Time
	from, to time.Duration
	status   synod.Status
	calls    atomic.Int64
}

func (m *frozen) Info() Info { return Info{Kind: Endpoint, Name: "frozen"} }

func (m *frozen) Complete(context.Context, Request) (synod.Reply, error) {
	m.calls.Add(1)
	time.Sleep(100 * time.Millisecond)
	if at := time.Since(m.begun); at >= m.from && at < m.to {
		time.Sleep(time.Second)
		return failing(m.status, false)
	}
	return fine("42")
}

// TestOutage: calls outlast a freeze of five seconds, and the model is not flooded with
// tests meanwhile.
func TestOutage(t *testing.T) {
	for _, x := range []struct {
		name           string
		from, to       time.Duration
		limit          time.Duration
		status         synod.Status
		failed, lasted bool
	}{
		{"freeze", time.Second, 6 * time.Second, 20 * time.Second, synod.Timeout, false, true},
		{"longer than the limit", time.Second, time.Hour, 20 * time.Second, synod.Unavailable, true, true},
		{"has never replied", 0, time.Hour, time.Minute, synod.Unavailable, true, false},
		{"key", time.Second, time.Hour, time.Minute, synod.Auth, true, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &frozen{begun: time.Now(), from: x.from, to: x.to, status: x.status}
				o := &Outage{Limit: x.limit}
				most := 0
				o.Changed = func() {
					for _, w := range o.Waiting() {
						most = max(most, w.Calls)
						if w.Model != "frozen" || !strings.Contains(w.Reason, "as asked") || w.Since.Before(m.begun) {
							t.Errorf("%+v", w)
						}
					}
				}
				l := newBreaker(breakerConfig{}).layer()(m)
				var good, bad atomic.Int64
				var wg sync.WaitGroup
				for range 20 {
					wg.Go(func() {
						for range 20 {
							if _, err := l.Complete(t.Context(), Request{Outage: o}); err != nil {
								bad.Add(1)
							} else {
								good.Add(1)
							}
						}
					})
				}
				wg.Wait()
				took := time.Since(m.begun)
				if !x.failed && bad.Load() > 2 || x.failed && bad.Load() == 0 || (most > 0) != x.lasted {
					t.Errorf("%d calls failed; %d waited at once", bad.Load(), most)
				}
				if x.failed && took > x.limit+10*time.Second || !x.failed && took > x.to+5*time.Second {
					t.Errorf("took %v", took)
				}
				if n := m.calls.Load() - good.Load(); n > 25+testsPerLimit {
					t.Errorf("%d calls reached a model that was out of order", n)
				}
				if left := o.Waiting(); len(left) > 0 {
					t.Errorf("still waiting: %+v", left)
				}
			})
		})
	}
}

// TestOutageLosesNoCall: where a server that has replied is gone for a while, no call is lost, the first ones included.
func TestOutageLosesNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		l := newBreaker(breakerConfig{}).layer()(fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
			if at := time.Since(begun); at > time.Second && at < time.Minute {
				return synod.Reply{Calls: 1}, &Failure{Status: synod.Unavailable, Lasting: true,
					Err: errors.New("connection refused")}
			}
			return fine("42")
		}})
		for range 4 {
			if _, err := l.Complete(t.Context(), Request{Outage: &Outage{Limit: time.Hour}}); err != nil {
				t.Errorf("after %v: %v", time.Since(begun), err)
			}
			time.Sleep(time.Second)
		}
	})
}

// TestOutageEndsWithTheRun: a call that waits returns when its context ends.
func TestOutageEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &frozen{begun: time.Now(), from: time.Second, to: time.Hour, status: synod.Unavailable}
		l := newBreaker(breakerConfig{}).layer()(m)
		o := &Outage{Limit: time.Hour}
		if _, err := l.Complete(t.Context(), Request{Outage: o}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 3 {
			_, _ = l.Complete(ctx, Request{Outage: o})
		}
		if took := time.Since(m.begun); took < time.Minute || took > 63*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// TestRetryAfterHoldsTheModel: while a server asks not to be called, no call of the
// model leaves, whoever makes it.
func TestRetryAfterHoldsTheModel(t *testing.T) {
	for _, x := range []struct {
		asks time.Duration
		sent int64 // of ten calls that follow the first
		fail bool
	}{{30 * time.Second, 10, false}, {time.Hour, 0, true}} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			begun := time.Now()
			p := &Pool{}
			fake := fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
				sent.Add(1)
				if time.Since(begun) < x.asks {
					return failed(synod.Reply{Calls: 1}, &Failure{Status: synod.RateLimited, RetryAfter: x.asks,
						Err: errors.New("slow down")})
				}
				return fine("42")
			}}
			one, other := pooled(p, fake, testLayers{}), pooled(p, fake, testLayers{limits: limits{concurrency: 3}})
			_, _ = one.Complete(t.Context(), Request{})
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					if _, err := other.Complete(t.Context(), Request{}); (err != nil) != x.fail {
						t.Errorf("%v", err)
					}
				})
			}
			wg.Wait()
			if sent.Load() != 1+x.sent || x.fail != (time.Since(begun) == 0) {
				t.Errorf("asked to wait %v: %d requests, the last after %v", x.asks, sent.Load(), time.Since(begun))
			}
		})
	}
}

// TestLongPauseFreesTheQueue: calls that wait for a slot fail when the server asks for a
// pause that is too long.
func TestLongPauseFreesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		m := limitedTo(limits{concurrency: 1})(fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
			time.Sleep(time.Second)
			return failed(synod.Reply{Calls: 1}, &Failure{Status: synod.RateLimited, RetryAfter: time.Hour,
				Err: errors.New("slow down")})
		}})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := m.Complete(t.Context(), Request{}); AsFailure(err).Status != synod.RateLimited {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begun); took != time.Second {
			t.Errorf("the last call failed after %v", took)
		}
	})
}
