package engine

import "context"

// likelihood returns the scores of continuations without hidden states.
func likelihood(c *Client, ctx context.Context, prefix string, continuations []string) ([]Score, Usage, error) {
	scores, _, usage, err := c.Weigh(ctx, prefix, continuations, nil)
	return scores, usage, err
}
