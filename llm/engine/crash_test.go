package engine

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// If the child is killed during a reply, the call returns a DiedError.
func TestKilledChild(t *testing.T) {
	c := startReal(t, nil)
	time.AfterFunc(200*time.Millisecond, func() { _ = syscall.Kill(c.Pid(), syscall.SIGKILL) })
	_, err := c.Generate(timeout(t, 5*time.Minute), endless(1500))
	var de *DiedError
	if !errors.As(err, &de) || !errors.Is(err, ErrEngineDied) || !strings.Contains(err.Error(), "killed") {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-time.After(time.Minute):
		t.Error("the process was not waited for")
	}
	if _, _, err := likelihood(c, timeout(t, time.Minute), "x", []string{"y"}); !errors.Is(err, ErrEngineDied) {
		t.Error(err)
	}
}

// A failed assertion in the library is a SIGABRT.
func TestAbortedChild(t *testing.T) {
	c := startReal(t, nil)
	if err := syscall.Kill(c.Pid(), syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Generate(timeout(t, time.Minute), Request{Prompt: "x"}); !errors.Is(err, ErrEngineDied) {
		t.Fatal(err)
	}
}

// For truncated or invalid model files, and files with wrong sizes, Start returns an error.
func TestMalformedModels(t *testing.T) {
	cfg := realConfig(t)
	f, err := os.Open(cfg.ModelPath)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 4<<20)
	if _, err := io.ReadFull(f, head); err != nil {
		t.Fatal(err)
	}
	edit := func(at int, v uint64) []byte {
		b := append([]byte{}, head...)
		binary.LittleEndian.PutUint64(b[at:], v)
		return b
	}
	for name, content := range map[string][]byte{
		"magic only":     []byte("GGUF"),
		"cut header":     head[:1000],
		"cut weights":    head,
		"zeros":          append([]byte("GGUF\x03\x00\x00\x00"), make([]byte, 1<<16)...),
		"tensor count":   edit(8, 1<<60),
		"metadata count": edit(16, 1<<60),
		"key length":     edit(24, 1<<62),
		"version":        edit(4, 0xffff),
	} {
		path := filepath.Join(t.TempDir(), "bad.gguf")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		bad := cfg
		bad.ModelPath = path
		c, err := Start(timeout(t, time.Minute), bad)
		if err == nil {
			_ = c.Close()
		}
		if !errors.Is(err, ErrModel) && !errors.Is(err, ErrEngineDied) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %v", name, err)
	}
}

func TestBadLibraries(t *testing.T) {
	cfg := realConfig(t)
	empty := t.TempDir()
	invalid := t.TempDir()
	for _, name := range []string{"libggml-base.so", "libggml.so", "libllama.so"} {
		if err := os.WriteFile(filepath.Join(invalid, name), []byte("not a library"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{empty: "no libggml-base", invalid: "libggml-base.so",
		"/no/such/dir": "/no/such/dir"} {
		bad := cfg
		bad.LibDir = dir
		if _, err := Start(timeout(t, time.Minute), bad); !errors.Is(err, ErrLibrary) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// The child ends when its parent has ended, even during a computation.
func TestChildEndsWithParent(t *testing.T) {
	c := startReal(t, nil)
	go func() { // the reply does not matter
		_, _ = c.Generate(t.Context(), Request{Prompt: strings.Repeat("word ", 1500), MaxTokens: 400})
	}()
	time.Sleep(100 * time.Millisecond)
	begin := time.Now()
	_ = c.stdin.Close() // the kernel does this when the parent ends
	select {
	case <-c.Done():
		t.Logf("ended after %v", time.Since(begin))
	case <-time.After(time.Minute):
		t.Error("the child did not end")
	}
}

// A child cannot start another child, so that a program without the command engine does not
// start children without end.
func TestChildCannotStartChild(t *testing.T) {
	t.Setenv(childMark, "1")
	file := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(file, append([]byte("GGUF"), make([]byte, 64)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Config{LibDir: t.TempDir(), ModelPath: file}); !errors.Is(err, errNested) {
		t.Errorf("a child started another child: %v", err)
	}
}
