package llm

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"

	"synod.dev/synod/llm/engine"
)

// tallying is an engine that counts the continuations that it weighs. Each has as many tokens as bytes, and the prefix
// too. It fails while failing is set.
type tallying struct {
	lines
	mu      sync.Mutex
	weighed int
	failing bool
}

func (c *tallying) Weigh(_ context.Context, prefix string, list []string, _ *engine.Capture,
) ([]engine.LogProb, []*engine.States, engine.Usage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failing {
		return nil, nil, engine.Usage{}, engine.ErrEngineDied
	}
	c.weighed += len(list)
	u, scores := engine.Usage{PromptTokens: len(prefix)}, []engine.LogProb{}
	for _, s := range list {
		scores = append(scores, engine.LogProb{Mean: -float64(len(prefix + s)), Tokens: len(s)})
		u.PromptTokens += len(s)
	}
	return scores, make([]*engine.States, len(list)), u, nil
}

// Seven members of one model that ask for the same likelihoods have them computed once, with the scores and the usage
// of a call that computes them; other texts and calls for hidden states are computed, and a failure is not remembered.
func TestLikelihoodsAreComputedOnce(t *testing.T) {
	c, e := &tallying{}, share(engine.Config{ModelPath: t.Name()})
	x := e.remembering(c)
	list := []string{" Paris", " Rome", " Bonn"}
	want, _, usage, _ := (&tallying{}).Weigh(t.Context(), "Capital?", list, nil)
	var wait sync.WaitGroup
	for range 7 {
		wait.Go(func() {
			got, _, u, err := x.Weigh(t.Context(), "Capital?", list, nil)
			if err != nil || !reflect.DeepEqual(got, want) || u != usage {
				t.Errorf("%v %+v %v; want %v %+v", got, u, err, want, usage)
			}
		})
	}
	wait.Wait()
	if c.weighed != 3 {
		t.Errorf("%d continuations were computed for seven members, want 3", c.weighed)
	}
	for _, ask := range []struct {
		prefix string
		want   *engine.Capture
	}{{"Capital?", &engine.Capture{}}, {"City?", nil}} {
		before := c.weighed
		if _, _, _, err := x.Weigh(t.Context(), ask.prefix, list, ask.want); err != nil || c.weighed != before+3 {
			t.Errorf("%+v: computed %d, want 3: %v", ask, c.weighed-before, err)
		}
	}
	c.failing = true
	if _, _, _, err := x.Weigh(t.Context(), "River?", list, nil); !errors.Is(err, engine.ErrEngineDied) {
		t.Errorf("the engine's error is %v", err)
	}
	c.failing = false
	if got, _, _, err := x.Weigh(t.Context(), "River?", list, nil); err != nil || len(got) != 3 {
		t.Errorf("after a failure: %v, %v", got, err)
	}
}

// A member whose likelihoods are all remembered needs no process.
func TestRememberedLikelihoodsNeedNoProcess(t *testing.T) {
	m, starts := fakeEngine(t, -1, 0)
	defer m.Close()
	e := m.host.(*sharedEngine)
	before := e.remembering(&tallying{})
	if _, _, _, err := before.Weigh(t.Context(), "Capital?", []string{" Paris"}, nil); err != nil {
		t.Fatal(err)
	}
	x := m.host.completer()
	if _, _, _, err := x.Weigh(t.Context(), "Capital?", []string{" Paris"}, nil); err != nil || *starts != 0 {
		t.Errorf("%d starts for what is remembered: %v", *starts, err)
	}
	if _, _, _, err := x.Weigh(t.Context(), "Capital?", []string{" Rome"}, nil); *starts != 1 ||
		!errors.Is(err, engine.ErrEngineDied) {
		t.Errorf("%d starts for what is not: %v", *starts, err)
	}
}
