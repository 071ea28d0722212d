package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/internal/nightly"
)

func newTestRecorder(t *testing.T, path string) *Recorder {
	t.Helper()
	w, err := NewRecorder(path)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestRecorder: answers become rows with a trial each; scores, refinements,
// typed replies and failures do not. A recording goes on after a crash.
func TestRecorder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	for run := range 2 {
		w := newTestRecorder(t, path)
		m := w.layer()(fake{Endpoint, func(_ context.Context, r Request) (synod.Reply, error) {
			if r.Seat == "down" {
				return failing(synod.Unavailable, false)
			}
			return fine("line\none \"x\" of " + r.Seat)
		}})
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				r := ask(t, "6 x 7?")
				r.Seat = fmt.Sprint(run*10 + i)
				_, _ = m.Complete(t.Context(), r)
				r.Prompt.Purpose = synod.Scoring
				_, _ = m.Complete(t.Context(), r)
			})
		}
		wg.Wait()
		r := ask(t, "6 x 7?")
		r.Seat = "down"
		_, _ = m.Complete(t.Context(), r)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		tearTail(t, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(b, []byte("\n"))
	trials, seats := map[int]bool{}, map[string]bool{}
	for _, line := range lines[:len(lines)-1] {
		var l record
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		trials[l.Trial], seats[l.Seat] = true, true
		if l.ItemID != "q1" || l.Model != "fake" || l.Question != "6 x 7?" ||
			l.Response != "line\none \"x\" of "+l.Seat ||
			!bytes.Contains(line, []byte(`"answer":null,"confidence":null`)) {
			t.Errorf("%s", line)
		}
	}
	if len(lines) != 21 || len(trials) != 20 || len(seats) != 20 || !trials[0] || !trials[19] {
		t.Errorf("%d lines, trials %v, seats %v", len(lines), trials, seats)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// tearTail leaves half a line, as a crash may.
func tearTail(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"benchmark":"","item_id":"q1","mod`)
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
}

func TestRecorderLeavesOtherFilesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	for _, diary := range []string{"dear diary\n", "dear diary", `{"mood":1}` + "\n", `{"mood":1}`} {
		if err := os.WriteFile(path, []byte(diary), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewRecorder(path); err == nil {
			t.Errorf("took %q for a recording", diary)
		}
		if b, _ := os.ReadFile(path); string(b) != diary {
			t.Errorf("%q now reads %q", diary, b)
		}
	}
}

// TestRecorderDiskFull: a full disk loses no reply, and Close returns an error.
// Two processes cannot record into one file.
func TestRecorderLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	w := newTestRecorder(t, path)
	if _, err := NewRecorder(path); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a second recorder: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := newTestRecorder(t, path).Close(); err != nil {
		t.Error(err)
	}
}

func TestRecorderDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	w := newTestRecorder(t, "/dev/full")
	m := w.layer()(fake{Endpoint, func(context.Context, Request) (synod.Reply, error) { return fine("42") }})
	for range 3 {
		if reply, err := m.Complete(t.Context(), ask(t, "?")); err != nil || reply.Text != "42" {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if err := w.Close(); err == nil {
		t.Error("a full disk went unnoticed")
	}
}

// TestRecorderIsReplayed reads with the recorded provider what was written.
func TestRecorderIsReplayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	w := newTestRecorder(t, path)
	n := 0
	m := w.layer()(fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
		n++
		return fine(fmt.Sprintf("Answer: %d", n))
	}})
	named, typed := ask(t, "6 x 7?"), ask(t, "8 x 9?")
	typed.Prompt.Question.ID = ""
	for range 2 {
		_, _ = m.Complete(t.Context(), named)
		_, _ = m.Complete(t.Context(), typed)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m = openRecording(t, recordedConfig{Path: path, Model: "fake"})
	for sample, want := range []string{"Answer: 1 Answer: 2", "Answer: 3 Answer: 4"} {
		named.Sample, typed.Sample = sample, sample
		a, err := m.Complete(t.Context(), named)
		b, err2 := m.Complete(t.Context(), typed)
		if err != nil || err2 != nil || a.Text+" "+b.Text != want {
			t.Errorf("%q and %q, %v, %v", a.Text, b.Text, err, err2)
		}
	}
}

// A change of a recording is refused, or a line is lost whose replies are missing then; no other reply is replayed.
func TestDamagedRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	w := newTestRecorder(t, path)
	m := w.layer()(fake{Endpoint, func(_ context.Context, r Request) (synod.Reply, error) {
		return fine("Answer: 42 for " + r.Prompt.Question.Text)
	}})
	requests := []Request{ask(t, "6 x 7?"), ask(t, "8 x 9?")}
	requests[1].Prompt.Question.ID = "other"
	for range 3 {
		for _, r := range requests {
			_, _ = m.Complete(t.Context(), r)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	replies := func() (text string, err error) {
		m, err := newRecorded(recordedConfig{Path: path, Model: "fake"})
		if err != nil {
			return "", err
		}
		defer m.Close()
		for _, r := range requests {
			for r.Sample = range 3 {
				reply, err := m.Complete(t.Context(), r)
				if err != nil {
					return "", err
				}
				text += reply.Text + "\n"
			}
		}
		return text, nil
	}
	for _, b := range damage.Silent(t, path, nightly.Size(300, 2000), replies) {
		t.Errorf("a change is accepted: %q", b)
	}
}
