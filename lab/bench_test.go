package lab_test

import (
	"context"
	"testing"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
)

// BenchmarkRun puts simulated questions to seven seats, with journals, and reports
// them: one operation is one question.
func BenchmarkRun(b *testing.B) {
	spec, err := council.Parse([]byte(seven))
	if err != nil {
		b.Fatal(err)
	}
	run, err := lab.Draft(lab.Plan{Task: "sums", Items: sums(b, b.N), Repeat: 1, Seed: 7, Spec: spec})
	if err != nil {
		b.Fatal(err)
	}
	if err := run.Create(b.TempDir() + "/run"); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if _, err := run.Work(context.Background(), lab.Options{Parallel: 8}); err != nil {
		b.Fatal(err)
	}
	if r, err := run.Report(); err != nil || r.Finished != b.N {
		b.Fatal(r, err)
	}
}
