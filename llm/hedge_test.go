package llm

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

func TestHedgeText(t *testing.T) {
	for text, want := range map[string]Hedge{"": 0, "p95": 95, "p50": 50, "p99": 99} {
		var h Hedge
		if err := h.UnmarshalText([]byte(text)); err != nil || h != want || h.String() != text {
			t.Errorf("%q: %v, %v", text, h, err)
		}
	}
	for _, text := range []string{"95", "p100", "p49", "p", "off", "p9x"} {
		if err := new(Hedge).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "p95") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPercentile(t *testing.T) {
	var l latencies
	for i := range minLatencies {
		if _, known := l.percentile(95); known {
			t.Fatalf("a percentile of %d latencies", i)
		}
		l.observe(time.Duration(minLatencies-i) * time.Millisecond)
	}
	if d, known := l.percentile(95); !known || d != 19*time.Millisecond {
		t.Errorf("%v, %v", d, known)
	}
	for range maxLatencies { // the old ones are forgotten
		l.observe(time.Second)
	}
	if d, _ := l.percentile(50); d != time.Second || len(l.last) != maxLatencies {
		t.Errorf("%v of %d", d, len(l.last))
	}
}

// slowAt answers after a tenth of a second, and calls with that sample for the
// first time after ten minutes.
type slowAt struct {
	sample int
	mu     sync.Mutex
	calls  map[int]int
	ended  []error // of requests whose context ended
}

func (m *slowAt) Info() Info { return Info{Kind: Endpoint, Identity: "slow"} }

func (m *slowAt) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	m.mu.Lock()
	if m.calls == nil {
		m.calls = map[int]int{}
	}
	m.calls[r.Sample]++
	takes := 100 * time.Millisecond
	if r.Sample == m.sample && m.calls[r.Sample] == 1 {
		takes = 10 * time.Minute
	}
	m.mu.Unlock()
	if !sleep(ctx, takes) {
		m.mu.Lock()
		m.ended = append(m.ended, context.Cause(ctx))
		m.mu.Unlock()
		return synod.Reply{Calls: 1}, ctx.Err()
	}
	return fine("42")
}

// warm makes as many calls as a percentile needs.
func warm(t *testing.T, m Model) {
	t.Helper()
	for i := range minLatencies {
		if reply, err := m.Complete(t.Context(), Request{Sample: 1000 + i}); err != nil || reply.Calls != 1 {
			t.Fatalf("call %d: %+v, %v", i, reply, err)
		}
	}
}

// TestHedge: a call slower than the percentile is sent again, the first reply
// wins, the other request is cancelled, and both are in calls and tokens.
func TestHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowAt{sample: 7}
		m := standard(slow, testLayers{hedge: 95})
		early := &slowAt{sample: 7}
		cold := standard(early, testLayers{hedge: 95})
		begun := time.Now()
		if reply, err := cold.Complete(t.Context(), Request{Sample: 7}); err != nil || reply.Calls != 1 ||
			time.Since(begun) != 10*time.Minute {
			t.Errorf("hedged without observations: %+v, %v", reply, err)
		}
		warm(t, m)
		begun = time.Now()
		reply, err := m.Complete(t.Context(), Request{Sample: 7})
		if err != nil || reply.Text != "42" || reply.Calls != 2 ||
			reply.Usage != (synod.Usage{Prompt: 6, Completion: 4}) {
			t.Errorf("%+v, %v", reply, err)
		}
		if took := time.Since(begun); took.Round(time.Millisecond) != 200*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if len(slow.ended) != 1 || slow.ended[0] != errOutrun || slow.calls[7] != 2 {
			t.Errorf("%v, %v", slow.ended, slow.calls)
		}
		if reply, err := m.Complete(t.Context(), Request{Sample: 8}); err != nil || reply.Calls != 1 {
			t.Errorf("a call that is not slow: %+v, %v", reply, err)
		}
	})
}

// TestHedgeFirstWins: where the first request is answered while the second is
// under way, the second is cancelled and counted.
func TestHedgeFirstWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		m := standard(fake{Endpoint, func(ctx context.Context, r Request) (synod.Reply, error) {
			takes := 100 * time.Millisecond
			if r.Sample == 7 {
				takes = []time.Duration{150 * time.Millisecond, time.Hour}[calls.Add(1)-1]
			}
			if !sleep(ctx, takes) {
				return failed(synod.Reply{Calls: 1}, ended(ctx, "waiting"))
			}
			return fine("42")
		}}, testLayers{hedge: 95})
		warm(t, m)
		begun := time.Now()
		reply, err := m.Complete(t.Context(), Request{Sample: 7})
		if err != nil || reply.Calls != 2 || reply.Usage.Prompt != 6 || time.Since(begun) != 150*time.Millisecond {
			t.Errorf("%+v, %v after %v", reply, err, time.Since(begun))
		}
	})
}

// TestHedgeFailures: a failure of one request leaves the other, and two failures
// are the first one's.
func TestHedgeFailures(t *testing.T) {
	for name, x := range map[string]struct {
		first, second synod.Status
		want          string
	}{
		"the second fails": {synod.OK, synod.Unavailable, ""},
		"the first fails":  {synod.Unavailable, synod.OK, ""},
		"both fail":        {synod.Unreadable, synod.Unavailable, "unreadable"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int32
			m := standard(fake{Endpoint, func(ctx context.Context, r Request) (synod.Reply, error) {
				if r.Sample != 7 {
					time.Sleep(100 * time.Millisecond)
					return fine("42")
				}
				status := x.second
				if calls.Add(1) == 1 {
					time.Sleep(time.Second)
					status = x.first
				} else {
					time.Sleep(2 * time.Second)
				}
				if status == synod.OK && ctx.Err() == nil {
					return fine("42")
				}
				return failing(status, false)
			}}, testLayers{hedge: 95, attempts: 1})
			warm(t, m)
			reply, err := m.Complete(t.Context(), Request{Sample: 7})
			if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) ||
				reply.Calls != 2 {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
		})
	}
}

// TestHedgeRespectsLimits: a second request needs a slot, room in the budget and
// a closed breaker. A budget without room for it is not exhausted by it.
func TestHedgeRespectsLimits(t *testing.T) {
	for name, x := range map[string]struct {
		layers testLayers
		budget *Budget
		during func(Model)
		calls  int
	}{
		"nothing":     {testLayers{}, nil, nil, 2},
		"concurrency": {testLayers{limits: limits{concurrency: 1}}, nil, nil, 1},
		"rate":        {testLayers{limits: limits{perMinute: 2}}, nil, nil, 1},
		"budget":      {testLayers{}, NewBudget(1, 0), nil, 1},
		"budget of 2": {testLayers{}, NewBudget(2, 0), nil, 2},
		"breaker": {testLayers{attempts: 1, breaker: breakerConfig{failures: 1, coolDown: time.Hour}}, nil,
			func(m Model) {
				_, _ = m.Complete(context.Background(), Request{Sample: -1})
			}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			slow := &slowAt{sample: 7}
			x.layers.hedge = 95
			m := standard(fake{Endpoint, func(ctx context.Context, r Request) (synod.Reply, error) {
				if r.Sample < 0 {
					return failing(synod.Unavailable, false)
				}
				return slow.Complete(ctx, r)
			}}, x.layers)
			warm(t, m)
			if x.during != nil {
				time.AfterFunc(time.Millisecond, func() { x.during(m) })
			}
			begun := time.Now()
			reply, err := m.Complete(t.Context(), Request{Sample: 7, Budget: x.budget})
			if err != nil || reply.Calls != x.calls || slow.calls[7] != x.calls {
				t.Errorf("%s: %+v, %v, %d requests after %v", name, reply, err, slow.calls[7], time.Since(begun))
			}
			if b := x.budget; b != nil && (b.Exhausted() || b.Spent().Calls != x.calls || b.held != (Spent{})) {
				t.Errorf("%s: %+v", name, b)
			}
		})
	}
}

// TestHedgeCost sends a slow call to a server twice. The server sees two
// requests and that the first is cancelled; a price table bills both; a budget
// charges the cancelled one all that it may have cost.
func TestHedgeCost(t *testing.T) {
	var left atomic.Bool
	slow := func(x *llmtest.Exchange) {
		if x.Call.N != minLatencies {
			x.OK()
			return
		}
		<-x.R.Context().Done()
		left.Store(true)
	}
	client, s := stub(t, nil, llmtest.With(slow))
	m := standard(client, testLayers{hedge: 95})
	r := ask(t, "6 x 7?")
	var one synod.Usage
	for range minLatencies {
		reply, err := m.Complete(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		one = reply.Usage
	}
	prices := Prices{{"*", "*", Price{Prompt: 1e6, Completion: 1e6}}}
	r.Budget = NewBudget(10, 1<<20).WithMoney(1e9, prices)
	reply, err := m.Complete(t.Context(), r)
	if err != nil || reply.Calls != 2 || reply.Usage.Prompt != 2*one.Prompt ||
		reply.Usage.Completion != 2*one.Completion || one.Prompt == 0 {
		t.Errorf("%+v, %v; one call is %+v", reply, err, one)
	}
	for begun := time.Now(); !left.Load(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("the slow request was not cancelled")
		}
	}
	if s.Count() != minLatencies+2 {
		t.Errorf("%d requests came", s.Count())
	}
	use := Use{Model: "m", Info: m.Info()}
	use.Add(&reply)
	if bill := prices.Bill([]Use{use}); bill.Cost() == nil ||
		math.Abs(bill.AtLeast-float64(2*(one.Prompt+one.Completion))) > 1e-6 {
		t.Errorf("billed %+v", bill)
	}
	held := promptTokens(r.rendering()) + assumedReply
	if got := r.Budget.Spent(); got.Calls != 2 || got.Tokens != one.Prompt+one.Completion+held {
		t.Errorf("the budget has %+v; one call is %+v and at most %d", got, one, held)
	}
}

// TestLate: a call that the council does not wait for ends at once as a timeout,
// is charged, and does not open the breaker.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := fake{Endpoint, func(ctx context.Context, r Request) (synod.Reply, error) {
			if r.Sample == 1 {
				return fine("42")
			}
			<-ctx.Done()
			return synod.Reply{Calls: 1}, ctx.Err() // a client that classifies nothing
		}}
		m := standard(slow, testLayers{hedge: 95, breaker: breakerConfig{failures: 1}})
		r := ask(t, "?")
		r.Budget = NewBudget(0, 1<<20)
		for range 3 {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(ErrLate) })
			reply, err := m.Complete(ctx, r)
			if f := AsFailure(err); f == nil || f.Status != synod.Timeout || f.Retryable || reply.Calls != 1 ||
				!strings.Contains(reply.Detail, "late: enough other members had replied") {
				t.Errorf("%+v, %v", reply, err)
			}
		}
		if got, held := r.Budget.Spent(), promptTokens(r.rendering())+assumedReply; got.Calls != 3 ||
			got.Tokens != 3*held {
			t.Errorf("%+v; a call is at most %d tokens", got, held)
		}
		r.Sample = 1
		if _, err := m.Complete(t.Context(), r); err != nil {
			t.Errorf("late calls opened the breaker: %v", err)
		}
	})
}

// TestLateWaiting: a late call that has not left costs nothing.
func TestLateWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := standard(fake{Endpoint, func(ctx context.Context, r Request) (synod.Reply, error) {
			time.Sleep(time.Minute)
			return fine("42")
		}}, testLayers{limits: limits{concurrency: 1}})
		go func() { _, _ = m.Complete(context.Background(), Request{}) }()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(fmt.Errorf("stage 3: %w", ErrLate))
		reply, err := m.Complete(ctx, Request{})
		if AsFailure(err).Status != synod.Timeout || reply.Calls != 0 || !strings.Contains(reply.Detail, "free slot") {
			t.Errorf("%+v, %v", reply, err)
		}
		time.Sleep(2 * time.Minute)
	})
}
