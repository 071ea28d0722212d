package llm

import (
	"cmp"
	"context"
	"fmt"

	"synod.dev/synod"
)

// spend is the layer that announces each request of one model before it leaves, holds
// it to the budget of its call, and charges it when it is over. It belongs below
// retries, so that each request that leaves is counted. A reply has at most o.MaxTokens
// tokens; 0: no limit is set.
//
// Recorded and simulated models send nothing: for them it counts calls only.
func spend(o Opened) layer {
	return func(m Model) Model { return &spender{layered{m}, o, m.Info().Kind} }
}

const (
	assumedReply = 1000    // tokens that are reserved for a reply where no limit is set
	longestReply = 1 << 24 // tokens that a reply may have where no limit is set
)

type spender struct {
	layered
	opened Opened
	kind   Kind
}

func (l *spender) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if l.kind == Recorded || l.kind == Simulated {
		if r.Budget == nil {
			return l.Model.Complete(ctx, r)
		}
		return l.answer(ctx, r)
	}
	r = r.rendering()
	if b := r.Budget; b != nil && b.priced() {
		if _, known := b.prices.Of(l.Info()); !known {
			return failed(synod.Reply{}, failure(synod.Dropped,
				"the budget is in money, and the price of this model is not known"))
		}
	}
	return l.spend(ctx, r, l.opened.most(r))
}

// answer has a model answer that sends no request, so that no layer below can repeat one.
func (l *spender) answer(ctx context.Context, r Request) (synod.Reply, error) {
	hold := Spent{Calls: 1}
	if f := r.Budget.reserve(ctx, hold, r.spare()); f != nil {
		return failed(synod.Reply{}, f)
	}
	r.Asked = nil
	reply, err := l.Model.Complete(ctx, r)
	r.Budget.settle(hold, r.Budget.cost(l.Info(), sent(&reply, err), reply.Spent()))
	return reply, err
}

// sent returns how many requests a reply counts.
func sent(r *synod.Reply, err error) int {
	if err == nil && r.Calls == 0 && !r.Reused {
		return 1 // a model that does not count
	}
	return r.Calls
}

// spend sends a request that may cost so many tokens at most.
func (l *spender) spend(ctx context.Context, r Request, most synod.Usage) (synod.Reply, error) {
	b, info := r.Budget, l.Info()
	if b == nil {
		b = NewBudget(0, 0)
	}
	hold := b.cost(info, 1, most)
	if f := b.reserve(ctx, hold, r.spare()); f != nil {
		return failed(synod.Reply{}, f)
	}
	if f := r.announce(most); f != nil {
		b.settle(hold, Spent{})
		return failed(synod.Reply{}, f)
	}
	granted := r.extra
	r.extra = func() *Failure {
		if granted != nil {
			if f := granted(); f != nil {
				return f
			}
		}
		f := b.more(r.spare())
		if f == nil {
			hold.Calls++
			f = r.announce(synod.Usage{})
		}
		return f
	}
	reply, err := l.Model.Complete(ctx, r)
	requests := sent(&reply, err)
	if most != (synod.Usage{}) {
		l.charge(&reply, err, most)
	}
	spent := b.cost(info, requests, reply.Spent())
	if says := float64(reply.Usage.Billed) / 1e9; b.priced() { // no report lowers the sum, or exceeds the budget
		spent.USD = max(spent.USD, min(says, hold.USD))
	}
	b.settle(hold, spent)
	return reply, err
}

// announce tells the request's owner that a request is about to leave.
func (r Request) announce(most synod.Usage) *Failure {
	if r.Asked == nil {
		return nil
	}
	if err := r.Asked(most); err != nil {
		return failure(synod.Dropped, "not sent: %w", err)
	}
	return nil
}

// charge checks the usage that a reply reports and sets what it is charged:
//
//   - what it reports. More than the request can have cost is the server's fault; it
//     is recorded, and the reservation takes its place.
//   - of a reply without usage, the bytes of its text, since a token has at least one.
//   - of a call that failed when the server may have begun to write, because it timed
//     out, was cancelled or was cut off, all that it may have cost.
//   - of other failures, nothing.
func (l *spender) charge(r *synod.Reply, err error, most synod.Usage) {
	longest := cmp.Or(l.opened.MaxTokens, longestReply)
	switch u := r.Usage; {
	case r.Calls == 0 && err != nil, r.Reused:
		return
	case r.Fault != "":
		r.Usage = most
	case l.kind != Endpoint && u != synod.Usage{}: // counted by this program
	case u.Prompt < 0 || u.Completion < 0:
		r.Usage, r.Fault = most, fmt.Sprintf("it reports a negative usage: %d prompt and %d completion tokens",
			u.Prompt, u.Completion)
	case u.Prompt > most.Prompt && most.Prompt > 0:
		r.Usage, r.Fault = most, fmt.Sprintf("it reports %d prompt tokens; this request has at most %d", u.Prompt,
			most.Prompt)
	case u.Completion > longest:
		r.Usage, r.Fault = most, fmt.Sprintf("it reports %d completion tokens; a reply may have at most %d",
			u.Completion, longest)
	case u != synod.Usage{}:
	case err == nil:
		r.Charged = synod.Usage{Prompt: most.Prompt, Completion: min(len(r.Text), most.Completion)}
	case AsFailure(err).mayHaveCost():
		r.Charged = most
	}
}

// addCost adds the cost of other requests for the same call to a reply.
func addCost(r *synod.Reply, other *synod.Reply) {
	sum := r.Spent().Plus(other.Spent())
	r.Calls, r.Usage = synod.Sum(r.Calls, other.Calls), r.Usage.Plus(other.Usage)
	if r.Charged = sum; sum == r.Usage {
		r.Charged = synod.Usage{}
	}
	if r.Fault == "" {
		r.Fault = other.Fault
	}
}

// promptTokens is an upper bound on the tokens of a rendered prompt; 0: it cannot be
// rendered, and the model does not read it.
func promptTokens(r Request) int {
	c, err := r.Chat()
	if err != nil {
		return 0
	}
	return c.Size() + templateTokens
}

// templateTokens is how many tokens a server's chat template may add to a prompt: role
// names, dates, a default system prompt.
const templateTokens = 256

// most returns the tokens that a request may cost at most.
func (o *Opened) most(r Request) synod.Usage {
	most := synod.Usage{Prompt: promptTokens(r), Completion: cmp.Or(o.MaxTokens, assumedReply)}
	if o.StoresPrompts { // the prompt may be written to the server's cache
		most.Stored = most.Prompt
	}
	return most
}

// InstantOf returns the Instant that replies to the calls of a model without a budget; nil
// if they pass a layer that has to see them.
func InstantOf(m Model) Instant {
	s, ok := m.(*spender)
	if !ok || s.kind != Simulated {
		return nil
	}
	i, _ := s.Model.(Instant)
	return i
}
