package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm/prompt"
)

// TestBudgetHolds checks RU-3 as a property: for any concurrent calls, however they
// end and are retried, no more requests leave and no more tokens are spent than
// allowed, all reservations are returned, and the budget reports what was spent.
func TestBudgetHolds(t *testing.T) {
	templates := testTemplates(t)
	rapid.Check(t, func(rt *rapid.T) {
		calls := rapid.IntRange(0, 40).Draw(rt, "calls")
		tokens := rapid.IntRange(0, 60).Draw(rt, "hundreds of tokens") * 100
		maxTokens := rapid.IntRange(1, 300).Draw(rt, "max tokens")
		seed := rapid.Uint64().Draw(rt, "seed")
		callers := rapid.IntRange(1, 30).Draw(rt, "callers")
		synctest.Test(t, func(t *testing.T) {
			var sent, used atomic.Int64
			m := &meter{templates: templates, seed: seed, maxTokens: maxTokens, sent: &sent, used: &used}
			b := NewBudget(calls, tokens)
			layers := stack(m, retry(retryConfig{}), limitedTo(limits{concurrency: 5}),
				spend(Opened{MaxTokens: maxTokens}))
			var dropped atomic.Int64
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					if _, err := layers.Complete(context.Background(), spending(templates, i, b)); err != nil &&
						AsFailure(err).Status == synod.Dropped {
						dropped.Add(1)
					}
				})
			}
			wg.Wait()
			got := b.Spent()
			if calls > 0 && sent.Load() > int64(calls) || tokens > 0 && used.Load() > int64(tokens) {
				rt.Errorf("%d of %d calls, %d of %d tokens", sent.Load(), calls, used.Load(), tokens)
			}
			if int64(got.Calls) != sent.Load() || int64(got.Tokens) < used.Load() || b.held != (Spent{}) {
				rt.Errorf("spent %+v, reserved %+v; sent %d, used %d", got, b.held, sent.Load(), used.Load())
			}
			if b.Exhausted() != (dropped.Load() > 0) {
				rt.Errorf("exhausted %v, %d dropped", b.Exhausted(), dropped.Load())
			}
		})
	})
}

func spending(templates *prompt.Templates, i int, b *Budget) Request {
	return Request{Budget: b, Templates: templates, Sample: i,
		Prompt: &synod.Prompt{Template: "test/ask", Purpose: synod.Answering,
			Question: &synod.Question{Text: strings.Repeat("x", i*7%200), Form: synod.Number}}}
}

// meter spends a random amount within what a server may, and sometimes sends a
// second request within a call, fails, or times out.
type meter struct {
	templates  *prompt.Templates
	seed       uint64
	maxTokens  int
	sent, used *atomic.Int64
}

func (m *meter) Info() Info { return Info{Kind: Endpoint} }

func (m *meter) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	chance := rand.New(rand.NewPCG(m.seed, uint64(r.Sample)<<32|uint64(m.sent.Add(1))))
	spent := synod.Reply{Calls: 1}
	time.Sleep(time.Duration(chance.IntN(1000)) * time.Millisecond)
	if chance.IntN(3) == 0 {
		if err := r.Extra(); err != nil {
			return failed(spent, AsFailure(err))
		}
		m.sent.Add(1)
		spent.Calls++
	}
	switch chance.IntN(4) {
	case 0:
		return failed(spent, &Failure{Status: synod.Unavailable, Retryable: true, Err: errors.New("down")})
	case 1:
		return failed(spent, &Failure{Status: synod.Timeout, Err: errors.New("slow")})
	}
	chat, err := r.Chat()
	if err != nil {
		return failed(spent, AsFailure(err))
	}
	spent.Status = synod.OK
	spent.Usage = synod.Usage{Prompt: 1 + chance.IntN(len(chat.System)+len(chat.User)), Completion: 1 +
		chance.IntN(m.maxTokens)}
	m.used.Add(int64(spent.Usage.Prompt + spent.Usage.Completion))
	return spent, nil
}

// TestBudgetUsesItsTail: what a call reserves beyond what it costs is returned, so
// concurrent calls get as far as calls in sequence.
func TestBudgetUsesItsTail(t *testing.T) {
	r := ask(t, "?")
	hold := promptTokens(r) + 1000
	m := fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
		time.Sleep(time.Millisecond)
		return synod.Reply{Status: synod.OK, Calls: 1, Usage: synod.Usage{Prompt: 5, Completion: 5}}, nil
	}}
	b := NewBudget(0, hold+90) // ten calls of 10, the last of which must still hold its bound
	layered := spend(Opened{MaxTokens: 1000})(m)
	r.Budget = b
	var fine atomic.Int64
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := layered.Complete(t.Context(), r); err == nil {
				fine.Add(1)
			}
		})
	}
	wg.Wait()
	if fine.Load() != 10 || b.Spent() != (Spent{Calls: 10, Tokens: 100}) || !b.Exhausted() {
		t.Errorf("%d calls went through, %+v", fine.Load(), b.Spent())
	}
}

// TestBudgetCountsFallbacks: a request that a server refuses counts.
func TestBudgetCountsFallbacks(t *testing.T) {
	m, s := stub(t, nil, llmtest.With(llmtest.RefuseFormat("json_schema", "json_object")))
	b := NewBudget(2, 0)
	r := ask(t, "?")
	r.Budget = b
	reply, err := spend(Opened{})(m).Complete(t.Context(), r)
	if AsFailure(err).Status != synod.Dropped || reply.Calls != 2 || s.Count() != 2 || b.Spent().Calls != 2 {
		t.Errorf("%+v, %v; %d came, %+v", reply, err, s.Count(), b.Spent())
	}
}

// TestBudgetWithoutUsage charges bytes if a server does not report usage.
func TestBudgetWithoutUsage(t *testing.T) {
	r := ask(t, "?")
	m := fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
		return synod.Reply{Status: synod.OK, Calls: 1, Text: "0123456789"}, nil
	}}
	b := NewBudget(0, 1<<20)
	r.Budget = b
	_, err := spend(Opened{MaxTokens: 100})(m).Complete(t.Context(), r)
	if err != nil || b.Spent().Tokens != promptTokens(r)+10 {
		t.Errorf("%+v, %v", b.Spent(), err)
	}
}

// Requests for which no connection was made are no calls, and cost nothing; those that a server had are calls. Both
// count as failures of the server.
func TestOnlyRequestsThatLeaveAreCalls(t *testing.T) {
	dial := func(d func(context.Context) (net.Conn, error)) http.RoundTripper {
		return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d(ctx) }}
	}
	cut := func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Read(make([]byte, 1))
			_ = theirs.Close()
		}()
		return ours, nil
	}
	for name, c := range map[string]struct {
		dial  func(context.Context) (net.Conn, error)
		calls int
	}{
		"refused": {func(context.Context) (net.Conn, error) { return nil, syscall.ECONNREFUSED }, 0},
		"no connection in time": {func(context.Context) (net.Conn, error) {
			time.Sleep(5 * time.Minute)
			return nil, syscall.ETIMEDOUT
		}, 0},
		"cut off": {cut, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(10 * time.Minute) // for connections that nobody waits for
				bare, err := NewOpenAI(OpenAIConfig{URL: "http://127.0.0.1:9/v1", Model: "stub", Timeout: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				bare.transport = dial(c.dial)
				b := NewBudget(3, 0)
				breaks := newBreaker(breakerConfig{failures: 1})
				m := stack(bare, breaks.layer(), retry(retryConfig{attempts: 3}), spend(Opened{MaxTokens: 50}))
				r := ask(t, "6 x 7?")
				r.Budget = b
				reply, err := m.Complete(t.Context(), r)
				if f := AsFailure(err); f == nil || f.Status != synod.Unavailable && f.Status != synod.Timeout {
					t.Fatalf("reply %+v, error %v", reply, err)
				}
				if reply.Calls != c.calls || b.Spent().Calls != c.calls || c.calls == 0 && b.Spent().Tokens != 0 {
					t.Errorf("%d calls in the reply, %+v in the budget; want %d", reply.Calls, b.Spent(), c.calls)
				}
				if breaks.refusal() == nil {
					t.Error("the breaker is closed")
				}
			})
		})
	}
}
