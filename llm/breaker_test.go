package llm

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
)

// patient is a model whose status a test sets. It counts the calls that reach it.
type patient struct {
	status synod.Status
	takes  time.Duration
	calls  int
}

func (p *patient) Info() Info { return Info{Kind: Endpoint} }

func (p *patient) Complete(ctx context.Context, _ Request) (synod.Reply, error) {
	p.calls++
	if !sleep(ctx, p.takes) {
		return failed(synod.Reply{Calls: 1}, ended(ctx, "waiting"))
	}
	if p.status == synod.OK {
		return fine("42")
	}
	return failing(p.status, false)
}

// expect makes calls in sequence and compares how each ended: lower case if it
// reached the model, upper case if it was refused. o ok, u
// unavailable, r rate-limited, a auth, g unreadable.
func (p *patient) expect(t *testing.T, m Model, want string) {
	t.Helper()
	letters := map[synod.Status]string{synod.OK: "o", synod.Unavailable: "u", synod.RateLimited: "r", synod.Auth: "a",
		synod.Unreadable: "g"}
	got := ""
	for range want {
		before := p.calls
		reply, err := m.Complete(context.Background(), Request{})
		letter := letters[reply.Status]
		if p.calls == before {
			letter = strings.ToUpper(letter)
			if err == nil || !strings.Contains(err.Error(), "as asked") {
				t.Errorf("refused without the last reason: %v", err)
			}
		}
		got += letter
	}
	if got != want {
		t.Errorf("calls ended %s, want %s", got, want)
	}
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{status: synod.Unavailable}
		m := newBreaker(breakerConfig{failures: 3, coolDown: time.Minute}).layer()(p)
		p.expect(t, m, "uuuUU")
		time.Sleep(61 * time.Second)
		p.expect(t, m, "uUU") // the probe failed: twice as long
		time.Sleep(61 * time.Second)
		p.expect(t, m, "U")
		time.Sleep(61 * time.Second)
		p.status = synod.OK
		p.expect(t, m, "ooo")
		p.status = synod.Unavailable
		p.expect(t, m, "uu")
		p.status = synod.Unreadable // it lives
		p.expect(t, m, "g")
		p.status = synod.Unavailable
		p.expect(t, m, "uu")
		p.status = synod.RateLimited // does not count
		p.expect(t, m, "rrrr")
		p.status = synod.Unavailable
		p.expect(t, m, "uU")
	})
}

// TestBreakerAuth: a rejected key opens the breaker at once, and not for good.
func TestBreakerAuth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{status: synod.Auth}
		m := newBreaker(breakerConfig{coolDown: time.Minute}).layer()(p)
		p.expect(t, m, "aAA")
		time.Sleep(61 * time.Second)
		p.expect(t, m, "aA")
		p.status = synod.OK
		time.Sleep(2 * time.Minute)
		p.expect(t, m, "oo")
	})
}

// TestBreakerAlwaysHalfOpens: a test call that panics or never returns does not
// keep the breaker open forever.
func TestBreakerAlwaysHalfOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{status: synod.Unavailable}
		b := newBreaker(breakerConfig{failures: 1, coolDown: time.Minute})
		m := b.layer()(p)
		p.expect(t, m, "uU")
		time.Sleep(61 * time.Second)
		func() {
			defer func() { _ = recover() }()
			_, _ = b.layer()(fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
				panic("a bug")
			}}).Complete(t.Context(), Request{})
		}()
		p.expect(t, m, "uU") // the panic does not count, so this call was the test
		time.Sleep(121 * time.Second)
		p.takes = 24 * time.Hour
		go func() { _, _ = m.Complete(t.Context(), Request{}) }() // hangs
		synctest.Wait()
		p.takes = 0
		p.expect(t, m, "U")
		time.Sleep(121 * time.Second)
		p.status = synod.OK
		p.expect(t, m, "oo")
		time.Sleep(24 * time.Hour)
	})
}

// TestBreakerHangingMember: thirteen stages of seven calls to a model that hangs for
// a minute take two minutes, not thirteen, also with a concurrency limit of 1.
func TestBreakerHangingMember(t *testing.T) {
	for _, x := range []struct {
		slots int
		most  time.Duration
	}{{0, 2 * time.Minute}, {1, 3 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			p := fake{Endpoint, func(ctx context.Context, _ Request) (synod.Reply, error) {
				if !sleep(ctx, time.Minute) {
					return failed(synod.Reply{Calls: 1}, ended(ctx, "waiting"))
				}
				return failing(synod.Timeout, false)
			}}
			m := standard(p, testLayers{limits: limits{concurrency: x.slots},
				breaker: breakerConfig{coolDown: time.Hour}})
			begun := time.Now()
			for stage := range 13 {
				var wg sync.WaitGroup
				for range min(1+6*stage, 7) {
					wg.Go(func() { _, _ = m.Complete(t.Context(), Request{}) })
				}
				wg.Wait()
			}
			if took := time.Since(begun); took > x.most {
				t.Errorf("slots %d: %v", x.slots, took)
			}
		})
	}
}

// TestBreakerOneProbe: of many concurrent calls after the cool-down one is sent, and
// if it is stopped the next call is a test again.
func TestBreakerOneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{status: synod.Unavailable}
		m := standard(p, testLayers{attempts: 1, breaker: breakerConfig{failures: 1, coolDown: time.Minute}})
		p.expect(t, m, "uU")
		time.Sleep(2 * time.Minute)
		p.takes, p.calls = time.Second, 0
		stopped, cancel := context.WithCancel(t.Context())
		go func() { _, _ = m.Complete(stopped, Request{}) }()
		synctest.Wait()
		for range 5 {
			_, _ = m.Complete(t.Context(), Request{})
		}
		cancel()
		synctest.Wait()
		if p.calls != 1 {
			t.Errorf("%d probes", p.calls)
		}
		p.status = synod.OK
		p.expect(t, m, "oo")
	})
}

// TestBreakerLateFailures: calls that were under way when the breaker opened
// do not keep it open longer.
func TestBreakerLateFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{status: synod.Unavailable, takes: 50 * time.Second}
		m := newBreaker(breakerConfig{failures: 1, coolDown: time.Minute}).layer()(p)
		go func() { _, _ = m.Complete(t.Context(), Request{}) }()
		synctest.Wait()
		p.takes = 0
		p.expect(t, m, "uU") // open until 1m0s
		time.Sleep(55 * time.Second)
		p.expect(t, m, "U")
		time.Sleep(6 * time.Second)
		p.takes = time.Second
		p.expect(t, m, "uU")
	})
}

// TestBreakerCallersOutOfTime: calls that are stopped by the deadline of their run do
// not open the breaker.
func TestBreakerCallersOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{status: synod.OK, takes: time.Minute}
		m := newBreaker(breakerConfig{}).layer()(p)
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := m.Complete(ctx, Request{})
			cancel()
			if AsFailure(err).Status != synod.Timeout {
				t.Fatal(err)
			}
		}
		p.expect(t, m, "o")
	})
}
