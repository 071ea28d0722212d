package llm

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"synod.dev/synod"
)

// Budget bounds what a question spends, in requests, tokens and USD. All members
// that answer the question share it: it is a field of their requests, and a layer
// around every model holds them to it. It is safe for concurrent use.
//
// Calls are requests that leave: repeated requests, second copies of slow ones
// (Hedge) and requests in which a model learns what its server refuses each count.
// A reply from the cache is no request.
//
// What a request may cost is reserved before it leaves and settled when it comes
// back. A reservation is an upper bound: a token is at least one byte of UTF-8
// in every tokenizer that we know of, so a prompt has no more tokens than bytes
// (and some for the text that a chat template adds), and a reply no more than its
// max_tokens. A server that reports more is charged the reservation (Reply.Fault),
// so no report can exceed the budget, and neither can it lower the sum. Where a
// reservation does not fit but others are still open, the call waits for them:
// most of what they reserve comes back.
//
// A call that does not fit is not sent (Dropped), and neither is any later one.
type Budget struct {
	calls, tokens int
	usd           float64
	money         bool   // money is bounded, by usd or by draw; it does not change
	prices        Prices // with money
	draw          Draw
	drawMoney     bool // draw grants money too, and not only tokens

	mu        sync.Mutex
	spent     Spent
	held      Spent
	exhausted bool
	short     Spent
	drawn     Spent         // with draw: what it has granted
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
	return &Budget{calls: calls, tokens: tokens}
}

// WithMoney also bounds what is spent in USD by a price table; 0 is no limit. A
// model whose price is not known is never called under such a budget.
func (b *Budget) WithMoney(usd float64, prices Prices) *Budget {
	b.usd, b.prices, b.money = usd, prices, usd > 0
	return b
}

// Draw asks the owner of money and tokens for what a run needs. It returns what the run may use from now on, in tokens
// and USD of the whole run: as much of both as w.Need or more, or not below w.Least if it refuses. Calls do not count.
// wait says that a later try may succeed.
type Draw func(w Needs) (granted Spent, wait bool)

// Needs is what a run needs, for the whole run.
type Needs struct {
	Least Spent // what it has spent, and what its calls in flight may still cost
	Need  Spent // that, with the next call
	Idle  bool  // no call is in flight, so Least does not fall by waiting
}

// Drawing has tokens and money granted bit by bit, as calls are to leave, in place of all at the beginning. granted is
// what the run has at its beginning. A model whose price is not known is never called. Without prices tokens alone are
// granted.
func (b *Budget) Drawing(draw Draw, granted Spent, prices Prices) *Budget {
	b.draw, b.drawn = draw, granted
	if prices != nil {
		b.drawMoney, b.prices, b.money = true, prices, true
	}
	return b
}

// Limits returns the limits that hold now; 0 is none. What Draw has granted is one after it has refused more for good.
func (b *Budget) Limits() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Spent{b.calls, b.tokens, b.usd}
}

// priced reports whether money is bounded, so that prices must be known.
func (b *Budget) priced() bool { return b.money }

// drawEvery is the time between two tries to draw.
const drawEvery = 20 * time.Millisecond

// grow draws what a call needs, if only what can be drawn is missing. wait says that a later try may succeed. After
// a final refusal what was granted is the limit. The caller holds mu.
func (b *Budget) grow(w Spent) (wait bool) {
	now := b.spent.plus(b.held)
	need := now.plus(w)
	if b.granted(need) || !b.within(w) {
		return false
	}
	b.drawn, wait = b.draw(Needs{now, need, b.held.Calls == 0})
	if b.granted(need) || wait || b.held.Calls > 0 {
		return wait
	}
	if b.drawMoney && need.USD > b.drawn.USD {
		b.usd = max(b.drawn.USD, math.SmallestNonzeroFloat64)
	}
	if need.Tokens > b.drawn.Tokens {
		b.tokens = max(b.drawn.Tokens, 1)
	}
	b.draw = nil
	return false
}

// granted reports whether Draw has granted so much, or nothing has to be granted.
func (b *Budget) granted(s Spent) bool {
	return b.draw == nil || s.Tokens <= b.drawn.Tokens && (!b.drawMoney || s.USD <= b.drawn.USD)
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

// Charge adds what an earlier, interrupted part of the run has spent on a model.
func (b *Budget) Charge(m Info, calls int, tokens synod.Usage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = b.spent.plus(b.cost(m, calls, tokens))
}

// Add counts what was spent before, elsewhere.
func (b *Budget) Add(s Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = b.spent.plus(s)
}

// hold reserves what a request may cost that has left already.
func (b *Budget) hold(w Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = b.held.plus(w)
}

// cost returns what requests count; money only if it is bounded.
func (b *Budget) cost(m Info, calls int, tokens synod.Usage) Spent {
	s := Spent{Calls: calls, Tokens: tokens.Total()}
	if b.priced() {
		if price, known := b.prices.Of(m); known {
			s.USD = price.of(tokens)
		}
	}
	return s
}

func (s Spent) plus(t Spent) Spent {
	return Spent{synod.Sum(s.Calls, t.Calls), synod.Sum(s.Tokens, t.Tokens), s.USD + t.USD}
}

var errBudget = errors.New("a limit on calls, tokens or money does not allow the call")

// reserve holds what a call may cost. It waits while the call would fit if calls
// in flight cost less than they reserve, but not for a spare call, which is
// refused without exhausting the budget.
func (b *Budget) reserve(ctx context.Context, want Spent, spare bool) *Failure {
	for {
		changed, again, f := b.holding(want, spare)
		if changed == nil {
			return f
		}
		select {
		case <-changed:
		case <-again:
		case <-ctx.Done():
			return ended(ctx, "waiting for the budget")
		}
	}
}

// holding holds what a call may cost, or returns why not; or it returns when to try again: with a change, or
// after some time.
func (b *Budget) holding(want Spent, spare bool) (changed <-chan struct{}, again <-chan time.Time, f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := false
	if !b.fits(want) && !spare {
		wait = b.grow(want)
	}
	switch {
	case b.fits(want):
		b.held = b.held.plus(want)
		return nil, nil, nil
	case spare:
		return nil, nil, &Failure{Status: synod.Dropped, Err: errBudget}
	case !wait && !b.mayFit(want):
		return nil, nil, b.exhaust(want)
	}
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	if b.draw != nil {
		again = time.After(drawEvery)
	}
	return b.changed, again, nil
}

func (b *Budget) fits(w Spent) bool {
	sum := b.spent.plus(b.held).plus(w)
	return b.within(w) && b.granted(sum)
}

// within reports whether a call fits into the limits, whatever is drawn.
func (b *Budget) within(w Spent) bool {
	sum := b.spent.plus(b.held).plus(w)
	return !b.exhausted && (b.calls == 0 || sum.Calls <= b.calls) && (b.tokens == 0 || sum.Tokens <= b.tokens) &&
		(b.usd == 0 || sum.USD <= b.usd)
}

// mayFit reports whether w would fit if the tokens that are held cost nothing.
func (b *Budget) mayFit(w Spent) bool {
	sum := b.spent.plus(w)
	return !b.exhausted && b.held.Calls > 0 && (b.calls == 0 || synod.Sum(sum.Calls, b.held.Calls) <= b.calls) &&
		(b.tokens == 0 || sum.Tokens <= b.tokens) && (b.usd == 0 || sum.USD <= b.usd)
}

// more reserves one more request for a call in flight. Its tokens are held
// already, because the request before it was refused and cost none.
func (b *Budget) more(spare bool) *Failure {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.exhausted && (b.calls == 0 || b.spent.plus(b.held).Calls < b.calls):
		b.held.Calls++
		return nil
	case spare:
		return &Failure{Status: synod.Dropped, Err: errBudget}
	}
	return b.exhaust(Spent{Calls: 1})
}

// exhaust refuses w and all that follows.
func (b *Budget) exhaust(w Spent) *Failure {
	if !b.exhausted {
		b.exhausted = true
		if n := b.spent.plus(b.held).plus(w).Calls; b.calls > 0 && n > b.calls {
			b.short.Calls = n
		}
		sum := b.spent.plus(w)
		if b.tokens > 0 && sum.Tokens > b.tokens {
			b.short.Tokens = sum.Tokens
		}
		if b.usd > 0 && sum.USD > b.usd {
			b.short.USD = sum.USD
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
	b.spent = b.spent.plus(spent)
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}
