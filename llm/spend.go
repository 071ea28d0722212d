package llm

import (
	"context"
	"errors"

	"synod.dev/synod"
)

type budgetKey struct{}

// WithBudget makes the calls of a context spend from a budget. A budget belongs
// to a question, and models serve many, so it travels with the call.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// Spend reserves and settles the calls of one model, whose replies have
// maxTokens at most, with the budget of their context, if it has one. It belongs
// right around a provider, below retries, so that each request that leaves is
// counted.
func Spend(maxTokens int) Layer {
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
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	if b == nil {
		return l.Model.Complete(ctx, r)
	}
	if kind := l.Info().Kind; kind == Recorded || kind == Simulated {
		return l.spend(ctx, b, r, 0, Spent{Calls: 1}) // they read no text and write no tokens
	}
	r = r.rendered()
	prompt := promptTokens(r)
	hold := Spent{Calls: 1, Tokens: prompt + l.maxTokens}
	if b.usd > 0 {
		price, known := b.prices.Of(l.Info())
		if !known {
			return failed(synod.Reply{}, &Failure{Status: synod.Dropped, Err: errors.New("the budget is in money, and the price of this model is not known")})
		}
		hold.USD = price.of(prompt, l.maxTokens)
	}
	return l.spend(ctx, b, r, prompt, hold)
}

func (l *spender) spend(ctx context.Context, b *Budget, r Request, prompt int, hold Spent) (synod.Reply, error) {
	if f := b.reserve(ctx, hold); f != nil {
		return failed(synod.Reply{}, f)
	}
	extra := func() *Failure {
		f := b.more()
		if f == nil {
			hold.Calls++
		}
		return f
	}
	reply, err := l.Model.Complete(context.WithValue(ctx, extraKey{}, extra), r)
	sent := reply.Calls
	if err == nil && sent == 0 && !reply.Reused {
		sent = 1 // a member that does not count
	}
	b.settle(hold, b.charge(l.Info(), hold, Spent{Calls: sent, Tokens: cost(hold.Tokens, prompt, reply, err)}, reply))
	return reply, err
}

// charge adds what the tokens cost. Where the reply does not say which of them were
// a prompt's, all are charged as the dearer kind.
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

// of is what so many tokens cost, in USD.
func (p Price) of(prompt, completion int) float64 {
	return (p.Prompt*float64(prompt) + p.Completion*float64(completion)) / 1e6
}

// cost is what a call is charged. Where a reply comes without usage, its bytes
// stand for its tokens; a call that timed out is charged all it might have cost,
// since the server may have gone on writing. Other failures cost what they say.
func cost(held, prompt int, r synod.Reply, err error) int {
	switch said := r.Usage.Prompt + r.Usage.Completion; {
	case held == 0 || said > 0:
		return said
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

type extraKey struct{}

// another asks leave for one more request within a call, such as a fallback.
func another(ctx context.Context) *Failure {
	if extra, ok := ctx.Value(extraKey{}).(func() *Failure); ok {
		return extra()
	}
	return nil
}
