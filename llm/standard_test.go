package llm

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/llmtest"
)

// TestStandardOrder puts all layers around a flaky server and checks what each
// saw.
func TestStandardOrder(t *testing.T) {
	m, s := stub(t, nil, llmtest.With(llmtest.Every(2, llmtest.Status(500))))
	dir := t.TempDir()
	w, err := NewRecorder(filepath.Join(dir, "trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Account: NewAccount(), Record: w, Cache: newTestCache(t, dir), Budget: NewBudget(7, 0)}
	stack := Standard(m, o)
	for i := range 4 { // 1, 2, 2 requests (the second and the fourth fail), and one from the cache
		r := ask(t, "?")
		r.Sample = min(i, 2)
		if reply, err := stack.Complete(t.Context(), r); err != nil || reply.Reused != (i == 3) {
			t.Errorf("call %d: %+v, %v", i, reply, err)
		}
	}
	if got := o.Account.Seat("a1"); got.Ended[synod.OK] != 4 || got.Requests != 5 || got.Reused != 1 || s.Count() != 5 || o.Budget.Spent().Calls != 5 {
		t.Errorf("%+v, %d came, %+v", got, s.Count(), o.Budget.Spent())
	}
	for i := range 2 { // 2 requests, then none is left
		r := ask(t, "?")
		r.Sample = 10 + i
		reply, err := stack.Complete(t.Context(), r)
		if (err == nil) != (i == 0) || err != nil && (AsFailure(err).Status != synod.Dropped || !strings.Contains(reply.Detail, "budget")) {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if total := o.Account.Total(); total.Ended[synod.Dropped] != 1 || len(o.Account.Seats()) != 1 {
		t.Errorf("%+v", total)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if c, ok := stack.(Closer); !ok || c.Close() != nil {
		t.Error("the stack hides Close")
	}
	if a, ok := stack.(Adapter); !ok || len(a.Adapted()) != 0 {
		t.Error("the stack hides Adapted")
	}
}

// weighing is a model that can weigh text.
type weighing struct{ fake }

func (weighing) CanWeigh() bool { return true }

func TestLayersHideNothing(t *testing.T) {
	plain := fake{Simulated, func(context.Context, Request) (synod.Reply, error) { return fine("") }}
	if w := Standard(plain, Options{Account: NewAccount()}).(Weigher); w.CanWeigh() {
		t.Error("weighs what cannot be weighed")
	}
	if w := Standard(weighing{plain}, Options{Account: NewAccount(), Budget: NewBudget(1, 1)}).(Weigher); !w.CanWeigh() {
		t.Error("the power to weigh is hidden")
	}
}

// TestStandardRetriesHoldNoSlot: a call that waits to be repeated leaves its
// place to others.
func TestStandardRetriesHoldNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		m := Standard(fake{Endpoint, func(_ context.Context, r Request) (synod.Reply, error) {
			if r.Sample == 0 && time.Since(begun) < time.Minute {
				return failed(synod.Reply{Calls: 1}, &Failure{Status: synod.RateLimited, Retryable: true, RetryAfter: time.Minute, Err: errDeadline})
			}
			return fine("")
		}}, Options{Limit: LimitConfig{Concurrency: 1}})
		go func() { _, _ = m.Complete(t.Context(), Request{}) }()
		synctest.Wait()
		if _, err := m.Complete(t.Context(), Request{Sample: 1}); err != nil || time.Since(begun) != 0 {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		time.Sleep(2 * time.Minute)
	})
}
