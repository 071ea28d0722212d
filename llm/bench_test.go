package llm

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
)

// fastStub starts a server with little cost of its own and returns a client of it.
func fastStub(b *testing.B, latency time.Duration) (*OpenAI, *llmtest.Fast) {
	b.Helper()
	s := llmtest.StartFast(b, latency, "42", 0.9)
	m, err := NewOpenAI(OpenAIConfig{URL: s.URL, Model: "stub", Key: NewSecret(canary)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close() })
	return m, s
}

// BenchmarkCall measures the processor time of a call among many concurrent ones:
// of the client, bare and with all layers (aim: 60 µs), and of the server. Calls in
// sequence would measure how long two processes take to wake each other.
//
//	go test -bench 'Call|Stage' -run - ./llm
func BenchmarkCall(b *testing.B) {
	r := ask(b, "6 x 7?")
	r.Budget = NewBudget(0, 1<<60)
	ctx := b.Context()
	for _, name := range []string{"bare", "standard"} {
		b.Run(name, func(b *testing.B) {
			bare, s := fastStub(b, 0)
			m := Model(bare)
			if name == "standard" {
				m = standard(m, testLayers{limits: limits{concurrency: 64}})
			}
			b.ReportAllocs()
			before := llmtest.Spent()
			b.SetParallelism(49) // for each processor
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if _, err := m.Complete(ctx, r); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64((llmtest.Spent()-before).Microseconds())/float64(b.N), "own-µs/op")
			b.ReportMetric(float64(s.Close().Microseconds())/float64(b.N), "server-µs/op")
		})
	}
}

// canned is a transport with a fixed reply.
type canned struct{ wire []byte }

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(c.wire)),
		Body: io.NopCloser(bytes.NewReader(c.wire))}, nil
}

// BenchmarkOwn measures a call without HTTP: rendering, JSON both ways, and all
// layers (aim: 10 µs).
func BenchmarkOwn(b *testing.B) {
	bare, err := NewOpenAI(OpenAIConfig{URL: "http://127.0.0.1:9/v1", Model: "stub"})
	if err != nil {
		b.Fatal(err)
	}
	bare.transport = &http.Transport{}
	bare.transport.(*http.Transport).RegisterProtocol("http", canned{[]byte(`{"id":"x","object":"chat.completion",` +
		`"created":1,"model":"stub","choices":[{"index":0,"message":{"role":"assistant",` +
		`"content":"{\"reasoning\":\"It is so.\",\"answer\":\"42\"}"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":90,"completion_tokens":20,"total_tokens":110}}`)})
	m := standard(bare, testLayers{limits: limits{concurrency: 64}})
	ctx := b.Context()
	r := ask(b, "6 x 7?")
	r.Budget = NewBudget(0, 1<<60)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Complete(ctx, r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStage measures a stage of a SAC round: concurrent calls to a server with
// a fixed latency. The ratio is the wall time of the stage over that latency.
func BenchmarkStage(b *testing.B) {
	for _, latency := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		for name, calls := range map[string]int{"7 calls": 7, "49 calls": 49} {
			b.Run(latency.String()+"/"+name, func(b *testing.B) {
				bare, _ := fastStub(b, latency)
				m := standard(bare, testLayers{limits: limits{concurrency: 64}})
				r := ask(b, "6 x 7?")
				stage := func() {
					var wg sync.WaitGroup
					for range calls {
						wg.Go(func() {
							if _, err := m.Complete(b.Context(), r); err != nil {
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
}

// BenchmarkQuestion makes the calls of a question of SAC with seven members and
// six rounds, stage by stage (1 of 7 calls, then 49 and 7 in turn), to a server
// that fails a tenth of its calls, and to one that fails none.
func BenchmarkQuestion(b *testing.B) {
	const latency = 20 * time.Millisecond
	for name, behave := range map[string]llmtest.Behaviour{"well": llmtest.OK(),
		"a tenth 500": llmtest.Fraction(0.1, 1, llmtest.Status(500))} {
		b.Run(name, func(b *testing.B) {
			bare, _ := stub(b, nil, llmtest.Quiet(), llmtest.Latency(latency), llmtest.With(behave))
			m := standard(bare, testLayers{limits: limits{concurrency: 64}})
			r := ask(b, "6 x 7?")
			for b.Loop() {
				for stage := range 13 {
					var wg sync.WaitGroup
					for range 7 + 42*(stage%2) {
						wg.Go(func() {
							if _, err := m.Complete(b.Context(), r); err != nil {
								b.Error(err)
							}
						})
					}
					wg.Wait()
				}
			}
		})
	}
}
