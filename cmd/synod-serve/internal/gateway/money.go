package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// longestQueue is how long a request waits for money that others of its key have reserved. It is a variable for tests.
var longestQueue = 30 * time.Second

// tryEvery is the time between two looks.
const tryEvery = 20 * time.Millisecond

// begin records a request and reserves for it. What is missing because others of its key have reserved it, and most
// of which comes back, is waited for: such a request is not refused.
func (g *Gateway) begin(ctx context.Context, r store.Request) (store.Grant, *wire.Error) {
	for end := time.Now().Add(longestQueue); ; {
		grant, err := g.o.Store.Begin(r)
		var limit *store.LimitError
		if err == nil {
			return grant, nil
		}
		if !errors.As(err, &limit) || limit.Limit == "rpm" || !limit.Held || time.Now().After(end) {
			return grant, g.refused(err)
		}
		select {
		case <-time.After(tryEvery):
		case <-ctx.Done():
			return grant, g.refused(err)
		}
	}
}

// drawing lets a run reserve more as its calls start. Where other requests of its key have reserved what it needs, it
// waits for them, but not for ever: they may be those of another gateway, of which is not known what they wait for.
func (d *deciding) drawing() llm.Draw {
	var since time.Time // when the run began to wait; zero: it does not
	return func(w llm.Needs) (llm.Spent, bool) {
		need := amount(w.Need)
		reserved, wait, err := d.o.Store.Draw(d.grant, store.Draw{Least: amount(w.Least), Need: need, Idle: w.Idle})
		switch {
		case err != nil:
			d.o.Log.Error("nothing can be reserved", "request", d.grant.ID, "error", err.Error())
			return w.Least, false
		case reserved.Covers(need):
			since = time.Time{}
			d.job.drained.Store(false)
			return w.Need, false
		case since.IsZero():
			since = time.Now()
		}
		wait = wait && time.Since(since) < longestQueue
		d.job.drained.Store(!wait)
		return granted(reserved), wait
	}
}

// amount is what the library counts, as the store keeps it; granted is the reverse.
func amount(s llm.Spent) store.Amount {
	return store.Amount{Money: store.USD(s.USD), Tokens: int64(s.Tokens)}
}

func granted(a store.Amount) llm.Spent { return llm.Spent{Tokens: int(a.Tokens), USD: a.Money.USD()} }

// owned reports whether the owners of the seats call their models: they are given a limit at the beginning.
func (j *job) owned() bool { return j.served.Spec.Runner.Capabilities().Owned }

// promptRoom is how many tokens the templates and the answers of others add to a question, by estimate.
const promptRoom = 4096

// want returns what is reserved before a question begins: one call of each seat, with the longest reply. The rest is
// reserved as calls start. Of a council of nodes it is all that the question may cost by estimate: all planned calls
// with half as many again for retries. priced is false if the price of a member is not known.
func (d *deciding) want() (want store.Amount, priced bool, e *wire.Error) {
	j := d.job
	c, p := j.council(), j.council().Plan()
	seats := c.Seats()
	var usd, tokens float64
	priced = true
	for _, s := range seats {
		price, known := d.o.Prices.Of(llm.Info{Kind: s.Kind, Server: s.Server, Model: s.Served})
		if !known && j.key != nil && j.key.PerDay > 0 {
			return want, false, unpriced(j.served.ID, s.Model)
		}
		priced = priced && known
		prompt, reply := float64(len(j.question.Text)+promptRoom), float64(replyTokens(p.Spec().Models[s.Model]))
		usd += (price.Prompt*prompt + price.Completion*reply) / 1e6
		tokens += prompt + reply
	}
	if j.owned() {
		all := 1.5 * float64(max(p.Calls(), 1)) / float64(max(len(seats), 1))
		usd, tokens = usd*all, tokens*all
	}
	own := j.req.Synod.Budget
	for _, most := range []plan.Limits{p.Spec().Limits, {USD: own.USD, Tokens: own.Tokens}} {
		if most.USD > 0 {
			usd = min(usd, most.USD)
		}
		if most.Tokens > 0 {
			tokens = min(tokens, float64(most.Tokens))
		}
	}
	return store.Amount{Money: store.USD(usd), Tokens: int64(min(tokens, 1<<40))}, priced, nil
}

// refused is the error of a request that the store does not admit.
func (g *Gateway) refused(err error) *wire.Error {
	var limit *store.LimitError
	switch {
	case errors.As(err, &limit) && limit.Limit == "rpm":
		return &wire.Error{HTTP: 429, Code: "rate_limit_exceeded", RetryAfter: limit.Wait, Message: limit.Text}
	case errors.As(err, &limit) && limit.Held:
		return &wire.Error{HTTP: 429, Code: "rate_limit_exceeded", RetryAfter: time.Second, Message: limit.Text}
	case errors.As(err, &limit):
		return &wire.Error{HTTP: 429, Type: "insufficient_quota", Code: "insufficient_quota", RetryAfter: limit.Wait,
			Final: true, Message: limit.Text}
	case errors.Is(err, store.ErrKey):
		return &wire.Error{HTTP: 401, Code: "invalid_api_key", Message: "the API key has expired or was revoked"}
	}
	return g.storeDown(err)
}

func unpriced(id, model string) *wire.Error {
	return &wire.Error{HTTP: 403, Code: "price_unknown", Message: fmt.Sprintf("the key has a limit in USD, and the "+
		"price of model %q of %s is not known; the owner of the gateway adds it to prices.yaml (--prices FILE)", model,
		id)}
}
