package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
)

// BenchmarkAsk starts the program on a council of seven at a stub server and
// measures, in milliseconds from its start, when the first call arrives (aim:
// 50), and the memory it had at most, in MiB.
func BenchmarkAsk(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "synod")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var first atomic.Int64
	s := llmtest.Start(b, func(c llmtest.Call) string {
		first.CompareAndSwap(0, time.Now().UnixNano())
		return stubborn(c)
	})
	file := filepath.Join(b.TempDir(), "seven.yaml")
	text := fmt.Sprintf("models: {m: {provider: openai, url: %q, model: s42}}\nseats: [{id: a, model: m, count: 7}]\nf: 3\n", s.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	var wait time.Duration
	var peak int64
	for b.Loop() {
		first.Store(0)
		cmd := exec.Command(bin, "-q", "ask", "--home", b.TempDir(), "-c", file, "What is 17 + 25?")
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		wait += time.Duration(first.Load() - start.UnixNano())
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(float64(wait.Milliseconds())/float64(b.N), "ms-to-first-call")
	b.ReportMetric(float64(peak)/1024, "MiB")
}
