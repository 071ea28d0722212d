package llm

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"synod.dev/synod"
)

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
	tape, err := newRecorded(RecordedConfig{Path: path, Model: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tape.Close() }()
	for sample, want := range []string{"Answer: 1 Answer: 2", "Answer: 3 Answer: 4"} {
		named.Sample, typed.Sample = sample, sample
		a, err := tape.Complete(t.Context(), named)
		b, err2 := tape.Complete(t.Context(), typed)
		if err != nil || err2 != nil || a.Text+" "+b.Text != want {
			t.Errorf("%q and %q, %v, %v", a.Text, b.Text, err, err2)
		}
	}
}
