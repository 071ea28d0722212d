//go:build linux && amd64

package faultcall

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain is also the program that the test traces: it makes a folder and a file in it, and syncs both.
func TestMain(m *testing.M) {
	dir := os.Getenv("SYNOD_FAULTCALL")
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := write(dir); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(3)
	}
}

func write(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		return err
	}
	done := make(chan error)
	go func() { _, err := f.WriteString("text"); done <- err }() // on another thread
	above, err := os.Open(dir)
	return errors.Join(<-done, f.Sync(), f.Close(), err, above.Sync())
}

// Every call of a program is seen, and can fail or be its last.
func TestRun(t *testing.T) {
	run := func(dir string, fault func(Call) Fault) int {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SYNOD_FAULTCALL="+dir)
		code, err := Run(cmd, fault)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	var seen []string
	dir := filepath.Join(t.TempDir(), "all")
	code := run(dir, func(c Call) Fault {
		if len(seen) != c.N || !strings.HasPrefix(c.Path, dir) {
			t.Errorf("%+v", c)
		}
		seen = append(seen, c.Name)
		return Fault{}
	})
	if got := strings.Join(seen, " "); code != 0 || got != "mkdir open write fsync fsync" {
		t.Fatalf("exit %d, %s", code, got)
	}
	for n, name := range seen {
		for _, kill := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "d")
			code := run(dir, func(c Call) Fault {
				if c.N != n {
					return Fault{}
				}
				return Fault{Err: syscall.EIO, Kill: kill}
			})
			if want := map[bool]int{false: 3, true: -1}[kill]; code != want {
				t.Errorf("%s, killed %v: exit %d", name, kill, code)
			}
			text, err := os.ReadFile(filepath.Join(dir, "f"))
			if made := n > 1; made != (err == nil) || made && n > 2 != (string(text) == "text") {
				t.Errorf("%s, killed %v: the file has %q, %v", name, kill, text, err)
			}
		}
	}
}
