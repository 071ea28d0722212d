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
	return func(m Model) Model { return &spender{layered{m}, maxTokens} }
}

type spender struct {
	layered
	maxTokens int
}

func (l *spender) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	if b == nil {
		return l.Model.Complete(ctx, r)
	}
	return b.Layer(l.maxTokens)(l.Model).Complete(ctx, r)
}
