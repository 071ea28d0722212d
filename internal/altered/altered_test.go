package altered_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/internal/altered"
)

// TestOverlay builds tests with one changed and one added file. The source stays as it is.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "small.go")
	for path, text := range map[string]string{
		filepath.Join(dir, "go.mod"):        "module small\n\ngo 1.26\n",
		source:                              "package small\n\nfunc One() int { return 1 }\n",
		filepath.Join(dir, "small_test.go"): testOfOne,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := altered.Overlay(filepath.Join(dir, "changed"), map[string]string{
		source:                           "package small\n\nfunc One() int { return added }\n",
		filepath.Join(dir, "another.go"): "package small\n\nconst added = 2\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(dir, "small.test")
	if some, err := altered.Test(overlay, dir, output); err != nil || !some {
		t.Fatal(some, err)
	}
	p := altered.Process{Path: output, Dir: dir, Wall: time.Minute, Memory: 6 << 20}
	if r, err := p.Run(); err != nil || r.Passed || !strings.Contains(string(r.Output), "One is 2") {
		t.Errorf("%v, %v: %s", r.Passed, err, r.Output)
	}
	err = altered.Go(dir, "build", "-overlay", "none")
	if err == nil || !strings.Contains(err.Error(), "go build in") {
		t.Errorf("an overlay that is not there: %v", err)
	}
}

const testOfOne = `package small

import "testing"

func TestOne(t *testing.T) {
	if n := One(); n != 1 {
		t.Errorf("One is %d", n)
	}
}
`

// TestLimits ends processes at their limit of processor time, and at that of the clock with their children.
func TestLimits(t *testing.T) {
	for name, p := range map[string]altered.Process{
		"processor": {Path: "/bin/sh", Args: []string{"-c", "while :; do :; done"}, CPU: time.Second / 10,
			Wall: time.Minute},
		"clock": {Path: "/bin/sh", Args: []string{"-c", "sleep 100 & wait"}, Wall: 50 * time.Millisecond},
	} {
		p.Memory = 1 << 20
		if _, err := p.Run(); !errors.Is(err, altered.ErrEndless) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := altered.Process{Path: "/bin/sh", Args: []string{"-c", `echo "$X"`}, Env: []string{"X=text"}, Wall: time.Minute,
		Memory: 1 << 20}
	if r, err := p.Run(); err != nil || !r.Passed || string(r.Output) != "text\n" {
		t.Errorf("%+v, %v", r, err)
	}
}
