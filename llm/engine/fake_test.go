package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeChild is a child without libraries. Each name is a behaviour.
func fakeChild(name string) int {
	hello := func() { _ = writeFrame(os.Stdout, fromChild{Hello: &Info{Name: name, Template: "t"}}) }
	r := bufio.NewReader(os.Stdin)
	switch name {
	case "fake-silent": // sends nothing
		time.Sleep(time.Hour)
	case "fake-garbage": // sends text that is not a frame
		fmt.Println("hello, I am not a frame at all, but I am long enough to look like one")
		time.Sleep(time.Hour)
	case "fake-crash": // ends during loading
		fmt.Fprintln(os.Stderr, "GGML_ASSERT(everything) failed")
		return 134
	case "fake-stuck": // does not end when its stdin is closed
		hello()
		time.Sleep(time.Hour)
	case "fake-closed": // has closed its stdin, like a process that is ending
		_ = os.Stdin.Close()
		hello()
		time.Sleep(time.Hour)
	case "fake-crash-later": // ends at the first request
		hello()
		var m toChild
		_ = readFrame(r, &m)
		fmt.Fprintln(os.Stderr, "terminate called after throwing an instance of std::bad_alloc")
		return 3
	}
	hello()
	for { // fake-echo
		var m toChild
		if readFrame(r, &m) != nil {
			return 0
		}
		switch {
		case m.Cancel:
		case m.Generate == nil:
			_ = writeFrame(os.Stdout, fromChild{ID: m.ID, Scores: []LogProb{{Sum: -1}}, Usage: &Usage{}})
		case m.Generate.Prompt == "sleep":
		default:
			_ = writeFrame(os.Stdout, fromChild{ID: m.ID, Result: &Result{Text: m.Generate.Prompt}})
		}
	}
}

func startFake(t *testing.T, name string) (*Client, error) {
	t.Helper()
	model := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(model, []byte("GGUF"), 0o644); err != nil {
		t.Fatal(err)
	}
	within := time.Minute
	if name == "fake-silent" {
		within = 200 * time.Millisecond
	}
	c, err := Start(timeout(t, within), Config{Exe: []string{os.Args[0], name}, LibDir: "/nowhere", ModelPath: model})
	if c != nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func TestManyCallers(t *testing.T) {
	c, err := startFake(t, "fake-echo")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			want := fmt.Sprint("p", i)
			if r, err := c.Generate(timeout(t, time.Minute), Request{Prompt: want}); err != nil || r.Text != want {
				t.Errorf("%q, %v; want %q", r.Text, err, want)
			}
		})
	}
	wg.Wait()
	if _, _, err := likelihood(c, timeout(t, time.Minute), "a", []string{"b", "c"}); err == nil {
		t.Error("one score was accepted for two continuations")
	}
	if _, _, err := likelihood(c, timeout(t, time.Minute), "a", nil); !errors.Is(err, ErrRequest) {
		t.Error(err)
	}
}

func TestChildNeverStarts(t *testing.T) {
	if _, err := startFake(t, "fake-silent"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := startFake(t, "fake-garbage"); !errors.Is(err, ErrEngineDied) ||
		!strings.Contains(err.Error(), "unreadable output") {
		t.Error(err)
	}
	_, err := startFake(t, "fake-crash")
	if !errors.Is(err, ErrEngineDied) || !strings.Contains(err.Error(), "GGML_ASSERT(everything)") ||
		!strings.Contains(err.Error(), "exit status 134") {
		t.Error(err)
	}
	if _, err := Start(t.Context(), Config{Exe: []string{"/no/such/binary"}, LibDir: "x",
		ModelPath: os.Args[0]}); !errors.Is(err, ErrModel) {
		t.Error(err)
	}
}

func TestRequestCrashesChild(t *testing.T) {
	c, err := startFake(t, "fake-crash-later")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the call during the crash and one after it
		_, err = c.Generate(timeout(t, time.Minute), Request{Prompt: "x"})
		var de *DiedError
		if !errors.As(err, &de) || de.Exit != "exit status 3" || !strings.Contains(err.Error(), "bad_alloc") {
			t.Fatal(err)
		}
	}
}

// If writing to the child fails because it is ending, the error is ErrEngineDied.
func TestChildClosedStdin(t *testing.T) {
	c, err := startFake(t, "fake-closed")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err = c.Generate(timeout(t, time.Minute), Request{Prompt: "x"}); !errors.Is(err, ErrEngineDied) {
			t.Fatal(err)
		}
	}
}

func TestCloseStuckChild(t *testing.T) {
	c, err := startFake(t, "fake-stuck")
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := c.Generate(context.Background(), Request{Prompt: "x"})
		waiting <- err
	}()
	time.Sleep(50 * time.Millisecond)
	begin := time.Now()
	_ = c.Close()
	if took := time.Since(begin); took > time.Minute { // the child sleeps for an hour
		t.Errorf("Close took %v", took)
	}
	if err := <-waiting; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := c.Generate(context.Background(), Request{Prompt: "x"}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	_ = c.Close() // a second call does nothing
}

func TestCancelReturnsImmediately(t *testing.T) {
	c, err := startFake(t, "fake-echo")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := c.Generate(ctx, Request{Prompt: "sleep"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.Generate(ctx, Request{Prompt: "x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The child does not inherit API keys.
func TestChildEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("LD_LIBRARY_PATH", "/elsewhere")
	env := strings.Join(childEnv("/libs"), "\n")
	if strings.Contains(env, "sk-secret") || !strings.Contains(env, "LD_LIBRARY_PATH=/libs:/elsewhere") {
		t.Error(env)
	}
}

func TestConfigIsChecked(t *testing.T) {
	notGGUF := filepath.Join(t.TempDir(), "x.gguf")
	if err := os.WriteFile(notGGUF, []byte("GGM"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cfg  Config
		want error
	}{
		{Config{ModelPath: "m"}, ErrLibrary},
		{Config{LibDir: "l"}, ErrModel},
		{Config{LibDir: "l", ModelPath: notGGUF}, ErrModel},
		{Config{LibDir: "l", ModelPath: "/no/such/file"}, os.ErrNotExist},
		{Config{LibDir: "l", ModelPath: "m", Seqs: 1000}, nil},
		{Config{LibDir: "l", ModelPath: "m", Context: 1}, nil},
		{Config{LibDir: "l", ModelPath: "m", Threads: -1}, nil},
	} {
		if _, err := Start(t.Context(), c.cfg); err == nil || (c.want != nil && !errors.Is(err, c.want)) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
	o := Options{LibDir: "a b", ModelPath: "-m", Context: 100, Seqs: 2, Threads: 3, AnyLibrary: true, Hidden: true}
	if back, err := ParseArgs(o.args()); err != nil || back != o {
		t.Errorf("%+v was parsed as %+v, %v", o, back, err)
	}
	if _, err := ParseArgs([]string{"--unknown"}); err == nil {
		t.Error("an unknown flag was accepted")
	}
}

func TestLibraryVersions(t *testing.T) {
	for version, ok := range map[string]bool{"0.5.0": true, "0.5.0-dev": true, "0.5.1": false, "0.4.1-dev": false,
		"": false} {
		err := supported(version, Options{LibDir: "/libs"})
		if (err == nil) != ok || (err != nil && (!errors.Is(err, ErrLibrary) ||
			!strings.Contains(err.Error(), "/libs"))) {
			t.Errorf("%q: %v", version, err)
		}
		if err := supported(version, Options{AnyLibrary: true}); err != nil {
			t.Errorf("%q with AnyLibrary: %v", version, err)
		}
	}
}

// Truncated and oversized frames and invalid JSON are errors and cause no panic. A message
// that was read can be written and read again.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x09{\"id\":1}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m fromChild
		if readFrame(bytes.NewReader(raw), &m) != nil {
			return
		}
		var b bytes.Buffer
		var back fromChild
		if err := errors.Join(writeFrame(&b, m), readFrame(&b, &back)); err != nil || back.ID != m.ID {
			t.Fatal(err)
		}
	})
}

func TestTail(t *testing.T) {
	var tl tail
	for i := range 100 {
		fmt.Fprintf(&tl, "line %d\npart", i)
		fmt.Fprint(&tl, "\n")
	}
	fmt.Fprint(&tl, strings.Repeat("x", 10_000))
	got := tl.last(3)
	if len(got) != 3 || len(got[0]) > tailWidth+8 {
		t.Errorf("%d lines, the first of %d bytes", len(got), len(got[0]))
	}
	if len(tl.last(100)) > tailLines+1 {
		t.Error("more than tailLines lines are kept")
	}
}
