package llm

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
)

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{status: synod.OK, takes: time.Second}
		var pool Pool
		m, err := pool.wrap("openai", Opened{Model: p, Common: Common{Attempts: 1}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		call := func(status synod.Status) {
			p.status = status
			_, _ = m.Complete(context.Background(), Request{Prompt: &synod.Prompt{}, Templates: nil})
		}
		for range minLatencies {
			call(synod.OK)
		}
		worked := time.Now()
		for range 3 {
			call(synod.Unavailable)
		}
		call(synod.OK) // refused
		h, ok := HealthOf(m)
		if !ok || h.State != Open || h.Failed != 3 || !h.Worked.Equal(worked) || h.Since.IsZero() ||
			h.Median != time.Second || h.Slow != time.Second {
			t.Errorf("after three failures: %+v", h)
		}
		if len(h.Faults) != 3 || h.Faults[0].Reason != "as asked" || h.Faults[0].Status != synod.Unavailable ||
			!h.Faults[0].At.After(h.Faults[1].At) {
			t.Errorf("faults: %+v", h.Faults)
		}
		time.Sleep(31 * time.Second)
		if h, _ = HealthOf(m); h.State != HalfOpen {
			t.Errorf("after the cool-down: %+v", h)
		}
		call(synod.OK)
		for range 2 * mostFaults {
			call(synod.RateLimited)
		}
		h, _ = HealthOf(m)
		if h.State != Closed || h.Failed != 0 || !h.Until.IsZero() || len(h.Faults) != mostFaults ||
			h.Faults[0].Status != synod.RateLimited {
			t.Errorf("closed again: %+v", h)
		}
	})
}

func TestHealthOfRefusedKey(t *testing.T) {
	b := newBreaker(breakerConfig{})
	for range 3 {
		b.leave(false, false, &Failure{Status: synod.Auth, Err: fmt.Errorf("no key")})
	}
	if h := b.health(); h.State != Open || len(h.Faults) != 1 || h.Faults[0].Reason != "no key" {
		t.Errorf("calls that were refused afterwards are no failures of their own: %+v", h)
	}
	if _, ok := HealthOf(&patient{}); ok {
		t.Error("a model without a breaker has a health")
	}
}
