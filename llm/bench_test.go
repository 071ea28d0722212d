package llm

import (
	"sync"
	"testing"
	"time"

	"synod.dev/synod/llm/llmtest"
)

// BenchmarkCall is what one call costs beyond the server's time: client and stub
// together, in this process.
//
//	go test -bench 'Call|Stage' -run - ./llm
func BenchmarkCall(b *testing.B) {
	m, _ := stub(b, nil, llmtest.Quiet())
	r := ask(b, "6 x 7?")
	for name, model := range map[string]Model{"bare": m, "standard": Standard(m, Options{Account: NewAccount(), Limit: LimitConfig{Concurrency: 64}, Budget: NewBudget(0, 1<<60)})} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := model.Complete(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStage is a stage of a SAC round: 49 calls at once to a server with a
// fixed latency. The ratio is the wall time of the stage over that latency.
func BenchmarkStage(b *testing.B) {
	for _, latency := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		b.Run(latency.String(), func(b *testing.B) {
			m, _ := stub(b, nil, llmtest.Quiet(), llmtest.Latency(latency))
			stack := Standard(m, Options{Account: NewAccount(), Limit: LimitConfig{Concurrency: 64}})
			r := ask(b, "6 x 7?")
			stage := func() {
				var wg sync.WaitGroup
				for range 49 {
					wg.Go(func() {
						if _, err := stack.Complete(b.Context(), r); err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
			}
			stage() // opens the connections
			begun, n := time.Now(), 0
			for b.Loop() {
				stage()
				n++
			}
			b.ReportMetric(float64(time.Since(begun))/float64(n)/float64(latency), "ratio")
		})
	}
}
