//go:build unix

package journal_test

import (
	"errors"
	"path/filepath"
	"testing"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/filelock"
)

// A journal is not resumed while it is written, nor twice at once.
func TestResumeLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	w, err := journal.Create(path, journal.Head{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := journal.Resume(path); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a journal that is being written: %v", err)
	}
	if _, err := journal.Load(path); err != nil {
		t.Errorf("it can be read: %v", err)
	}
	if _, err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	_, lock, err := journal.Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := journal.Resume(path); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a journal that is being resumed: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	_, lock, err = journal.Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}
