//go:build linux && amd64

package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/internal/faultcall"
	"synod.dev/synod/internal/nightly"
)

// faulted is a gateway of which a sync fails.
type faulted struct {
	gatewayProcess
	*testing.T
	out    string // the file with its log
	ended  chan int
	mu     sync.Mutex
	synced []string // what was synced, in this order
}

// startFaulted starts a gateway in which sync n fails, counted from 0; none does if n is negative.
func startFaulted(t *testing.T, n int, args ...string) *faulted {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	g := &faulted{T: t, out: out.Name(), ended: make(chan int, 1)}
	g.Cmd = exec.Command(os.Args[0], "-test.run", "^TestAsProgram$")
	args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
	g.Env = append(os.Environ(), "SYNOD_SERVE_TEST_ARGS="+strings.Join(args, "\n"))
	g.Stdout, g.Stderr = out, out
	go func() {
		code, err := faultcall.Run(g.Cmd, func(c faultcall.Call) (f faultcall.Fault) {
			if c.Name != "fsync" && c.Name != "fdatasync" {
				return f
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			if len(g.synced) == n {
				f.Err = syscall.EIO
			}
			g.synced = append(g.synced, c.Path)
			return f
		})
		if err != nil {
			t.Error(err)
		}
		out.Close()
		g.ended <- code
	}()
	return g
}

func (g *faulted) said() string {
	g.Helper()
	b, err := os.ReadFile(g.out)
	if err != nil {
		g.Fatal(err)
	}
	return string(b)
}

// play asks so many questions when the gateway listens, and tells it to end. It returns the statuses of the responses,
// and the exit code.
func (g *faulted) play(questions int) (statuses []int, code int) {
	g.Helper()
	for begun := time.Now(); g.url == ""; time.Sleep(5 * time.Millisecond) {
		if m := listens.FindStringSubmatch(g.said()); m != nil {
			g.url = m[1]
		}
		select {
		case code := <-g.ended:
			return nil, code
		default:
		}
		if time.Since(begun) > time.Minute {
			g.Fatal(g.said())
		}
	}
	for i := range questions {
		status, _ := g.ask("", "five", i)
		statuses = append(statuses, status)
	}
	g.mu.Lock() // it has synced, so it was started
	process := g.Process
	g.mu.Unlock()
	if err := process.Signal(syscall.SIGTERM); err != nil {
		g.Fatal(err)
	}
	return statuses, <-g.ended
}

// Whatever sync of a gateway fails, it is seen: a request is refused with 503, a line of the log says that a journal
// is not written, or the gateway fails. What was answered is in the history of the next one. SQLite says nothing of
// syncs of a folder, so each of these is followed by one that this program makes. "make nightly" tries every sync.
func TestEverySync(t *testing.T) {
	s, part := newSite(t), rand.IntN(4)
	for n, count := -1, 1; n < count; n++ {
		if n >= 0 && n%4 != part && !nightly.On() {
			continue
		}
		s.dir = t.TempDir()
		url := filepath.Join(s.dir, "serve.db")
		g := startFaulted(t, n, s.args(url)...)
		statuses, code := g.play(3)
		said, answered := g.said(), 0
		for _, status := range statuses {
			if status == 200 {
				answered++
			} else if status != 503 {
				t.Errorf("sync %d: status %d", n, status)
			}
		}
		if n < 0 || n >= len(g.synced) { // their number may differ from run to run
			if count = len(g.synced); code != 0 || answered != 3 || count < 20 {
				t.Fatalf("exit %d, %v after %d syncs\n%s", code, statuses, count, said)
			}
			continue
		}
		path, told := g.synced[n], strings.Contains(said, "input/output error") || strings.Contains(said, "I/O error")
		if again := slices.Contains(g.synced[n+1:], path); !told && !(again && path == s.dir) {
			t.Errorf("exit %d, %v, and it does not say that sync %d, of %s, has failed\n%s", code, statuses, n, path,
				said)
		}
		if code == 0 && answered == 3 && told && !strings.Contains(said, "level=ERROR msg=\"a journal") {
			t.Errorf("sync %d, of %s, failed\n%s", n, path, said)
		}
		s.sound(t, url, answered)
	}
}

// sound starts the gateway again, and checks that so many answers are in its history.
func (s *site) sound(t *testing.T, url string, answered int) {
	t.Helper()
	g := startGateway(t, "", s.args(url)...)
	g.end(syscall.SIGTERM)
	st, err := store.Open(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rows, err := st.Recent(t.Context(), 100)
	agreed := 0
	for _, r := range rows {
		if r.Status == "agreed" {
			agreed++
		}
	}
	if err != nil || agreed != answered {
		t.Errorf("%d of %d answers are in the history, %v", agreed, answered, err)
	}
}
