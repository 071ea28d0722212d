//go:build linux && amd64

package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/internal/faultcall"
	"synod.dev/synod/internal/nightly"
)

// faulted is a hub or a worker of which a sync fails.
type faulted struct {
	out    string // the file with what it says
	ended  chan int
	mu     sync.Mutex
	synced []string // what was synced, in this order
}

// startFaulted starts a process in which sync n fails, counted from 0; none does if n is negative.
func startFaulted(t *testing.T, n int, args ...string) *faulted {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	f := &faulted{out: out.Name(), ended: make(chan int, 1)}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=run")
	cmd.Stdout, cmd.Stderr = out, out
	go func() {
		code, err := faultcall.Run(cmd, func(c faultcall.Call) (fault faultcall.Fault) {
			if c.Name != "fsync" && c.Name != "fdatasync" {
				return fault
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if len(f.synced) == n {
				fault.Err = syscall.EIO
			}
			f.synced = append(f.synced, c.Path)
			return fault
		})
		if err != nil {
			t.Error(err)
		}
		out.Close()
		f.ended <- code
	}()
	return f
}

// code waits until the process ends.
func (f *faulted) code(t *testing.T) int {
	t.Helper()
	select {
	case code := <-f.ended:
		return code
	case <-time.After(time.Minute):
		t.Fatalf("it hangs:\n%s", f.said(t))
		return 0
	}
}

func (f *faulted) said(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(f.out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whatever sync of a hub or of a worker fails, the process says so and ends, or goes on without it; and with a hub and
// a worker that are started afterwards the sweep has the results that it has without faults. The queue is a copy, and
// SQLite says nothing of syncs of a folder: their failures may be overcome unsaid. "make nightly" tries every sync.
func TestEverySync(t *testing.T) {
	const some = 12 // of the syncs, one
	for _, role := range []string{"hub", "worker"} {
		part := rand.IntN(some)
		for n, count := -1, 1; n < count; n++ {
			if n < 0 || n%some == part || nightly.On() {
				count = max(count, failSync(t, role, n))
			}
		}
	}
}

// failSync plays a sweep in which sync n of the hub or of the worker fails, and finishes it without faults. It returns
// how many syncs there were.
func failSync(t *testing.T, role string, n int) (syncs int) {
	t.Helper()
	dir := study(t, simulated(4), 1)
	want := alone(t, dir)
	address := "127.0.0.1:" + freePort(t)
	var f *faulted
	var other *process
	if role == "hub" {
		f = startFaulted(t, n, "hub", filepath.Join(dir, "run"), "--listen", address, "--lease", testLease)
		other = runWorker(t, nil, dir, "w", address)
	} else {
		other = startHub(t, dir, address)
		f = startFaulted(t, n, "worker", "--hub", address, "--state", filepath.Join(dir, "w"), "--home",
			filepath.Join(dir, "home"))
	}
	code := f.code(t)
	said := f.said(t)
	switch missed := n < 0 || n >= len(f.synced); { // their number differs a little from run to run
	case missed && (code != 0 || len(f.synced) < 10):
		t.Fatalf("%s: exit %d after %d syncs\n%s", role, code, len(f.synced), said)
	case missed:
	case code != 0 && code != 1:
		t.Errorf("%s: exit %d when sync %d, of %s, failed\n%s", role, code, n, f.synced[n], said)
	case code == 1 && !strings.Contains(said, "input/output error") && !strings.Contains(said, "I/O error") &&
		!strings.Contains(said, "failure of the disk") && !strings.Contains(said, "error creating store"):
		t.Errorf("%s: it does not say why it ended when sync %d, of %s, failed\n%s", role, n, f.synced[n], said)
	case code == 0 && !overcome(f.synced[n]):
		t.Errorf("%s: exit 0 although sync %d, of %s, failed\n%s", role, n, f.synced[n], said)
	}
	if code != 0 { // go on, as it says
		var again *process
		if role == "hub" {
			again = startHub(t, dir, address)
		} else {
			again = runWorker(t, nil, dir, "w2", address)
		}
		if code := again.code(time.Minute); code != 0 {
			t.Fatalf("afterwards: exit %d\n%s\n%s", code, again.output(), other.output())
		}
	}
	other.kill() // a worker waits for its hub, which ends at once if all was finished
	checkTable(t, dir, want, 4)
	return len(f.synced)
}

// overcome reports whether a failed sync of a file may be unsaid: of the queue, or of a folder.
func overcome(path string) bool {
	info, err := os.Stat(path)
	return strings.Contains(path, "/hub/queue/") || err == nil && info.IsDir()
}
