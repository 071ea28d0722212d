package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Generate asks for text and waits for it. When ctx ends, the child drops the
// request and its sequence is free for another.
func (c *Client) Generate(ctx context.Context, req Request) (Result, error) {
	m, err := c.call(ctx, toChild{Generate: &req})
	if err != nil {
		return Result{}, err
	}
	if m.Result == nil {
		return Result{}, fmt.Errorf("engine: the child sent no result")
	}
	if req.Capture != nil && !m.Result.States.whole() {
		return Result{}, fmt.Errorf("engine: the child sent no hidden states")
	}
	return *m.Result, nil
}

// Likelihood returns the log-probability of each continuation after prefix
// (plain text, no chat template), in their order. A continuation should start
// with the space or line break that separates it from the prefix. The prefix is
// computed once.
func (c *Client) Likelihood(ctx context.Context, prefix string, continuations []string) ([]Score, Usage, error) {
	scores, _, usage, err := c.Weigh(ctx, prefix, continuations, nil)
	return scores, usage, err
}

// Weigh is Likelihood with the hidden states of every continuation, if want is not nil.
func (c *Client) Weigh(ctx context.Context, prefix string, continuations []string, want *Capture) ([]Score, []*States, Usage, error) {
	n := len(continuations)
	if n == 0 {
		return nil, nil, Usage{}, fmt.Errorf("engine: %w: no continuations", ErrRequest)
	}
	m, err := c.call(ctx, toChild{Prefix: prefix, Continuations: continuations, Capture: want})
	if err != nil {
		return nil, nil, Usage{}, err
	}
	if len(m.Scores) != n || m.Usage == nil {
		return nil, nil, Usage{}, fmt.Errorf("engine: the child sent %d scores for %d continuations", len(m.Scores), n)
	}
	if want != nil && (len(m.States) != n || slices.ContainsFunc(m.States, func(s *States) bool { return !s.whole() })) {
		return nil, nil, Usage{}, fmt.Errorf("engine: the child sent %d hidden states for %d continuations", len(m.States), n)
	}
	return m.Scores, m.States, *m.Usage, nil
}

func (c *Client) call(ctx context.Context, msg toChild) (fromChild, error) {
	if err := ctx.Err(); err != nil {
		return fromChild{}, fmt.Errorf("engine: %w", err)
	}
	ch := make(chan fromChild, 1)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fromChild{}, ErrClosed
	}
	msg.ID = c.next
	c.next++
	c.pending[msg.ID] = ch
	c.mu.Unlock()

	if err := c.send(msg); err != nil {
		c.forget(msg.ID)
		if pipe := (*fs.PathError)(nil); errors.As(err, &pipe) {
			c.kill() // a child that does not listen is dying or as good as dead; how it died is known when it has been reaped
			return fromChild{}, c.gone()
		}
		return fromChild{}, err
	}
	select {
	case m := <-ch:
		return m, m.Err.err()
	case <-c.done:
		select {
		case m := <-ch: // it answered and then died
			return m, m.Err.err()
		default:
			c.forget(msg.ID)
			return fromChild{}, c.gone()
		}
	case <-ctx.Done():
		c.forget(msg.ID)
		_ = c.send(toChild{ID: msg.ID, Cancel: true}) // if it cannot be told, it is dead
		return fromChild{}, fmt.Errorf("engine: %w", ctx.Err())
	}
}

func (c *Client) send(msg toChild) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := writeFrame(c.stdin, msg); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

func (c *Client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// gone is why there is no child any more.
func (c *Client) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	return c.died
}
