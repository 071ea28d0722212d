package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/internal/llmtest"
)

// TestMain is also the main function of the process that TestKill kills.
func TestMain(m *testing.M) {
	llmtest.ServeFast()
	dir := os.Getenv("SYNOD_LAB_WORK")
	if dir == "" {
		os.Exit(m.Run())
	}
	run, err := bench.Open(dir)
	if err == nil {
		_, err = run.Work(context.Background(), bench.Options{Parallel: 2})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// served is a council at a server whose replies depend only on the request.
const served = `protocol: {name: sac, rounds: 3}
f: 1
models:
  right: {provider: openai, model: s6, url: "$URL", concurrency: 1}
  wrong: {provider: openai, model: s5, url: "$URL", concurrency: 1}
seats:
  - {id: a, model: right, count: 3}
  - {id: w, model: wrong, count: 2}
`

// stubborn answers with the number in its model's name and scores by length.
func stubborn(c llmtest.Call) string {
	if c.Scoring() {
		return fmt.Sprintf(`{"reasoning":"","score":0.%d}`, 1+len(c.User)%8)
	}
	return `{"reasoning":"","answer":"` + strings.TrimPrefix(c.Model, "s") + `"}`
}

// A run that is killed several times gives the same report as an uninterrupted one. Only
// calls in flight at a kill are made twice (RU-2).
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := llmtest.Start(t, stubborn, llmtest.Latency(2*time.Millisecond))
	spec := strings.ReplaceAll(served, "$URL", s.URL)
	whole, killed := create(t, plan(t, spec, 12, 1)), create(t, plan(t, spec, 12, 1))
	if p := work(t, whole, 2); p.Failed > 0 {
		t.Fatalf("%+v", p)
	}
	uninterrupted := s.Count()
	kills := 0
	for done := false; !done; {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SYNOD_LAB_WORK="+killed.Dir())
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until := s.Count() + 23 + 7*kills
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for alive := true; alive; {
			select {
			case err := <-ended:
				if err != nil && !strings.Contains(err.Error(), "killed") {
					t.Fatal(err)
				}
				alive, done = false, err == nil
			case <-time.After(time.Millisecond):
				if kills < 5 && s.Count() >= until {
					cmd.Process.Kill()
					kills++
					until = 1 << 40
				}
			}
		}
	}
	inFlight := kills * 4 // for each model one call at the server and one reply not yet on disk
	t.Logf("%d kills; %d calls, %d uninterrupted", kills, s.Count()-uninterrupted, uninterrupted)
	if again := s.Count() - uninterrupted; again > uninterrupted+inFlight {
		t.Errorf("%d calls after %d kills, %d without", again, kills, uninterrupted)
	}
	if kills < 3 {
		t.Errorf("killed only %d times", kills)
	}
	got, want := reported(t, killed.Dir()), reported(t, whole.Dir())
	if n, arrived := got.Calls.Made, s.Count()-uninterrupted; n < arrived || n > arrived+inFlight {
		t.Errorf("the report counts %d calls, the server %d", n, arrived)
	}
	got.Calls.Made = want.Calls.Made
	for i := range got.Models {
		got.Models[i].Calls = want.Models[i].Calls
	}
	if text(t, got) != text(t, want) {
		t.Errorf("killed:\n%s\nwant\n%s", text(t, got), text(t, want))
	}
	if left := unfinished(t, killed); len(left) > 0 {
		t.Errorf("unfinished attempts: %v", left)
	}
}
