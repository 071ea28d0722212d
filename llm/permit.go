package llm

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"synod.dev/synod"
)

// permit is the layer that takes a permit for each request. It is above spend, so that no request is announced that
// still waits for a permit.
func permit(from Permits, w Wanted, o Opened, prices Prices) layer {
	return func(m Model) Model { return &permitted{layered{m}, from, w, o, prices} }
}

type permitted struct {
	layered
	from   Permits
	wanted Wanted
	opened Opened
	prices Prices
}

func (l *permitted) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	r = r.rendering()
	price, _ := l.prices.Of(l.Info())
	w, most := l.wanted, l.opened.most(r)
	w.Most = Spent{Calls: 1, Tokens: most.Total(), USD: price.of(most)}
	held, err := l.from.Acquire(ctx, w)
	if err != nil {
		return failed(synod.Reply{}, permitFailure(ctx, err))
	}
	calls := 1
	r.extra = func() *Failure { // the request before was refused, and cost no tokens
		held.Release(Spent{Calls: 1}, 0)
		next, err := l.from.Acquire(ctx, w)
		if err != nil {
			held = nil
			return permitFailure(ctx, err)
		}
		held = next
		calls++
		return nil
	}
	reply, err := l.Model.Complete(ctx, r)
	if held == nil {
		return reply, err
	}
	var pause time.Duration
	if err != nil {
		pause = AsFailure(err).RetryAfter
	}
	spent := reply.Spent()
	held.Release(Spent{Calls: max(sent(&reply, err)-calls+1, 0), Tokens: spent.Total(), USD: price.of(spent)}, pause)
	return reply, err
}

// permitFailure returns the failure of a call that got no permit.
func permitFailure(ctx context.Context, err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if ctx.Err() != nil {
		return ended(ctx, "waiting for a permit")
	}
	return failure(synod.Dropped, "no permit: %w", err)
}

// Accounts grants permits within the limits of accounts and one budget. It is the Permits of a hub. Where requests come
// with different limits for one account, the lowest counts.
//
// Requests are spaced evenly and a tenth slower than the limit of an account, because they leave on other machines, a
// little later than they were granted: up to a tenth of a second of difference does not exceed the limit.
type Accounts struct {
	budget *Budget

	mu     sync.Mutex
	models map[modelKey]*account
}

type account struct {
	limiter limiter
	limits  limits
}

// NewAccounts returns accounts that spend from a budget.
func NewAccounts(b *Budget) *Accounts { return &Accounts{budget: b, models: map[modelKey]*account{}} }

// ErrNoBudget is returned by Accounts for a request that does not fit into the budget; nor does any later one.
var ErrNoBudget = errors.New("the budget is used")

// Acquire waits for the budget, then for the limits of the account.
func (a *Accounts) Acquire(ctx context.Context, w Wanted) (Permit, error) {
	if f := a.budget.reserve(ctx, w.Most, false); f != nil {
		if errors.Is(f, errBudget) {
			return nil, ErrNoBudget
		}
		return nil, f
	}
	of := a.account(w)
	if f := of.limiter.acquire(WithCaller(ctx, ""), false, time.Hour); f != nil {
		a.budget.settle(w.Most, Spent{})
		return nil, f
	}
	return &granted{budget: a.budget, limiter: &of.limiter, most: w.Most}, nil
}

// Restore returns a permit that was granted before this process began and was not released.
func (a *Accounts) Restore(w Wanted) Permit {
	of := a.account(w)
	a.budget.hold(w.Most)
	of.limiter.mu.Lock()
	defer of.limiter.mu.Unlock()
	of.limiter.start("")
	return &granted{budget: a.budget, limiter: &of.limiter, most: w.Most}
}

// account returns the account of a request, with the lowest limits that were wanted so far.
func (a *Accounts) account(w Wanted) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := modelKey{w.Provider, w.Account, w.Model}
	of := a.models[key]
	if of == nil {
		of = &account{limiter: limiter{even: true}}
		a.models[key] = of
		of.limiter.join(&of.limits)
	}
	of.limiter.lower(&of.limits, limits{w.Concurrency, w.PerMinute})
	return of
}

// AccountState describes an account, for people.
type AccountState struct {
	Provider    string `json:"provider"`
	Account     string `json:"account"`
	Model       string `json:"model"`
	Concurrency int    `json:"concurrency,omitempty"`
	PerMinute   int    `json:"per_minute,omitempty"`
	Running     int    `json:"running"`
	Waiting     int    `json:"waiting"`
}

// States describes the accounts, in no order.
func (a *Accounts) States() (all []AccountState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, of := range a.models {
		l := &of.limiter
		l.mu.Lock()
		all = append(all, AccountState{key.provider, key.account, key.model, l.now.concurrency, l.now.perMinute,
			l.running, len(l.waiting)})
		l.mu.Unlock()
	}
	return all
}

// granted is a permit of Accounts.
type granted struct {
	budget  *Budget
	limiter *limiter
	most    Spent
	once    sync.Once
}

// Release ends the request. Later calls do nothing.
func (g *granted) Release(spent Spent, pause time.Duration) {
	g.once.Do(func() {
		if pause > 0 {
			g.limiter.pause(min(pause, time.Hour))
		}
		g.limiter.release("")
		g.budget.settle(g.most, spent)
	})
}

// lower lowers the limits of a user.
func (l *limiter) lower(x *limits, to limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lowest := func(a, b int) int { return min(cmp.Or(a, b), cmp.Or(b, a)) }
	next := limits{lowest(x.concurrency, to.concurrency), lowest(x.perMinute, to.perMinute)}
	if next != *x {
		*x = next
		l.lowest()
	}
}
