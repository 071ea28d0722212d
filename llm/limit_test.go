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
