package llm

import (
	"context"
	"errors"
	"sync"

	"synod.dev/synod"
)

// Budget bounds what a question spends, in requests, tokens and USD. All members
// that answer the question share it: it is a field of their requests, and a layer
// around every model holds them to it. It is safe for concurrent use.
//
// What a request may cost is reserved before it leaves and settled when it comes
// back. A reservation is an upper bound: a token is at least one byte of UTF-8
// in every tokenizer that we know of, so a prompt has no more tokens than bytes
// (and a few for the roles), and a reply no more than its max_tokens. So the
// budget is not exceeded as long as servers keep to max_tokens and report their
// usage truthfully, and never by more than the calls in flight. Where a
// reservation does not fit but others are still open, the call waits for them:
// most of what they reserve comes back.
//
// A call that does not fit is not sent (Dropped), and neither is any later one.
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

// Spent counts requests that left, the tokens of prompts and replies, and money.
type Spent struct {
	Calls  int     `json:"calls"`
	Tokens int     `json:"tokens"`
	USD    float64 `json:"usd"` // 0 unless money is bounded
}

// NewBudget returns a budget of so many requests and tokens; 0 is no limit.
func NewBudget(calls, tokens int) *Budget {
	return &Budget{calls: calls, tokens: tokens, changed: make(chan struct{})}
}

// WithMoney also bounds what is spent in USD by a price table; 0 is no limit. A
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

// Short returns what the first refused call would have raised each exceeded
// bound to; all zero until a call has been refused.
func (b *Budget) Short() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.short
}

// Charge adds what an earlier, interrupted part of the run has spent: a model's
// calls and their tokens.
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

// reserve holds what a call may cost. It waits while the call would fit if calls
// in flight cost less than they reserve, but not for a hedged copy, which is
// refused without exhausting the budget.
func (b *Budget) reserve(ctx context.Context, want Spent, hedge bool) *Failure {
	for {
		b.mu.Lock()
		switch {
		case b.fits(want):
			b.held.Calls += want.Calls
			b.held.Tokens += want.Tokens
			b.held.USD += want.USD
			b.mu.Unlock()
			return nil
		case hedge:
			b.mu.Unlock()
			return &Failure{Status: synod.Dropped, Err: errBudget}
		case !b.mayFit(want):
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

// mayFit reports whether w would fit if the tokens that are held cost nothing.
func (b *Budget) mayFit(w Spent) bool {
	return !b.exhausted && b.held.Calls > 0 &&
		(b.calls == 0 || b.spent.Calls+b.held.Calls+w.Calls <= b.calls) &&
		(b.tokens == 0 || b.spent.Tokens+w.Tokens <= b.tokens) &&
		(b.usd == 0 || b.spent.USD+w.USD <= b.usd)
}

// more reserves one more request for a call in flight. Its tokens are held
// already, because the request before it was refused and cost none.
func (b *Budget) more(hedge bool) *Failure {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.exhausted && (b.calls == 0 || b.spent.Calls+b.held.Calls+1 <= b.calls):
		b.held.Calls++
		return nil
	case hedge:
		return &Failure{Status: synod.Dropped, Err: errBudget}
	}
	return b.exhaust(Spent{Calls: 1})
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

func (b *Budget) settle(held, spent Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held.Calls -= held.Calls
	b.held.Tokens -= held.Tokens
	b.held.USD = max(b.held.USD-held.USD, 0) // a rounding error is not money
	b.spent.Calls += spent.Calls
	b.spent.Tokens += spent.Tokens
	b.spent.USD += spent.USD
	close(b.changed)
	b.changed = make(chan struct{})
}

// spend is the layer that reserves and settles the requests of one model, whose
// replies have at most maxTokens tokens, with the budget of each request. It
// belongs below retries, so that each request that leaves is counted.
func spend(maxTokens int) layer {
	if maxTokens <= 0 {
		maxTokens = assumedReply
	}
	return func(m Model) Model { return &spender{layered{m}, maxTokens} }
}

// assumedReply is how many tokens a reply may have where no limit is set.
const assumedReply = 1000

type spender struct {
	layered
	maxTokens int
}

func (l *spender) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	b := r.Budget
	if b == nil {
		return l.Model.Complete(ctx, r)
	}
	if kind := l.Info().Kind; kind == Recorded || kind == Simulated {
		return l.spend(ctx, r, 0, Spent{Calls: 1}) // they read no text and write no tokens
	}
	r = r.rendering()
	prompt := promptTokens(r)
	hold := Spent{Calls: 1, Tokens: prompt + l.maxTokens}
	if b.usd > 0 {
		price, known := b.prices.Of(l.Info())
		if !known {
			return failed(synod.Reply{}, failure(synod.Dropped,
				"the budget is in money, and the price of this model is not known"))
		}
		hold.USD = price.of(prompt, l.maxTokens)
	}
	return l.spend(ctx, r, prompt, hold)
}

func (l *spender) spend(ctx context.Context, r Request, prompt int, hold Spent) (synod.Reply, error) {
	b := r.Budget
	if f := b.reserve(ctx, hold, r.hedge); f != nil {
		return failed(synod.Reply{}, f)
	}
	r.extra = func() *Failure {
		f := b.more(r.hedge)
		if f == nil {
			hold.Calls++
		}
		return f
	}
	reply, err := l.Model.Complete(ctx, r)
	sent := reply.Calls
	if err == nil && sent == 0 && !reply.Reused {
		sent = 1 // a model that does not count
	}
	b.settle(hold, b.charge(l.Info(), hold, Spent{Calls: sent, Tokens: charged(hold.Tokens, prompt, reply, err)},
		reply))
	return reply, err
}

// charge adds what the tokens cost. Where the reply does not say which of them
// belong to the prompt, all are charged at the higher price.
func (b *Budget) charge(m Info, held, spent Spent, r synod.Reply) Spent {
	if b.usd == 0 {
		return spent
	}
	price, _ := b.prices.Of(m)
	if r.Usage.Prompt+r.Usage.Completion > 0 {
		spent.USD = price.of(r.Usage.Prompt, r.Usage.Completion)
		return spent
	}
	spent.USD = min(max(price.of(spent.Tokens, 0), price.of(0, spent.Tokens)), held.USD)
	return spent
}

// charged is how many tokens a call is charged. Where a reply comes without
// usage, its bytes stand for its tokens. A call that timed out, was late or lost
// against its hedge is charged all that it may have cost, since the server may
// have gone on writing. Other failures cost what they report.
func charged(held, prompt int, r synod.Reply, err error) int {
	switch reported := r.Usage.Prompt + r.Usage.Completion; {
	case held == 0 || reported > 0:
		return reported
	case err == nil:
		return min(held, prompt+len(r.Text))
	case r.Calls > 0 && AsFailure(err).Status == synod.Timeout:
		return held
	}
	return 0
}

// promptTokens is an upper bound on the tokens of a rendered prompt.
func promptTokens(r Request) int {
	c, err := r.Chat()
	if err != nil {
		return 0
	}
	const roles = 32
	return max(len(c.System)+len(c.Schema), len(c.Completion)) + len(c.User) + roles
}
