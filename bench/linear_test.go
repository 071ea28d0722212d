package bench_test

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/report/inspectai"
	councilplan "synod.dev/synod/council/plan"
)

// BenchmarkReports measures what the pages and exports of a run of simulated members cost: the processor time of each,
// as a multiple of that of the run, and its peak memory in MiB. One operation is a run with all of them. At most twice
// the time and 512 MiB are promised, which are for many questions: a run of a few has costs of its own.
func BenchmarkReports(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n, " questions"), func(b *testing.B) {
			for b.Loop() {
				for name, c := range reportCosts(b, n) {
					b.ReportMetric(c.times, name+"-times")
					b.ReportMetric(c.mib, name+"-MiB")
					if n >= 10_000 && (c.times > 2 || c.mib > 512) {
						b.Errorf("%s: %.2f times the run's processor time, %.0f MiB", name, c.times, c.mib)
					}
				}
			}
		})
	}
}

// cost is what a page or an export of a run took.
type cost struct {
	times float64 // processor time, as a multiple of that of the run
	mib   float64 // peak memory
}

// reportCosts runs n questions and writes all that is written of a run.
func reportCosts(b testing.TB, n int) map[string]cost {
	b.Helper()
	spec, err := councilplan.Parse([]byte(seven))
	if err != nil {
		b.Fatal(err)
	}
	run, err := bench.Draft(bench.RunPlan{Task: "sums", Items: sums(b, n), Repeat: 1, Seed: 7, Spec: spec})
	if err == nil {
		err = run.Create(b.TempDir() + "/run")
	}
	if err != nil {
		b.Fatal(err)
	}
	whole := spent(func() { _, err = run.Work(context.Background(), bench.Options{Parallel: 1}) })
	if err != nil {
		b.Fatal(err)
	}
	costs := map[string]cost{}
	for name, write := range map[string]func(*bench.Run) error{
		"html": func(run *bench.Run) error {
			r, err := run.Report()
			if err != nil {
				return err
			}
			return r.HTML(io.Discard, report.Detail{Questions: run.Views(-1), Limit: -1})
		},
		"json": func(run *bench.Run) error { return run.Inspect(io.Discard, inspectai.JSON) },
		"eval": func(run *bench.Run) error { return run.Inspect(io.Discard, inspectai.Archive) },
	} {
		var c cost
		c.times = float64(spent(func() {
			c.mib = peak(func() {
				run, err := bench.Open(run.Dir())
				if err == nil {
					err = write(run)
				}
				if err != nil {
					b.Error(err)
				}
			})
		})) / float64(whole)
		costs[name] = c
	}
	return costs
}

// spent returns the processor time of this process while do runs.
func spent(do func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	do()
	return used() - before
}
