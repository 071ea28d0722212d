package llm

import (
	"context"
	"errors"
	"testing"
	"time"

	"synod.dev/synod"
)

// moody fails the calls of the callers that it is told to.
type moody struct {
	fails map[string]*Failure
	calls int
}

func (m *moody) Info() Info { return Info{Kind: Endpoint, Name: "moody"} }

func (m *moody) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	m.calls++
	reply := synod.Reply{Calls: 1}
	if f := m.fails[callerOf(ctx)]; f != nil {
		return reply, f
	}
	return reply, nil
}

// A caller whose prompts draw errors is refused after three, and takes the model from nobody else. Failures of two
// callers without a success between them, and those of the connection, open the breaker for all.
func TestBreakerOfCallers(t *testing.T) {
	drawn := failure(synod.Unavailable, "HTTP 500")
	cut := &Failure{Status: synod.Unavailable, Err: errors.New("connection refused"), connecting: true}
	call := func(m Model, caller string) error {
		_, err := m.Complete(WithCaller(t.Context(), caller), Request{})
		return err
	}
	for name, test := range map[string]struct {
		fails map[string]*Failure
		order string // who calls, one after the other
		calls int    // that reach the server
		other bool   // another caller is answered then
	}{
		"one caller":             {map[string]*Failure{"a": drawn}, "aaaaaaaa", 3, true},
		"a success between":      {map[string]*Failure{"a": drawn, "b": drawn}, "aaacbbbc", 8, true},
		"two callers":            {map[string]*Failure{"a": drawn, "b": drawn}, "aaabbb", 6, false},
		"the connection":         {map[string]*Failure{"a": cut}, "aaaa", 3, false},
		"nobody is known":        {map[string]*Failure{"": drawn}, "    ", 3, false},
		"a rejected key of ours": {map[string]*Failure{"a": failure(synod.Auth, "HTTP 403")}, "aa", 1, true},
	} {
		m := &moody{fails: test.fails}
		b := newBreaker(breakerConfig{coolDown: time.Hour})
		stacked := stack(m, b.layer(), b.gate())
		for _, c := range test.order {
			caller := string(c)
			if caller == " " {
				caller = ""
			}
			_ = call(stacked, caller)
		}
		if m.calls != test.calls {
			t.Errorf("%s: %d calls reached the server, want %d", name, m.calls, test.calls)
		}
		if err := call(stacked, "honest"); (err == nil) != test.other {
			t.Errorf("%s: another caller gets %v", name, err)
		}
	}
}

// The call that tests an open breaker tells nothing if its caller's prompts may be to blame; the next one tests.
func TestBreakerTestOfACaller(t *testing.T) {
	m := &moody{fails: map[string]*Failure{"a": failure(synod.Unavailable, "HTTP 500")}}
	b := newBreaker(breakerConfig{coolDown: time.Hour})
	stacked := stack(m, b.layer(), b.gate())
	b.leave(false, false, failure(synod.Auth, "no key"))
	b.until = time.Now()
	if _, err := stacked.Complete(WithCaller(t.Context(), "a"), Request{}); err == nil || b.cool != time.Hour {
		t.Errorf("%v, and the pause is %v", err, b.cool)
	}
	if _, err := stacked.Complete(WithCaller(t.Context(), "honest"), Request{}); err != nil {
		t.Errorf("the next call does not test: %v", err)
	}
	if b.refusal() != nil {
		t.Error("the breaker is open after a success")
	}
}
