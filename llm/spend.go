package llm

import (
	"context"

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
	return l.spend(ctx, b, r, prompt, Spent{Calls: 1, Tokens: prompt + l.maxTokens})
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
	b.settle(hold, Spent{Calls: sent, Tokens: cost(hold.Tokens, prompt, reply, err)})
	return reply, err
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
