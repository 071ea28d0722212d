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

func drawnBudget(draw Draw, granted float64) *Budget {
	prices := Prices{{Server: "*", Model: "m", Price: Price{Prompt: 1e6, Completion: 1e6}}}
	return NewBudget(0, 0).Drawing(draw, granted, prices)
}

// A run draws what its calls need as they start, uses again what came back, and is refused for good when nothing more
// is granted and nothing is in flight.
func TestBudgetDraws(t *testing.T) {
	var asked []Needs
	left := 10.0
	b := drawnBudget(func(w Needs) (float64, bool) {
		if asked = append(asked, w); w.Need > left {
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
	if f := b.reserve(t.Context(), cost(3), false); f != nil || len(asked) != 1 || asked[0] != (Needs{4, 8, false}) {
		t.Fatalf("%v: %+v; want one question, when the second call began", f, asked)
	}
	b.settle(cost(4), cost(4))
	b.settle(cost(3), cost(3))
	f := b.reserve(t.Context(), cost(3), false)
	if f == nil || !b.Exhausted() || asked[len(asked)-1] != (Needs{8, 11, true}) {
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
	b := drawnBudget(func(w Needs) (float64, bool) {
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
	never := drawnBudget(func(w Needs) (float64, bool) { return w.Least, true }, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 5*drawEvery)
	defer cancel()
	begun := time.Now()
	if f := never.reserve(ctx, b.cost(priced1, 1, synod.Usage{Completion: 1}), false); f == nil || never.Exhausted() {
		t.Errorf("%v after %v; want the end of the context", f, time.Since(begun))
	}
}
