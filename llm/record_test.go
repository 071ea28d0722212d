package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"synod.dev/synod"
)

func TestRecorder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	w, err := NewRecorder(path)
	if err != nil {
		t.Fatal(err)
	}
	m := w.Layer()(fake{Endpoint, func(_ context.Context, r Request) (synod.Reply, error) {
		if r.Sample == 3 {
			return failing(synod.Unavailable, false)
		}
		return fine("line\none \"x\"")
	}})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			r := ask(t, "6 x 7?")
			r.Sample = i
			_, _ = m.Complete(t.Context(), r)
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	seen := map[int]bool{}
	for _, line := range lines {
		var l record
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		seen[l.Trial] = true
		if l.ItemID != "q1" || l.Model != "fake" || l.Seat != "a1" || l.Question != "6 x 7?" || l.Purpose != synod.Answering || !bytes.Contains(line, []byte(`"answer":null`)) {
			t.Errorf("%s", line)
		}
		if failed := l.Trial == 3; failed != (l.Response == nil) || failed != (l.Status != synod.OK) || !failed && *l.Response != "line\none \"x\"" {
			t.Errorf("%s", line)
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d lines, trials %v", len(lines), seen)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// TestRecorderDiskFull loses no reply and says so at the end.
func TestRecorderDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	w, err := NewRecorder("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	m := w.Layer()(fake{Endpoint, func(context.Context, Request) (synod.Reply, error) { return fine("42") }})
	for range 3 {
		if reply, err := m.Complete(t.Context(), ask(t, "?")); err != nil || reply.Text != "42" {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if err := w.Close(); err == nil {
		t.Error("a full disk went unnoticed")
	}
}
