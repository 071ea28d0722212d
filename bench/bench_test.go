package bench_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod/bench"
	councilplan "synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// BenchmarkRun asks seven simulated members, writes journals and reports the run. One
// operation is one question.
func BenchmarkRun(b *testing.B) {
	spec, err := councilplan.Parse([]byte(seven))
	if err != nil {
		b.Fatal(err)
	}
	run, err := bench.Draft(bench.RunPlan{Task: "sums", Items: sums(b, b.N), Repeat: 1, Seed: 7, Spec: spec})
	if err != nil {
		b.Fatal(err)
	}
	if err := run.Create(b.TempDir() + "/run"); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if _, err := run.Work(context.Background(), bench.Options{Parallel: 8}); err != nil {
		b.Fatal(err)
	}
	if r, err := run.Report(); err != nil || r.Finished != b.N {
		b.Fatal(r, err)
	}
}

// BenchmarkAtOnce asks 30 questions in parallel of seven seats with exact: paper and
// T=6, at a server with 100 ms latency. Without a limit, "of-least" is the wall time
// divided by the critical path of one question, which is 13 calls (aim: 1.15). With a
// limit of 64 calls it is the wall time divided by calls × latency / 64 (aim: 1.05). CPU
// seconds of this process and of the server, including its start, are reported too.
func BenchmarkAtOnce(b *testing.B) {
	const questions, latency, depth = 30, 100 * time.Millisecond, 1 + 2*6
	for _, concurrency := range []int{0, 64} {
		b.Run(fmt.Sprint("concurrency ", concurrency), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := llmtest.StartFast(b, latency, "42", 0.9)
				spec, err := councilplan.Parse(fmt.Appendf(nil,
					`{protocol: {name: sac, rounds: 6}, exact: paper, f: 3, seats: [{id: a, model: m, count: 7}],
  models: {m: {provider: openai, url: %q, model: m42, timeout: 60s, concurrency: %d}},
  limits: {calls: 0, tokens: 0, deadline: 5m}}`, s.URL, concurrency))
				if err != nil {
					b.Fatal(err)
				}
				run, err := bench.Draft(bench.RunPlan{Task: "sums", Items: sums(b, questions), Repeat: 1,
					Seed: 7, Spec: spec})
				if err == nil {
					err = run.Create(b.TempDir() + "/run")
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				begun, before := time.Now(), llmtest.Spent()
				p, err := run.Work(context.Background(), bench.Options{Parallel: questions})
				wall := time.Since(begun)
				if err != nil || p.Finished != questions || s.Count() != questions*343 {
					b.Fatal(p, s.Count(), err)
				}
				least := depth * latency
				if concurrency > 0 {
					least = time.Duration(s.Count()) * latency / time.Duration(concurrency)
				}
				b.ReportMetric(float64(wall)/float64(least), "of-least")
				b.ReportMetric((llmtest.Spent() - before).Seconds(), "own-cpu-s")
				b.ReportMetric(s.Close().Seconds(), "server-cpu-s")
			}
		})
	}
}

// BenchmarkAtOnceBare makes the same number of calls with the same depth as the unlimited
// case of BenchmarkAtOnce, but only with net/http, as a lower bound.
func BenchmarkAtOnceBare(b *testing.B) {
	const questions, latency, depth = 30, 100 * time.Millisecond, 1 + 2*6
	body := `{"model":"m42","messages":[{"role":"user","content":"` + strings.Repeat("How much? ", 60) + `"}]}`
	for b.Loop() {
		b.StopTimer()
		s := llmtest.StartFast(b, latency, "42", 0.9)
		pool := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: questions * 49}
		b.StartTimer()
		begun, before := time.Now(), llmtest.Spent()
		var all sync.WaitGroup
		for range questions {
			all.Go(func() {
				for stage := range depth {
					var wait sync.WaitGroup
					for range 7 + 42*(stage%2) {
						wait.Go(func() { post(b, pool, s.URL+"/chat/completions", body) })
					}
					wait.Wait()
				}
			})
		}
		all.Wait()
		b.ReportMetric(float64(time.Since(begun))/float64(depth*latency), "of-least")
		b.ReportMetric((llmtest.Spent() - before).Seconds(), "own-cpu-s")
		pool.CloseIdleConnections()
		b.ReportMetric(s.Close().Seconds(), "server-cpu-s")
	}
}

func post(b *testing.B, pool *http.Transport, url, body string) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	res, err := pool.RoundTrip(req)
	if err != nil {
		b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
}
