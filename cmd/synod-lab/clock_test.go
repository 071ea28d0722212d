package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"synod.dev/synod/bench"
	"synod.dev/synod/internal/altered"
)

var clocks = flag.Bool("clocks", false, "play TestClocks, which compiles the standard library with another clock")

// offset is the file that is added to package time: the clock of the process is wrong by some seconds, from some
// seconds after its beginning. What measures time by the monotonic clock sees nothing of it.
const offset = `package time

import "syscall"

var offset, offsetFrom = fromEnvironment("SYNOD_LAB_OFFSET"), fromEnvironment("SYNOD_LAB_OFFSET_FROM")

func fromEnvironment(name string) int64 {
	text, _ := syscall.Getenv(name)
	n, _ := atoi(text)
	return int64(n)
}

func wrong(sec, mono int64) int64 {
	if mono > offsetFrom*int64(Second) {
		sec += offset
	}
	return sec
}
`

// wrongClock builds this test binary with a time.Now that SYNOD_LAB_OFFSET changes, and makes it the program of new
// processes.
func wrongClock(t *testing.T) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	path := filepath.Join(folder, "time.go")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const before = "\tmono -= startNano\n\tsec += unixToInternal - minWall\n"
	if strings.Count(string(b), before) != 1 {
		t.Fatalf("%s is another one than this test knows", path)
	}
	changed := strings.Replace(string(b), before, before+"\tsec = wrong(sec, mono)\n", 1)
	tmp := t.TempDir()
	overlay, err := altered.Overlay(tmp, map[string]string{path: changed, filepath.Join(folder, "offset.go"): offset})
	if err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(tmp, "synod-lab.test")
	if _, err := altered.Test(overlay, ".", built); err != nil {
		t.Fatal(err)
	}
	binary = built
	t.Cleanup(func() { binary = "" })
}

// off is the environment of a process whose clock is wrong by some seconds, from some seconds after its beginning.
func off(seconds, from int) []string {
	return []string{fmt.Sprint("SYNOD_LAB_OFFSET=", seconds), fmt.Sprint("SYNOD_LAB_OFFSET_FROM=", from)}
}

const hour = 3600

// TestClocks: clocks of hub and workers are an hour ahead or behind, or are set by an hour meanwhile.
func TestClocks(t *testing.T) {
	if !*clocks {
		t.Skip("make sweep plays it")
	}
	wrongClock(t)
	t.Run("set back", func(t *testing.T) { wrongSweep(t, off(-hour, 8), nil) })
	t.Run("set forward", func(t *testing.T) { wrongSweep(t, off(hour, 8), off(-hour, 0)) })
	t.Run("limits", func(t *testing.T) {
		checkLimits(t, func(process int) []string {
			return off([]int{hour, -hour, hour, 0}[process], []int{3, 0, 0, 0}[process])
		})
	})
	t.Run("NATS", wrongNATS)
}

// wrongSweep: every question is finished once, with TLS and keys, and the table is that of one process. A worker is
// lost before the hub's clock is set, and the hub may be killed and come back with another clock.
func wrongSweep(t *testing.T, clock, next []string) {
	dir := study(t, simulated(*cellCount), 2)
	total := 2 * *cellCount
	want := alone(t, dir)
	port := freePort(t)
	address, key := "127.0.0.1:"+port, filepath.Join(dir, "run", "hub", "worker.key")
	hub := start(t, clock, "hub", filepath.Join(dir, "run"), "--listen", "0.0.0.0:"+port, "--lease", testLease)
	hub.expect("listening on", 30*time.Second)
	all := []*process{hub}
	for i, seconds := range []int{hour, -hour, 0} {
		all = append(all, runWorker(t, off(seconds, 0), dir, fmt.Sprint("w", i), address, "--key", key, "--parallel",
			"2"))
	}
	reach := func(n int) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); finishedOf(t, dir) < n; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d of %d questions:\n%s%s", finishedOf(t, dir), n, hub.output(), all[1].output())
			}
		}
	}
	reach(total / 8)
	all[3].kill() // its lease ends by the monotonic clock
	hub.expect("is silent for "+testLease, time.Minute)
	reach(total / 2)
	if next != nil {
		hub.kill()
		hub.env = next
		hub.again()
	}
	for i, p := range all[:3] {
		if code := p.code(3 * time.Minute); code != 0 {
			t.Fatalf("process %d ends with %d:\n%s", i, code, p.output())
		}
	}
	s, err := bench.ReadHubStatus(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	if wrong := time.Until(s.Written).Abs(); wrong < 50*time.Minute {
		t.Errorf("the hub's clock was wrong by %v only", wrong)
	}
	checkTable(t, dir, want, total)
	t.Logf("%d questions:\n%s", total, hub.output())
}

// wrongNATS: a NATS server judges by its own clock who may connect, so credentials that end work with every clock; the
// certificate of a server is judged by the clock of hub and worker, which say so if it is wrong.
func wrongNATS(t *testing.T) {
	dir := study(t, simulated(10), 2)
	want := alone(t, dir)
	creds := filepath.Join(dir, "user.creds")
	at := natsServer(t, credentials(t, creds)).ClientURL()
	hub := start(t, off(hour, 0), "hub", filepath.Join(dir, "run"), "--lease", testLease, "--nats", at, "--creds",
		creds)
	hub.expect("listening on", time.Minute)
	a := runWorker(t, off(hour, 0), dir, "a", at, "--creds", creds)
	b := runWorker(t, off(-hour, 0), dir, "b", at, "--creds", creds)
	for i, p := range []*process{hub, a, b} {
		if code := p.code(time.Minute); code != 0 {
			t.Errorf("process %d ends with %d:\n%s", i, code, p.output())
		}
	}
	checkTable(t, dir, want, 20)
	ca := filepath.Join(dir, "ca.pem")
	s := natsServer(t, server.Options{JetStream: true, TLS: true, TLSTimeout: 5,
		TLSConfig: authority(t, ca, 30*time.Minute)})
	at = "tls://" + s.Addr().String()
	for _, seconds := range []int{hour, -hour} {
		for _, p := range []*process{
			start(t, off(seconds, 0), "hub", filepath.Join(dir, "run"), "--nats", at, "--ca", ca),
			runWorker(t, off(seconds, 0), dir, "c", at, "--ca", ca),
		} {
			if code := p.code(time.Minute); code != exitError || !strings.Contains(p.output(), "current time") {
				t.Errorf("%v: it ends with %d:\n%s", p.args, code, p.output())
			}
		}
	}
}
