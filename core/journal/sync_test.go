package journal_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// A journal that cannot be put on disk is an error, although every write to it was taken. A
// pipe takes writes and cannot be synced.
func TestJournalThatCannotBeSynced(t *testing.T) {
	for name, end := range map[string]func(*journal.Writer) (string, error){
		"close":   func(w *journal.Writer) (string, error) { return w.Close("rounds") },
		"abandon": (*journal.Writer).Abandon,
	} {
		r, f, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if f.Sync() == nil {
			t.Skip("this system syncs pipes")
		}
		w, err := journal.Over(f)
		if err != nil {
			t.Fatal(err)
		}
		w.Reply(0, 0, synod.Reply{Status: synod.OK, Text: "r"})
		if w.Err() != nil {
			t.Errorf("%s: before the end: %v", name, w.Err())
		}
		if digest, err := end(w); err == nil || w.Err() == nil || len(digest) != 64 {
			t.Errorf("%s: digest %q, error %v", name, digest, err)
		}
		text, err := io.ReadAll(r) // ends because the file was closed all the same
		if err != nil || !strings.Contains(string(text), `"k":"reply"`) {
			t.Errorf("%s: written: %q, %v", name, text, err)
		}
	}
}

// A segment that cannot be put on disk is an error when it is closed, and when a run that was paid for is taken out of
// it. Nothing is written after that: another sync may succeed although the chunks before it are lost.
func TestSegmentThatCannotBeSynced(t *testing.T) {
	s := journal.Unsynced()
	w, err := s.Create("q", journal.Head{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	if err := s.Keep("q"); err != nil {
		t.Errorf("a run that cost nothing is not written: %v", err)
	}
	w, err = s.Create("paid", journal.Head{})
	if err != nil {
		t.Fatal(err)
	}
	w.Reply(0, 0, synod.Reply{Status: synod.OK, Calls: 1})
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	if err := s.Keep("paid"); err == nil {
		t.Error("a run that was paid for is kept without being on disk")
	}
	if w, err = s.Create("r", journal.Head{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Asked(0, 0, journal.Cost{Calls: 1}); err == nil {
		t.Error("a request leaves after a sync has failed")
	}
	if err := s.Close(); err == nil {
		t.Error("a segment that is not on disk was closed without an error")
	}
}
