package llm

import (
	"context"
	"errors"
	"sync"

	"synod.dev/synod"
)

// Budget bounds what a question spends, in requests and in tokens; 0 is without
// bound. It is shared by all members: it travels in the context of their calls
// (WithBudget), and the layer Spend, around every model, holds them to it.
//
// What a request may cost is reserved before it leaves and settled when it comes
// back. A reservation is an upper bound: a token is at least one byte of UTF-8
// in every tokenizer that we know of, so a prompt has no more tokens than bytes
// (and a few for the roles), and a reply no more than its max_tokens. So the
// budget is not exceeded as long as servers keep to max_tokens and say truly
// what they used, and never by more than the calls in flight. Where a
// reservation does not fit but others are still open, the call waits for them:
// most of what they hold comes back.
//
// A call that does not fit is never sent (Dropped), and none after it.
type Budget struct {
	calls, tokens int
	usd           float64
	prices        Prices // with usd

	mu        sync.Mutex
	spent     Spent
	held      Spent
	exhausted bool
	short     Spent
	changed   chan struct{} // closed and renewed when something is settled
}

// Short is what the call that was refused would have made of the bounds that it
// exceeds; all zero until one was.
func (b *Budget) Short() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.short
}

// exhaust refuses w and all that follows.
func (b *Budget) exhaust(w Spent) *Failure {
	if !b.exhausted {
		b.exhausted = true
		if n := b.spent.Calls + b.held.Calls + w.Calls; b.calls > 0 && n > b.calls {
			b.short.Calls = n
		}
		if n := b.spent.Tokens + w.Tokens; b.tokens > 0 && n > b.tokens {
			b.short.Tokens = n
		}
		if x := b.spent.USD + w.USD; b.usd > 0 && x > b.usd {
			b.short.USD = x
		}
	}
	return &Failure{Status: synod.Dropped, Err: errBudget}
}

// Spent counts requests that left and the tokens of prompts and replies.
type Spent struct {
	Calls  int     `json:"calls"`
	Tokens int     `json:"tokens"`
	USD    float64 `json:"usd"` // only where money is bounded
}

// NewBudget allows so many requests and tokens; 0 is without bound.
func NewBudget(calls, tokens int) *Budget {
	return &Budget{calls: calls, tokens: tokens, changed: make(chan struct{})}
}

// WithMoney bounds what is spent in USD by a price table; 0 is without bound. A
// model whose price is not known is never called under such a budget.
func (b *Budget) WithMoney(usd float64, prices Prices) *Budget {
	b.usd, b.prices = usd, prices
	return b
}

// Spent returns what has been settled so far.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Exhausted reports whether a call had to be refused.
func (b *Budget) Exhausted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.exhausted
}

// Charge counts what was spent before, by the earlier part of a run that goes on: a
// model's calls and their tokens.
func (b *Budget) Charge(u Use) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent.Calls += u.Calls
	b.spent.Tokens += u.Prompt + u.Completion
	if price, known := b.prices.Of(u.Info); b.usd > 0 && known {
		b.spent.USD += price.of(u.Prompt, u.Completion)
	}
}

var errBudget = errors.New("the budget is spent")

// reserve holds what a call may cost, waiting while it would fit if calls in
// flight came back cheaper than they may.
func (b *Budget) reserve(ctx context.Context, want Spent) *Failure {
	for {
		b.mu.Lock()
		if b.fits(want) {
			b.held.Calls += want.Calls
			b.held.Tokens += want.Tokens
			b.held.USD += want.USD
			b.mu.Unlock()
			return nil
		}
		if !b.hopeful(want) {
			f := b.exhaust(want)
			b.mu.Unlock()
			return f
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ended(ctx, "waiting for the budget")
		}
	}
}

func (b *Budget) fits(w Spent) bool {
	return !b.exhausted &&
		(b.calls == 0 || b.spent.Calls+b.held.Calls+w.Calls <= b.calls) &&
		(b.tokens == 0 || b.spent.Tokens+b.held.Tokens+w.Tokens <= b.tokens) &&
		(b.usd == 0 || b.spent.USD+b.held.USD+w.USD <= b.usd)
}

// hopeful reports whether w would fit if what is held came to nothing.
func (b *Budget) hopeful(w Spent) bool {
	return !b.exhausted && b.held.Calls > 0 &&
		(b.calls == 0 || b.spent.Calls+b.held.Calls+w.Calls <= b.calls) &&
		(b.tokens == 0 || b.spent.Tokens+w.Tokens <= b.tokens) &&
		(b.usd == 0 || b.spent.USD+w.USD <= b.usd)
}

// more reserves one request more for a call in flight; its tokens are held
// already, for the request before it was refused and cost none.
func (b *Budget) more() *Failure {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.exhausted || (b.calls > 0 && b.spent.Calls+b.held.Calls+1 > b.calls) {
		return b.exhaust(Spent{Calls: 1})
	}
	b.held.Calls++
	return nil
}

func (b *Budget) settle(held, spent Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held.Calls -= held.Calls
	b.held.Tokens -= held.Tokens
	b.held.USD = max(b.held.USD-held.USD, 0) // what rounding leaves is no money
	b.spent.Calls += spent.Calls
	b.spent.Tokens += spent.Tokens
	b.spent.USD += spent.USD
	close(b.changed)
	b.changed = make(chan struct{})
}
