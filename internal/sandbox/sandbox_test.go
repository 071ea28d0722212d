package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// need skips a test where bubblewrap cannot run.
func need(t *testing.T) {
	t.Helper()
	if err := Usable(Command{Argv: []string{"true"}}); err != nil {
		t.Skipf("NOT TESTED: the sandbox of checks: %v", err)
	}
}

func shell(script string) Command { return Command{Argv: []string{"sh", "-c", script}} }

func TestRun(t *testing.T) {
	need(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte("red\nblue\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	for name, c := range map[string]struct {
		script, input string
		want          Result
	}{
		"passes":   {"grep -qx 42", "42", Result{Passed: true}},
		"mount":    {`grep -qxf /check/list`, "blue", Result{Passed: true}},
		"question": {`grep -q primes /question`, "", Result{Passed: true}},
		"reason":   {`echo "too  small"; echo more; exit 1`, "1", Result{Line: "too  small"}},
		"silent":   {"exit 3", "", Result{Line: "the program ended with exit status 3"}},
		"no shell": {"no-such-program", "", Result{Line: "sh: 1: no-such-program: not found"}},
	} {
		got, err := Run(t.Context(), Command{Argv: []string{"sh", "-c", c.script}, Input: c.input, Mount: dir,
			Question: "How many primes?"})
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := Run(t.Context(), Command{Argv: []string{"no-such"}}); err != nil || got.Passed {
		t.Errorf("no program: %+v, %v", got, err)
	}
}

// open lets everybody search the folders above one, which a test of root has made for root alone.
func open(t *testing.T, dir string) {
	t.Helper()
	for ; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAttempts tries to leave the sandbox or to exhaust the machine: each attempt fails, and the error says how.
func TestAttempts(t *testing.T) {
	need(t)
	secret := t.TempDir()
	open(t, secret)
	if err := os.WriteFile(filepath.Join(secret, "secret"), []byte("s3cret"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SYNOD_TEST_SECRET", "s3cret")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	// Each script prints "escaped" if it succeeds, and passes then.
	for _, a := range []struct{ name, script, want string }{
		{"network", fmt.Sprintf(`bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d' && echo escaped`, port),
			"refused|unreachable"},
		{"passwords", `cat /etc/passwd && echo escaped`, "No such file"},
		{"home folder", `ls ` + home(t) + ` && echo escaped`, "No such file"},
		{"file of the user", `cat ` + secret + `/secret && echo escaped`, "No such file"},
		{"write outside", `echo x >/usr/x || echo x >/check.sh || echo x >/dev/x && echo escaped`,
			"Read-only|directory"},
		{"symlink", `ln -s ` + secret + ` /tmp/l && cat /tmp/l/secret && echo escaped`, "No such file"},
		{"symlink of a process", `cat /proc/1/root` + secret + `/secret && echo escaped`, "No such file|denied"},
		{"environment", `env | grep -q SECRET && echo escaped || { echo no secret; false; }`, "no secret"},
		{"environment of the parent",
			`tr '\0' '\n' </proc/1/environ | grep SECRET && echo escaped || { echo none; false; }`,
			"none|denied"},
		{"signal to the parent", fmt.Sprintf(`kill -9 %d && echo escaped`, os.Getpid()), "No such process"},
		{"another namespace", `unshare -Ur true && echo escaped`, "unshare"},
		{"mount", `mount -t tmpfs none /tmp && echo escaped`, "mount"},
		{"memory of no process",
			`python3 -c 'import os; os.memfd_create("x"); print("escaped")' 2>&1 | tail -n 1; exit 1`,
			"not permitted|not found"},
		{"shared segment", `ipcmk -M 1000000000 && echo escaped`, "not permitted"},
		{"fork bomb", `f() { f | f & f; }; f`, "processes|fork|did not end"},
		{"memory", `tail /dev/zero && echo escaped`, "memory"},
		{"memory of many", `for i in 1 2 3 4 5 6 7 8; do tail -c 30M /dev/zero >/dev/null & done; ` +
			`for i in 1 2 3 4 5 6 7 8; do head -c 40M /dev/zero | sort -S 60M >/dev/null & done; wait; echo escaped`,
			"memory|did not end"},
		{"files", `head -c 1G /dev/zero >/tmp/a && echo escaped`, "too large|No space|limit"},
		{"many files", `for i in 1 2 3 4; do head -c 9M /dev/zero >/tmp/$i || exit 1; done; echo escaped`, "No space"},
		{"shared memory", `head -c 1M /dev/zero >/dev/shm/a && echo escaped`, "Read-only|cannot create"},
		{"endless output", `yes`, "wrote more than 64 KiB"},
		{"endless time", `sleep 1000`, "did not end within 1s"},
		{"endless work", `while :; do :; done`, "did not end within 1s"},
		{"child that stays", `(sleep 1000 &) ; sleep 1000`, "did not end within 1s"},
	} {
		t.Run(a.name, func(t *testing.T) {
			begun := time.Now()
			got, err := Run(t.Context(), Command{Argv: []string{"sh", "-c", a.script}, Within: time.Second, Memory: 64})
			said := got.Line
			if err != nil {
				said = err.Error()
			}
			if got.Passed || strings.Contains(said, "escaped") || !containsOne(said, a.want) {
				t.Errorf("%+v, %v; want %s", got, err, a.want)
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			t.Log(said)
		})
	}
}

func containsOne(s, of string) bool {
	for want := range strings.SplitSeq(of, "|") {
		if strings.Contains(s, want) {
			return true
		}
	}
	return false
}

func home(t *testing.T) string {
	t.Helper()
	dir, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	return dir
}

// A question that ends stops the program, and nothing of it stays.
func TestStop(t *testing.T) {
	need(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	mark := fmt.Sprintf("%d.25", 3000+os.Getpid())
	_, err := Run(ctx, shell("sleep "+mark+" & sleep "+mark))
	if err == nil || !strings.Contains(err.Error(), "the question has ended") {
		t.Error(err)
	}
	for range 100 {
		if !alive(t, mark) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("a process has stayed")
}

// alive reports whether a process has a text among its arguments.
func alive(t *testing.T, mark string) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), mark) {
			return true
		}
	}
	return false
}

// What cannot run is told before any answer is checked, so that no member is blamed for it.
func TestUsable(t *testing.T) {
	need(t)
	for want, c := range map[string]Command{
		"no program no-such":  {Argv: []string{"no-such"}},
		"Can't find source":   {Argv: []string{"true"}, Mount: "/no/such/folder"},
		"no program /check/x": {Argv: []string{"/check/x"}, Mount: "/usr"},
	} {
		if err := Usable(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %s", c, err, want)
		}
	}
	t.Setenv("PATH", "")
	if err := Usable(Command{Argv: []string{"false"}}); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("without bubblewrap: %v", err)
	}
}
