package council_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/internal/llmtest"
)

// A hundred councils of one process that use one account, limited to 10 concurrent calls
// and 50 calls a second, never exceed the limits together, as counted by the server.
//
// The server counts a call as open until it begins to write the reply, so 10 is exact.
// Requests may arrive up to some tenths of a second after they left, so 51 of them may
// arrive within less than a second, but not within half a second: without a common limit
// the 300 calls of the first stage would all arrive within that time.
func TestHundredCouncilsShareAnAccount(t *testing.T) {
	const councils, atOnce, perSecond = 100, 10, 50
	var mu sync.Mutex
	var open, most int
	var came []time.Time
	s := llmtest.Start(t, stubborn, llmtest.Quiet(), llmtest.With(func(x *llmtest.Exchange) {
		mu.Lock()
		came = append(came, time.Now())
		open++
		most = max(most, open)
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		open--
		mu.Unlock()
		x.OK()
	}))
	text := fmt.Sprintf(`
protocol: {name: majority}
exact: paper # every call is waited for
models: {m: {provider: openai, url: %q, model: m42, concurrency: %d, per_minute: %d}}
seats: [{id: a, model: m, count: 3}]
`, s.URL, atOnce, 60*perSecond)
	var wait sync.WaitGroup
	for i := range councils {
		c := convene(t, text)
		wait.Go(func() {
			if o := decide(t, c, council.Ask{Seed: uint64(i)}); o.Answer == nil || *o.Answer != synod.Answer("42") {
				t.Errorf("council %d: %s: %s", i, o.Status, o.Reason)
			}
		})
	}
	wait.Wait()
	slices.SortFunc(came, time.Time.Compare)
	t.Logf("%d calls in %v, at most %d at once", len(came), came[len(came)-1].Sub(came[0]), most)
	if most > atOnce || len(came) < 3*councils {
		t.Errorf("%d calls, %d at once", len(came), most)
	}
	for i := perSecond; i < len(came); i++ {
		if d := came[i].Sub(came[i-perSecond]); d < 500*time.Millisecond {
			t.Fatalf("%d calls within %v", perSecond+1, d)
		}
	}
}
