package bench_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/internal/llmtest"
)

// freeze answers no call for a while, from its nth call on.
func freeze(n int, long time.Duration) llmtest.Behaviour {
	var once sync.Once
	var until time.Time
	return func(x *llmtest.Exchange) {
		if x.N >= n {
			once.Do(func() { until = time.Now().Add(long) })
			if left := time.Until(until); left > 0 {
				llmtest.Hang(left)(x)
			}
		}
		x.OK()
	}
}

const frozen = `protocol: {name: majority}
f: 1
models: {m: {provider: openai, model: s6, url: "$URL", timeout: 150ms}}
seats: [{id: a, model: m, count: 5}]
`

// A server that freezes in the middle of a run costs time and no question.
func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := llmtest.Start(t, stubborn, llmtest.With(freeze(500, 1500*time.Millisecond)))
	run := create(t, plan(t, strings.ReplaceAll(frozen, "$URL", s.URL), 100, 4))
	var waited []string
	p, err := run.Work(context.Background(), bench.Options{Parallel: 8, Outage: 10 * time.Second,
		Progress: func(p bench.Progress) {
			for _, w := range p.Waiting {
				waited = append(waited, fmt.Sprintf("%s: %s", w.Model, w.Reason))
			}
		}})
	if err != nil || p.Failed > 0 || p.Finished != 400 {
		t.Errorf("%+v, %v", p, err)
	}
	if len(waited) == 0 || !strings.Contains(waited[0], "no complete reply within 150ms") {
		t.Errorf("waited for %q", waited)
	}
	// on a busy machine the time of a call may end before the server sees it
	if r := reported(t, run.Dir()); r.Failed > 0 || r.Calls.Made < max(2000, s.Count()) || r.Calls.Made > s.Count()+10 {
		t.Errorf("%d failed; %d calls, %d at the server", r.Failed, r.Calls.Made, s.Count())
	}
}

// Questions that failed during an outage longer than the limit are asked again at the end.
func TestFailedAreAskedAgain(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.With(llmtest.First(2, llmtest.Status(404))))
	run := create(t, plan(t, strings.NewReplacer("$URL", s.URL, "count: 5", "count: 2").Replace(frozen), 10, 1))
	p := work(t, run, 1)
	if p.Failed > 0 || p.Finished != 10 || !p.Again {
		t.Errorf("%+v", p)
	}
	if r := reported(t, run.Dir()); r.Calls.Made != s.Count() {
		t.Errorf("the report counts %d calls, the server %d", r.Calls.Made, s.Count())
	}
}
