package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

// TestAccountsHold: three pools, as of three workers, that take permits of one account keep to its limits together,
// though each has the whole limits for itself; and all permits are returned.
func TestAccountsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, callsEach, perSecond, atOnce = 3, 40, 20, 7
		var mu sync.Mutex
		var came []time.Time
		running, most := 0, 0
		m := fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
			mu.Lock()
			came, running = append(came, time.Now()), running+1
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			mu.Lock()
			running--
			mu.Unlock()
			return fine("42")
		}}
		b := NewBudget(0, 0)
		accounts := NewAccounts(b)
		var wg sync.WaitGroup
		for range workers {
			w, err := new(Pool).wrap("test", Opened{Model: m, Account: "a",
				Common: Common{Concurrency: atOnce, PerMinute: 60 * perSecond}}, Options{Env: Env{Permits: accounts}})
			if err != nil {
				t.Fatal(err)
			}
			for range callsEach {
				wg.Go(func() {
					if _, err := w.Complete(t.Context(), ask(t, "?")); err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		if len(came) != workers*callsEach || most > atOnce {
			t.Errorf("%d calls, %d at once", len(came), most)
		}
		for i := perSecond; i < len(came); i++ {
			if d := came[i].Sub(came[i-perSecond]); d < time.Second {
				t.Errorf("%d calls within %v", perSecond+1, d)
			}
		}
		if got := b.Spent(); got.Calls != len(came) || got.Tokens != 5*len(came) || b.held != (Spent{}) {
			t.Errorf("spent %+v, held %+v", got, b.held)
		}
		if s := accounts.States(); len(s) != 1 || s[0].Running+s[0].Waiting > 0 || s[0].PerMinute != 60*perSecond {
			t.Errorf("%+v", s)
		}
	})
}

// TestAccountsBudget: calls of several pools together cost no more than the budget, whatever they report.
func TestAccountsBudget(t *testing.T) {
	prices := Prices{{"", "", Price{Prompt: 1000, Completion: 1000}}}
	const usd = 1.0
	b := NewBudget(0, 0).WithMoney(usd, nil)
	b.Add(Spent{Calls: 3, USD: 0.25})
	accounts := NewAccounts(b)
	m := fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
		return synod.Reply{Status: synod.OK, Calls: 1, Usage: synod.Usage{Prompt: 5, Completion: 45}}, nil
	}}
	var mu sync.Mutex
	cost, refused := 0.25, 0
	var wg sync.WaitGroup
	for range 3 {
		w, err := new(Pool).wrap("test", Opened{Model: m, Account: "a", MaxTokens: 50},
			Options{Env: Env{Permits: accounts, Prices: prices}})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			wg.Go(func() {
				_, err := w.Complete(t.Context(), ask(t, "?"))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					cost += 0.05
				case errors.Is(err, ErrNoBudget) && AsFailure(err).Status == synod.Dropped:
					refused++
				default:
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if got := b.Spent().USD; cost > usd || cost < usd/3 || refused == 0 || got < cost-1e-9 || got > cost+1e-9 {
		t.Errorf("calls for %.2f USD, the budget says %.2f, %d refused", cost, got, refused)
	}
}

// grants counts permits and what they were released with.
type grants struct {
	mu       sync.Mutex
	wanted   []Wanted
	released []Spent
	pauses   []time.Duration
	refuse   int // permits after so many are refused; 0: none
}

func (p *grants) Acquire(_ context.Context, w Wanted) (Permit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse > 0 && len(p.wanted) >= p.refuse {
		return nil, errors.New("no more")
	}
	p.wanted = append(p.wanted, w)
	return p, nil
}

func (p *grants) Release(s Spent, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released, p.pauses = append(p.released, s), append(p.pauses, pause)
}

// TestPermitOfEachRequest: a request that leaves has a permit, also one that the client repeats within a call because
// the server refused a parameter, and one that is retried after a pause. Without a permit nothing is sent.
func TestPermitOfEachRequest(t *testing.T) {
	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.For("picky", llmtest.RefuseParam("temperature", "top_p")),
		llmtest.For("busy", llmtest.First(1, llmtest.RateLimit("1"))))
	open := func(p Permits, model, more string) Model {
		t.Helper()
		m, err := new(Pool).Open("openai", yamlSettings("url: "+s.URL+"\nmodel: "+model+"\nper_minute: 600000\n"+more),
			Options{Env: Env{Permits: p}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeModel(t, m) })
		return m
	}
	picky := &grants{}
	if _, err := open(picky, "picky", "temperature: 0.5\ntop_p: 0.5\n").Complete(t.Context(), ask(t, "?")); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, s := range picky.released {
		calls += s.Calls
	}
	if n := s.CountOf("picky"); n < 2 || len(picky.wanted) != n || len(picky.released) != n || calls != n {
		t.Errorf("%d requests, %d permits, %d released for %d calls", n, len(picky.wanted), len(picky.released), calls)
	}
	if w := picky.wanted[0]; w.Model != "picky" || w.PerMinute != 600000 || w.Most.Calls != 1 || w.Most.Tokens < 1000 {
		t.Errorf("%+v", w)
	}
	busy := &grants{}
	if _, err := open(busy, "busy", "").Complete(t.Context(), ask(t, "?")); err != nil || len(busy.wanted) != 2 ||
		!slices.Contains(busy.pauses, time.Second) {
		t.Errorf("%v: %d permits, pauses %v", err, len(busy.wanted), busy.pauses)
	}
	refused := &grants{refuse: 1}
	one := open(refused, "picky", "temperature: 0.5\n")
	before := s.CountOf("picky")
	if _, err := one.Complete(t.Context(), ask(t, "?")); AsFailure(err).Status != synod.Dropped ||
		s.CountOf("picky") != before+1 || len(refused.released) != 1 {
		t.Errorf("%v after %d requests, %d released", err, s.CountOf("picky")-before, len(refused.released))
	}
}
