package llm

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
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
	layers := standard(m, testLayers{record: w, cache: dir})
	budget := NewBudget(7, 0)
	ctx := t.Context()
	for i := range 4 { // 1, 2, 2 requests (the second and the fourth fail), and one from the cache
		r := ask(t, "?")
		r.Budget = budget
		r.Sample = min(i, 2)
		if reply, err := layers.Complete(ctx, r); err != nil || reply.Reused != (i == 3) {
			t.Errorf("call %d: %+v, %v", i, reply, err)
		}
	}
	if s.Count() != 5 || budget.Spent().Calls != 5 {
		t.Errorf("%d came, %+v", s.Count(), budget.Spent())
	}
	for i := range 2 { // 2 requests, then none is left
		r := ask(t, "?")
		r.Budget = budget
		r.Sample = 10 + i
		reply, err := layers.Complete(ctx, r)
		if (err == nil) != (i == 0) || err != nil &&
			(AsFailure(err).Status != synod.Dropped || !strings.Contains(reply.Detail, "a limit on calls")) {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if c, ok := layers.(Closer); !ok || c.Close() != nil {
		t.Error("the stack hides Close")
	}
	if a, ok := layers.(Adapter); !ok || len(a.Adapted()) != 0 {
		t.Error("the stack hides Adapted")
	}
}

// weighing is a model that can weigh text.
type weighing struct{ fake }

func (weighing) CanWeigh() bool { return true }

func TestLayersHideNothing(t *testing.T) {
	plain := fake{Simulated, func(context.Context, Request) (synod.Reply, error) { return fine("") }}
	if w := standard(plain, testLayers{}).(Weigher); w.CanWeigh() {
		t.Error("weighs what cannot be weighed")
	}
	if w := standard(weighing{plain}, testLayers{}).(Weigher); !w.CanWeigh() {
		t.Error("the power to weigh is hidden")
	}
}

// TestStandardRetriesHoldNoSlot: a call that waits to be repeated leaves its
// place to others.
func TestStandardRetriesHoldNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		m := standard(fake{Endpoint, func(_ context.Context, r Request) (synod.Reply, error) {
			if r.Sample == 0 && time.Since(begun) == 0 {
				return failing(synod.RateLimited, true)
			}
			return fine("")
		}}, testLayers{limits: limits{concurrency: 1}})
		go func() { _, _ = m.Complete(t.Context(), Request{}) }()
		synctest.Wait()
		if _, err := m.Complete(t.Context(), Request{Sample: 1}); err != nil || time.Since(begun) != 0 {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		time.Sleep(2 * time.Minute)
	})
}

// TestNoBudgetCostsNothing: without a budget a call to a simulated model allocates
// nothing in the layers, and with one its prompt is not rendered.
func TestNoBudgetCostsNothing(t *testing.T) {
	bare := fake{Simulated, func(_ context.Context, r Request) (synod.Reply, error) {
		if r.chat != nil {
			t.Error("rendered")
		}
		return synod.Reply{Status: synod.OK, Typed: true, Answer: "42"}, nil
	}}
	m, ctx, r := standard(bare, testLayers{}), t.Context(), ask(t, "?")
	if n := testing.AllocsPerRun(100, func() { _, _ = m.Complete(ctx, r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	simulated, err := newSimulated(NewSimulatedConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = simulated.Complete(ctx, r) }); n != 0 {
		t.Errorf("%v allocations of a simulated reply", n)
	}
	b := NewBudget(2, 1)
	for i := range 3 {
		r.Budget = b
		if _, err := m.Complete(ctx, r); (err != nil) != (i == 2) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if b.Spent() != (Spent{Calls: 2}) || !b.Exhausted() {
		t.Errorf("%+v", b.Spent())
	}
}
