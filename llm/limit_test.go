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

// TestLimit: with a limit of three, ten calls of a second each take four seconds and
// start in the order in which they were made.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []int
		now, most := 0, 0
		m := limitedTo(limits{concurrency: 3})(fake{Endpoint, func(_ context.Context, r Request) (synod.Reply, error) {
			mu.Lock()
			now++
			most = max(most, now)
			order = append(order, r.Sample)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return fine("")
		}})
		begun := time.Now()
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() { _, _ = m.Complete(t.Context(), Request{Sample: i}) })
			synctest.Wait()
		}
		wg.Wait()
		for i, got := range order {
			if got/3 != i/3 { // those let in at the same moment may note themselves in any order
				t.Fatalf("order %v", order)
			}
		}
		if most != 3 || time.Since(begun) != 4*time.Second {
			t.Errorf("%d at once, %v", most, time.Since(begun))
		}
	})
}

func TestLimitRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limitedTo(limits{perMinute: 30})(fake{Endpoint,
			func(context.Context, Request) (synod.Reply, error) { return fine("") }})
		begun := time.Now()
		for range 6 {
			if _, err := m.Complete(t.Context(), Request{}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun).Round(time.Millisecond); took != 10*time.Second {
			t.Errorf("six calls at 30 a minute took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		reply, err := m.Complete(ctx, Request{})
		if AsFailure(err).Status != synod.Timeout || reply.Calls != 0 || !strings.Contains(reply.Detail, "rate limit") {
			t.Errorf("%+v, %v", reply, err)
		}
	})
}

func TestLimitWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limitedTo(limits{concurrency: 1})(fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
			time.Sleep(time.Hour)
			return fine("")
		}})
		go func() { _, _ = m.Complete(t.Context(), Request{}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		reply, err := m.Complete(ctx, Request{})
		if AsFailure(err).Status != synod.Timeout || !strings.Contains(reply.Detail, "free slot") {
			t.Errorf("%+v, %v", reply, err)
		}
		time.Sleep(2 * time.Hour)
	})
}

// One caller's queue of requests that hang keeps no other waiting: a slot that becomes free goes to the caller with the
// fewest requests.
func TestLimitIsSharedByCallers(t *testing.T) {
	for name, x := range map[string]struct {
		limits limits
		lasts  time.Duration // a call
		most   time.Duration // that the honest caller's three calls may take
	}{
		"concurrency": {limits{concurrency: 2}, 10 * time.Second, time.Minute},
		"rate":        {limits{perMinute: 6}, 0, 70 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := limitedTo(x.limits)(fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
					time.Sleep(x.lasts)
					return fine("")
				}})
				ctx, cancel := context.WithCancel(t.Context())
				var greedy sync.WaitGroup
				for range 50 {
					greedy.Go(func() { _, _ = m.Complete(WithCaller(ctx, "greedy"), Request{}) })
				}
				synctest.Wait()
				begun := time.Now()
				for range 3 {
					if _, err := m.Complete(WithCaller(t.Context(), "honest"), Request{}); err != nil {
						t.Fatal(err)
					}
				}
				if took := time.Since(begun); took > x.most {
					t.Errorf("three calls of another caller took %v", took)
				}
				cancel()
				greedy.Wait()
				l := m.(*limited).l
				if len(l.shares) > 0 || len(l.waiting) > 0 {
					t.Errorf("%d callers are remembered, %d turns wait", len(l.shares), len(l.waiting))
				}
			})
		})
	}
}
