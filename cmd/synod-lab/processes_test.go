package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/cmd/cli"
)

// asProgram in the environment makes the test binary the program; it may be the version that it says it is.
const asProgram = "SYNOD_LAB_TEST"

func TestMain(m *testing.M) {
	if v := os.Getenv(asProgram); v != "" {
		if v != "run" {
			version = v
		}
		main()
		return
	}
	testscript.Main(m, map[string]func(){"synod": cli.Main, "synod-lab": main})
}

// TestScripts runs testdata/*.txt, where synod and synod-lab lie beside each other. $HUB is a free address.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HUB", "127.0.0.1:"+freePort(t))
			e.Setenv("SYNOD_HOME", filepath.Join(e.WorkDir, "home"))
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

var (
	cellCount = flag.Int("cells", 120, "cells of TestKilled")
	killCount = flag.Int("kills", 4, "kills in TestKilled")
	lostTime  = flag.Duration("lost", 5*time.Second, "how long the hub is lost in TestHubLost")
)

// study makes the folder of a grid of a manifest with questions in a file.
func study(t *testing.T, text string, questions int) string {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for i := range questions {
		fmt.Fprintf(&lines, `{"id": "q%d", "question": "How much is %d + %d?", "answer": "%d"}`+"\n", i, i, i, 2*i)
	}
	for name, content := range map[string]string{"study.yaml": text, "q.jsonl": lines.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := manifest.Load(filepath.Join(dir, "study.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run", "alone"} {
		grid, err := m.Draft(manifest.Options{Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := grid.Update(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// simulated is a manifest with a cell for each seed.
func simulated(cells int) string {
	var seeds []string
	for i := range cells {
		seeds = append(seeds, fmt.Sprint(i+1))
	}
	return `experiment: sweep
base:
  task: q.jsonl
  f: 1
  protocol: {name: sac, rounds: 2}
  models: {dice: {provider: simulated, ability: 0.7}}
  seats: [{id: a, model: dice, count: 5}]
axes: {seed: [` + strings.Join(seeds, ", ") + "]}\n"
}

// process is synod-lab in a process of its own.
type process struct {
	t    *testing.T
	args []string
	env  []string
	cmd  *exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
	done chan struct{}
}

func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, args: args, env: env}
	p.again()
	t.Cleanup(func() { p.kill() })
	return p
}

// binary is the program of new processes; "": this test binary.
var binary string

// again starts the same process again.
func (p *process) again() {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command(cmp.Or(binary, self), p.args...)
	p.cmd.Env = append(append(os.Environ(), asProgram+"=run"), p.env...)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	cmd, done := p.cmd, make(chan struct{})
	p.done = done
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
}

// Write keeps what the process says.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// kill ends the process with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	_ = p.cmd.Process.Kill()
	<-p.done
}

// code waits until the process ends.
func (p *process) code(within time.Duration) int {
	p.t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		p.t.Fatalf("%v has not ended after %v:\n%s", p.args, within, p.output())
		return 0
	}
}

// expect waits until the process has said something.
func (p *process) expect(text string, within time.Duration) {
	p.t.Helper()
	for end := time.Now().Add(within); !strings.Contains(p.output(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%v has not said %q:\n%s", p.args, text, p.output())
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// testLease is short, so that tests see leases end.
const testLease = "3s"

func startHub(t *testing.T, dir, listen string, more ...string) *process {
	t.Helper()
	args := []string{"hub", filepath.Join(dir, "run"), "--listen", listen, "--lease", testLease}
	return start(t, nil, append(args, more...)...)
}

func runWorker(t *testing.T, env []string, dir, name, hub string, more ...string) *process {
	t.Helper()
	return start(t, env, append([]string{"worker", "--hub", hub, "--state", filepath.Join(dir, name), "--home",
		filepath.Join(dir, "home")}, more...)...)
}

// table returns the report of a folder without what differs between two runs with the same results.
func tableOf(t *testing.T, dir string) string {
	t.Helper()
	grid, err := bench.OpenGrid(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := grid.Report()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	b, err = json.MarshalIndent(timeless(all), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// timeless leaves out the times by the clock.
func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"seconds", "times", "overtime"} {
			delete(v, k)
		}
		for k := range v {
			v[k] = timeless(v[k])
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	}
	return v
}

// alone does the same work in this process, without a hub.
func alone(t *testing.T, dir string) string {
	t.Helper()
	grid, err := bench.OpenGrid(filepath.Join(dir, "alone"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := grid.Work(t.Context(), bench.Options{Program: "test", Parallel: 2}); err != nil {
		t.Fatal(err)
	}
	return tableOf(t, filepath.Join(dir, "alone"))
}

// finishedOf returns how many questions the hub has finished, as it writes.
func finishedOf(t *testing.T, dir string) int {
	t.Helper()
	s, err := bench.ReadHubStatus(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return 0
	}
	return s.Finished
}

// TestKilled: hub and workers are killed with SIGKILL again and again, once the queue is deleted as well; every cell is
// there once, and the table is that of one process.
func TestKilled(t *testing.T) {
	dir := study(t, simulated(*cellCount), 2)
	total := 2 * *cellCount
	want := alone(t, dir)
	address := "127.0.0.1:" + freePort(t)
	began := time.Now()
	hub := startHub(t, dir, address)
	all := []*process{hub}
	for i := range 3 {
		all = append(all, runWorker(t, nil, dir, fmt.Sprint("w", i), address, "--parallel", "2"))
	}
	for k := range *killCount {
		for at := (k + 1) * total / (*killCount + 2); finishedOf(t, dir) < at; time.Sleep(10 * time.Millisecond) {
			select {
			case <-hub.done:
				t.Fatalf("the hub has ended before kill %d:\n%s", k, hub.output())
			default:
			}
		}
		victim := all[[]int{0, 1, 2, 0, 3, 1}[k%6]]
		victim.kill()
		if k%6 == 3 { // the queue is only a copy
			if err := os.RemoveAll(filepath.Join(dir, "run", "hub", "queue")); err != nil {
				t.Fatal(err)
			}
		}
		victim.again()
	}
	if code := hub.code(10 * time.Minute); code != 0 {
		t.Fatalf("the hub ends with %d:\n%s", code, hub.output())
	}
	took := time.Since(began)
	for _, w := range all[1:] {
		if code := w.code(time.Minute); code != 0 {
			t.Errorf("a worker ends with %d:\n%s", code, w.output())
		}
	}
	checkTable(t, dir, want, total)
	t.Logf("%d cells, %d questions over 3 workers, %d kills: %v", *cellCount, total, *killCount,
		took.Round(time.Second))
}

// checkTable compares the table of the workers with that of one process.
func checkTable(t *testing.T, dir, want string, total int) {
	t.Helper()
	if got := tableOf(t, filepath.Join(dir, "run")); got != want {
		x, y := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(x), len(y)) {
			if x[i] != y[i] {
				t.Fatalf("line %d of the table is %s; one process has %s", i, x[i], y[i])
			}
		}
		t.Fatalf("the table has %d lines, that of one process %d", len(x), len(y))
	}
	grid, err := bench.OpenGrid(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	states, err := grid.States()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, s := range states {
		if sum += s.Finished; s.Finished != s.Total {
			t.Errorf("cell %s: %d of %d", s.Cell, s.Finished, s.Total)
		}
	}
	if sum != total {
		t.Errorf("%d questions are finished, not %d", sum, total)
	}
}

// TestSameCells: cells with the same run are all played, as without a hub.
func TestSameCells(t *testing.T) {
	dir := study(t, strings.Replace(simulated(2), "axes: {", "axes: {called: {x: {}, y: {}, z: {}}, ", 1), 2)
	want := alone(t, dir)
	address := "127.0.0.1:" + freePort(t)
	hub := startHub(t, dir, address)
	w := runWorker(t, nil, dir, "w", address)
	if a, b := hub.code(time.Minute), w.code(time.Minute); a != 0 || b != 0 {
		t.Fatalf("exit codes %d and %d:\n%s\n%s", a, b, hub.output(), w.output())
	}
	checkTable(t, dir, want, 12)
}
