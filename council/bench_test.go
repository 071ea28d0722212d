package council_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/llmtest"
)

// critical is how deep the calls of a SAC question with T=6 stand: the first
// answers, and then scores and refinement in every round.
const critical = 1 + 2*6

// sevenAt is seven seats of one model at a server.
func sevenAt(url string) string {
	return fmt.Sprintf(`
protocol: {name: sac, rounds: 6}
exact: paper
f: 3
models: {m: {provider: openai, url: %q, model: m42, timeout: 30s}}
seats: [{id: a, model: m, count: 7}]
limits: {calls: 0, tokens: 0, deadline: 5m}
`, url)
}

// BenchmarkCriticalPath is the wall time of a question with exact: paper against
// a server of fixed latency, divided by the critical path of its calls. The rest
// is ours; the aim is at most 1.05.
func BenchmarkCriticalPath(b *testing.B) {
	for _, latency := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		b.Run(latency.String(), func(b *testing.B) {
			s := llmtest.StartFast(b, latency, "42", 0.9)
			c := convene(b, sevenAt(s.URL))
			decide(b, c, council.Ask{}) // opens the connections
			before := s.Count()
			for b.Loop() {
				if o := decide(b, c, council.Ask{}); o.Calls.Made != 343 {
					b.Fatalf("%d calls", o.Calls.Made)
				}
			}
			b.ReportMetric(float64(s.Count()-before)/float64(b.N), "calls/op")
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(critical*latency), "of-critical-path")
		})
	}
}

// BenchmarkTenthFails is what a question costs more, in seconds, when a tenth of
// the calls answer 500; the aim is under one.
func BenchmarkTenthFails(b *testing.B) {
	const latency = 20 * time.Millisecond
	run := func(b *testing.B, opts ...llmtest.Option) float64 {
		s := llmtest.Start(b, llmtest.Fixed("42", 0.9), append(opts, llmtest.Latency(latency), llmtest.Quiet())...)
		c := convene(b, sevenAt(s.URL))
		decide(b, c, council.Ask{})
		start := time.Now()
		const n = 3
		for range n {
			if o := decide(b, c, council.Ask{}); o.Status != outcome.Agreed {
				b.Fatal(o.Reason)
			}
		}
		return time.Since(start).Seconds() / n
	}
	for b.Loop() {
		without := run(b)
		with := run(b, llmtest.With(llmtest.Fraction(0.1, 1, llmtest.Status(500))))
		b.ReportMetric(with-without, "s-more")
		b.ReportMetric(without, "s-without")
	}
}

// diceCouncil is the paper's seven, simulated: 4 strong, 2 weak, one adversary.
const diceCouncil = `
protocol: {name: sac, rounds: 6}
graph: {family: complete}
f: 3
models:
  strong: {provider: simulated, ability: 0.84}
  weak: {provider: simulated, ability: 0.25}
seats:
  - {id: a, model: strong, count: 4}
  - {id: w, model: weak, count: 2}
  - {id: m, model: weak, adversary: {name: replay}}
limits: {calls: 0, tokens: 0, deadline: 0s}
`

// BenchmarkSimulated is whole SAC questions of simulated members on one core,
// without a journal: executions per second (aim: 20,000), by default and with
// nothing reused. Garbage is collected as seldom as in bench run.
func BenchmarkSimulated(b *testing.B) {
	for name, mode := range map[string]string{"default": "exact=", "exact-paper": "exact=paper",
		"no-commitments": "defences.commit=off"} {
		b.Run(name, func(b *testing.B) {
			c := convene(b, diceCouncil, mode)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			if os.Getenv("GOGC") == "" {
				defer debug.SetGCPercent(debug.SetGCPercent(300))
			}
			b.ReportAllocs()
			i := uint64(0)
			for b.Loop() {
				i++
				q := synod.Question{ID: fmt.Sprint(i), Text: "an item", Form: synod.Number}
				if _, err := c.Decide(context.Background(), council.Ask{Question: q, Seed: i}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
		})
	}
}

// BenchmarkTenThousandSeats is the memory that a council of 10,000 seats on a
// ring with two neighbours on each side has in use at its fullest, in MiB (aim:
// 1,024).
func BenchmarkTenThousandSeats(b *testing.B) {
	text := strings.NewReplacer("count: 4", "count: 9997", "{family: complete}", "{family: circulant, k: 2}", "f: 3",
		"f: 1", "rounds: 6", "rounds: 2").Replace(diceCouncil)
	for b.Loop() {
		c := convene(b, text)
		peak := peakMemory(func() {
			decide(b, c, council.Ask{Question: synod.Question{Text: "an item",
				Form: synod.Number}})
		})
		b.ReportMetric(float64(peak)/(1<<20), "MiB")
	}
}

// peakMemory samples what the process has from the system while do runs.
func peakMemory(do func()) (peak uint64) {
	done := make(chan struct{})
	result := make(chan uint64)
	go func() {
		var top uint64
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			top = max(top, m.Sys-m.HeapReleased)
			select {
			case <-done:
				result <- top
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	do()
	close(done)
	return <-result
}
