package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
)

// ward is a model in trouble, and what its tests in the background are told.
type ward struct {
	Model
	pool  Pool
	fails func(caller string, test bool) *Failure // nil: it replies
	hangs string                                  // a caller whose prompts it never replies to
	takes atomic.Int64                            // nanoseconds
	asked atomic.Int64                            // calls for questions that reached it
	tests atomic.Int64                            // calls in the background

	mu   sync.Mutex
	told []string
}

// heard returns what was told until now.
func (w *ward) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told)
}

func (w *ward) Info() Info { return Info{Kind: Endpoint, Name: "ward", Identity: "ward"} }

func (w *ward) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	test := r.Given != nil
	if test {
		w.tests.Add(1)
	} else {
		w.asked.Add(1)
	}
	takes := time.Duration(w.takes.Load())
	if caller := callerOf(ctx); caller != "" && caller == w.hangs {
		takes = time.Hour
	}
	if !sleep(ctx, takes) {
		return failed(synod.Reply{Calls: 1}, ended(ctx, "waiting"))
	}
	if f := w.fails(callerOf(ctx), test); f != nil {
		return failed(synod.Reply{Calls: 1}, f)
	}
	return fine("42")
}

// tend opens the model in a pool that is tended until the test ends.
func tend(t *testing.T, fails func(caller string, test bool) *Failure) *ward {
	w := &ward{fails: fails}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.pool.Tend(ctx, func(now Tended) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, fmt.Sprintf("out %v tested %v", now.Out, now.Tested))
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
	w.Model = pooled(&w.pool, w, testLayers{attempts: 1})
	return w
}

// question makes a call as a council does that waits a second for it, and reports whether it reached the model.
func (w *ward) question(t *testing.T, caller string) bool {
	t.Helper()
	before, begun := w.asked.Load(), time.Now()
	ctx, cancel := context.WithCancelCause(WithCaller(t.Context(), caller))
	timer := time.AfterFunc(time.Second, func() { cancel(ErrLate) })
	defer timer.Stop()
	_, err := w.Model.Complete(ctx, Request{Prompt: &synod.Prompt{}})
	if errors.Is(context.Cause(ctx), ErrLate) && err != nil {
		Missed(WithCaller(t.Context(), caller), w.Model, begun)
	}
	cancel(nil)
	return w.asked.Load() > before
}

func (w *ward) expectQuestions(t *testing.T, what, callers, want string) {
	t.Helper()
	var got strings.Builder
	for _, c := range callers {
		letter := "-"
		if w.question(t, strings.TrimSpace(string(c))) {
			letter = "x"
		}
		got.WriteString(letter)
	}
	if got.String() != want {
		t.Errorf("%s: the questions of %q reached the model as %s, want %s", what, callers, got.String(), want)
	}
}

func answers(string, bool) *Failure { return nil }

// A model that hangs is not called after three questions, whoever asks; calls in the background are few and fewer, and
// the first that is answered brings it back. Without them a question would be the test.
func TestTendHanging(t *testing.T) {
	for _, caller := range []string{" ", "a"} {
		synctest.Test(t, func(t *testing.T) {
			w := tend(t, answers)
			w.takes.Store(int64(time.Hour))
			w.expectQuestions(t, "hanging", strings.Repeat(caller, 3), "xxx")
			time.Sleep(40 * time.Second) // a test gives up after 30
			for range 60 {
				w.expectQuestions(t, "out", "ab ", "---")
				time.Sleep(time.Minute)
			}
			if w.tests.Load() < 5 || w.tests.Load() > 11 {
				t.Errorf("%d calls in the background in an hour", w.tests.Load())
			}
			w.takes.Store(0)
			time.Sleep(11 * time.Minute)
			w.expectQuestions(t, "back", "ab ", "xxx")
			if h, _ := HealthOf(w.Model); h.State != Closed ||
				!strings.HasSuffix(fmt.Sprint(w.heard()), "out false tested true]") {
				t.Errorf("%s, and told %v", h.State, w.heard())
			}
		})
	}
}

// A model that is only slow is not out: a call in the background says so, and it is waited for again.
func TestTendSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := tend(t, answers)
		w.takes.Store(int64(5 * time.Second))
		w.expectQuestions(t, "slow", "   ", "xxx")
		time.Sleep(6 * time.Second)
		w.expectQuestions(t, "slow and tested", "      ", "xxxxxx")
		time.Sleep(time.Hour)
		if w.tests.Load() > 12 {
			t.Errorf("%d calls in the background", w.tests.Load())
		}
	})
}

// Two callers whose prompts draw errors lose the model for themselves alone, because a call in the background is
// answered. Without such calls two of them would have taken it from all (TestBreakerOfCallers).
func TestTendHostileCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := tend(t, func(caller string, _ bool) *Failure {
			if caller == "a" || caller == "b" {
				return failure(synod.Unavailable, "HTTP 500")
			}
			return nil
		})
		w.expectQuestions(t, "hostile", "aaabbb", "xxxxxx")
		time.Sleep(time.Second)
		w.expectQuestions(t, "hostile", "ab", "--")
		w.expectQuestions(t, "honest", "ccc", "xxx")
		if n := w.tests.Load(); n == 0 || slices.Contains(w.heard(), "out true tested true") {
			t.Errorf("%d tests; told %v", n, w.heard())
		}
		for range 600 { // an hour of attempts
			w.question(t, "a")
			w.question(t, "b")
			w.expectQuestions(t, "honest", "c", "x")
			time.Sleep(6 * time.Second)
		}
		if w.tests.Load() > 120 {
			t.Errorf("%d calls in the background in an hour", w.tests.Load())
		}
	})
}

// A prompt that makes a model hang takes it from its caller alone.
func TestTendHangingPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := tend(t, answers)
		w.hangs = "a"
		w.expectQuestions(t, "hanging", "aaa", "xxx")
		time.Sleep(time.Second)
		w.expectQuestions(t, "honest", "cc", "xx")
	})
}

// A server that does not run is out after three calls, and tested by the pool; a rejected key is too.
func TestTendDead(t *testing.T) {
	for _, f := range []*Failure{{Status: synod.Unavailable, Err: errors.New("connection refused"), connecting: true},
		failure(synod.Auth, "HTTP 401")} {
		synctest.Test(t, func(t *testing.T) {
			var dead atomic.Bool
			dead.Store(true)
			w := tend(t, func(string, bool) *Failure {
				if dead.Load() {
					return f
				}
				return nil
			})
			for range 3 {
				w.question(t, "a")
			}
			time.Sleep(time.Second)
			w.expectQuestions(t, "dead", "ab", "--")
			time.Sleep(10 * time.Minute)
			w.expectQuestions(t, "dead for ten minutes", "ab", "--")
			dead.Store(false)
			time.Sleep(10 * time.Minute)
			w.expectQuestions(t, "back", "ab", "xx")
			if w.asked.Load() > 5 {
				t.Errorf("%d calls for questions", w.asked.Load())
			}
		})
	}
}

// Calls that wait for an outage to end wait for a test in the background.
func TestTendOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool
		w := tend(t, func(string, bool) *Failure {
			if dead.Load() {
				return failure(synod.Unavailable, "HTTP 500")
			}
			return nil
		})
		w.question(t, "")
		dead.Store(true)
		w.expectQuestions(t, "failing", "  ", "xx") // the third failure opens the breaker
		time.AfterFunc(100*time.Second, func() { dead.Store(false) })
		o, begun := &Outage{Limit: 5 * time.Minute}, time.Now()
		_, err := w.Model.Complete(t.Context(), Request{Prompt: &synod.Prompt{}, Outage: o})
		took := time.Since(begun)
		if err != nil || took < 100*time.Second || took > 150*time.Second || w.asked.Load() > 5 {
			t.Errorf("%v after %v and %d calls for questions, %d tests", err, took, w.asked.Load(), w.tests.Load())
		}
	})
}
