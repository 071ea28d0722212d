package council_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// One hundred councils of one process share the limits of their account: 10 requests at
// once and 50 a second, counted by the server. The limit on starts is a bucket, so any
// second may have a few more at its edges; over the whole run it holds.
func TestCouncilsShareLimits(t *testing.T) {
	const councils, atOnce, perSecond = 100, 10, 50
	s := llmtest.Start(t, stubborn, llmtest.Latency(20*time.Millisecond))
	text := fmt.Sprintf(`
protocol: {name: majority}
exact: paper # every call is waited for
f: 0
models: {m: {provider: openai, url: %q, model: s42, timeout: 1m, concurrency: %d, per_minute: %d}}
seats: [{id: a, model: m, count: 3}]
`, s.URL, atOnce, 60*perSecond)
	var wait sync.WaitGroup
	start := time.Now()
	for i := range councils {
		wait.Go(func() {
			spec, err := plan.Parse([]byte(text))
			if err != nil {
				t.Error(err)
				return
			}
			c, err := council.Convene(spec, llm.Env{})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			o, err := c.Decide(context.Background(), council.Ask{Question: sum, Seed: uint64(i)})
			if err != nil || o.Status != outcome.Agreed {
				t.Errorf("council %d: %v, %s", i, err, o.Reason)
			}
		})
	}
	wait.Wait()
	took := time.Since(start)
	if s.Count() != 3*councils || s.MaxConcurrent() > atOnce {
		t.Errorf("%d requests, at most %d at once; want %d and at most %d", s.Count(), s.MaxConcurrent(), 3*councils,
			atOnce)
	}
	if least := time.Duration(3*councils-perSecond) * time.Second / perSecond; took < least {
		t.Errorf("%d requests took %v; at %d a second they need %v", s.Count(), took, perSecond, least)
	}
}

// Ten thousand questions leave nothing behind: no goroutines, no open files, no memory.
func TestNothingLeaks(t *testing.T) {
	questions := 10_000
	if testing.Short() {
		questions = 1_000
	}
	c := convene(t, diceCouncil)
	ask := func(n int) {
		for i := range n {
			q := synod.Question{ID: fmt.Sprint(i), Text: "an item", Form: synod.Number}
			if _, err := c.Decide(context.Background(), council.Ask{Question: q, Seed: uint64(i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask(200)
	goroutines, files, heap := resources()
	ask(questions)
	g, f, h := resources()
	if g > goroutines || f > files {
		t.Errorf("%d goroutines and %d files, before %d and %d", g, f, goroutines, files)
	}
	if h > heap+2<<20 {
		t.Errorf("the heap grew from %d KiB to %d KiB", heap>>10, h>>10)
	}
}

// resources counts goroutines, open files (0 where the system does not list them) and
// the live heap in bytes.
func resources() (goroutines, files int, heap uint64) {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, _ := os.ReadDir("/proc/self/fd")
	return runtime.NumGoroutine(), len(open), m.HeapAlloc
}
