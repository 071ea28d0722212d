package bench_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"synod.dev/synod/bench"
	councilplan "synod.dev/synod/council/plan"
)

// BenchmarkMemory measures the peak memory of a run and of its report in MiB, for few
// questions and for a hundred times as many. Questions and the history of their attempts
// are kept in memory, about 500 bytes each; journals, answers and grades are not.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{200, 20_000} {
		b.Run(fmt.Sprint(n, " questions"), func(b *testing.B) {
			spec, err := councilplan.Parse([]byte(seven))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				run, err := bench.Draft(bench.RunPlan{Task: "sums", Items: sums(b, n), Repeat: 1, Seed: 7, Spec: spec})
				if err == nil {
					err = run.Create(b.TempDir() + "/run")
				}
				if err != nil {
					b.Fatal(err)
				}
				dir := run.Dir()
				run = nil
				work := peak(func() {
					run, err := bench.Open(dir)
					if err == nil {
						_, err = run.Work(context.Background(), bench.Options{Parallel: 8})
					}
					if err != nil {
						b.Error(err)
					}
				})
				report := peak(func() {
					run, err := bench.Open(dir)
					if err != nil {
						b.Error(err)
						return
					}
					if r, err := run.Report(); err != nil || r.Finished != n {
						b.Error(r, err)
					}
				})
				b.ReportMetric(work, "run-MiB")
				b.ReportMetric(report, "report-MiB")
			}
		})
	}
}

// peak samples the memory of the process while do runs, and returns the maximum in MiB.
func peak(do func()) float64 {
	debug.FreeOSMemory()
	done, top := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.Sys-m.HeapReleased)
			select {
			case <-done:
				top <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	do()
	close(done)
	return float64(<-top) / (1 << 20)
}
