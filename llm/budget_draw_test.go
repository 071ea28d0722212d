package llm

import (
	"context"
	"sync"
	"testing"
	"time"

	"synod.dev/synod"
)

// priced1 is an endpoint of which a token costs 1 USD.
var priced1 = Info{Kind: Endpoint, Model: "m", Server: "s"}

func usd(w Needs) [2]float64 { return [2]float64{w.Least.USD, w.Need.USD} }

func drawnBudget(draw Draw, usd float64) *Budget {
	prices := Prices{{Server: "*", Model: "m", Price: Price{Prompt: 1e6, Completion: 1e6}}}
	return NewBudget(0, 0).Drawing(draw, Spent{Tokens: 1 << 20, USD: usd}, prices)
}

// A run draws what its calls need as they start, uses again what came back, and is refused for good when nothing more
// is granted and nothing is in flight.
func TestBudgetDraws(t *testing.T) {
	var asked []Needs
	left := 10.0
	b := drawnBudget(func(w Needs) (Spent, bool) {
		if asked = append(asked, w); w.Need.USD > left {
			return w.Least, false
		}
		return w.Need, false
	}, 4)
	cost := func(tokens int) Spent { return b.cost(priced1, 1, synod.Usage{Completion: tokens}) }
	for _, f := range []*Failure{b.reserve(t.Context(), cost(4), false), b.reserve(t.Context(), cost(4), false)} {
		if f != nil {
			t.Fatal(f)
		}
	}
	b.settle(cost(4), cost(1))
	if f := b.reserve(t.Context(), cost(3), false); f != nil || len(asked) != 1 ||
		usd(asked[0]) != [2]float64{4, 8} || asked[0].Idle {
		t.Fatalf("%v: %+v; want one question, when the second call began", f, asked)
	}
	b.settle(cost(4), cost(4))
	b.settle(cost(3), cost(3))
	f := b.reserve(t.Context(), cost(3), false)
	if f == nil || !b.Exhausted() || usd(asked[len(asked)-1]) != [2]float64{8, 11} {
		t.Errorf("%v after %+v; want a refusal", f, asked)
	}
	if b.Short().USD != 11 {
		t.Errorf("short is %+v", b.Short())
	}
}

// A call waits where a later try may succeed, and goes on when it does.
func TestBudgetDrawWaits(t *testing.T) {
	var mu sync.Mutex
	tries := 0
	b := drawnBudget(func(w Needs) (Spent, bool) {
		mu.Lock()
		defer mu.Unlock()
		if tries++; tries < 3 {
			return w.Least, true
		}
		return w.Need, false
	}, 0)
	if f := b.reserve(t.Context(), b.cost(priced1, 1, synod.Usage{Completion: 1}), false); f != nil || tries != 3 {
		t.Errorf("%v after %d tries", f, tries)
	}
	never := drawnBudget(func(w Needs) (Spent, bool) { return w.Least, true }, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 5*drawEvery)
	defer cancel()
	begun := time.Now()
	if f := never.reserve(ctx, b.cost(priced1, 1, synod.Usage{Completion: 1}), false); f == nil || never.Exhausted() {
		t.Errorf("%v after %v; want the end of the context", f, time.Since(begun))
	}
}

// Tokens are drawn as money is, without prices; when no more are granted and nothing is in flight, those that were
// granted are the limit.
func TestBudgetDrawsTokens(t *testing.T) {
	var asked []Needs
	b := NewBudget(0, 100).Drawing(func(w Needs) (Spent, bool) {
		if asked = append(asked, w); w.Need.Tokens > 10 {
			return w.Least, false
		}
		return w.Need, false
	}, Spent{Tokens: 4}, nil)
	call := func(tokens int) Spent { return b.cost(priced1, 1, synod.Usage{Completion: tokens}) }
	for _, tokens := range []int{4, 5} {
		if f := b.reserve(t.Context(), call(tokens), false); f != nil {
			t.Fatal(f)
		}
	}
	b.settle(call(4), call(4))
	b.settle(call(5), call(2))
	if f := b.reserve(t.Context(), call(3), false); f != nil || len(asked) != 1 || asked[0].Need.Tokens != 9 {
		t.Fatalf("%v: %+v; want one question, since 9 tokens were granted", f, asked)
	}
	b.settle(call(3), call(3))
	f := b.reserve(t.Context(), call(2), false)
	if f == nil || !b.Exhausted() || b.Short().Tokens != 11 || b.Limits().Tokens != 9 || b.Limits().USD != 0 {
		t.Errorf("%v, short %+v, limits %+v; want a refusal of the eleventh token", f, b.Short(), b.Limits())
	}
}
