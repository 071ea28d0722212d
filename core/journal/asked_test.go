package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// An asked line is in the file before its request leaves. Without a reply it stays
// unanswered, together with what the head records of earlier attempts.
func TestAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	earlier := []journal.Unanswered{{Node: 1, Cost: journal.Cost{Calls: 5, Usage: synod.Usage{Prompt: 50}}}}
	w, err := journal.Create(path, journal.Head{Program: "test", Unanswered: earlier})
	if err != nil {
		t.Fatal(err)
	}
	one := journal.Cost{Calls: 1, Usage: synod.Usage{Prompt: 9, Completion: 100}}
	for id := range synod.ConsultID(3) {
		if err := w.Asked(1, id, one); err != nil {
			t.Fatal(err)
		}
	}
	want := []journal.Unanswered{{Node: 1, Cost: journal.Cost{Calls: 8,
		Usage: synod.Usage{Prompt: 77, Completion: 300}}}}
	unanswered := func() []journal.Unanswered {
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := journal.SummarizeFile(path)
		if err != nil || !reflect.DeepEqual(sum.Unanswered, run.Unanswered) {
			t.Errorf("summary: %+v, %v", sum.Unanswered, err)
		}
		return run.Unanswered
	}
	if got := unanswered(); !reflect.DeepEqual(got, want) { // as after a kill
		t.Errorf("%+v, want %+v", got, want)
	}
	w.Reply(1, 2, synod.Reply{Status: synod.OK, Text: "7", Calls: 1, Fault: "<it>",
		Charged: synod.Usage{Completion: 3}})
	want[0].Cost = journal.Cost{Calls: 7, Usage: synod.Usage{Prompt: 68, Completion: 200}}
	if got := unanswered(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, bytes.Replace(b, []byte(`{"k":"asked","n":1,"id":0,"calls":1`),
		[]byte(`{"k":"asked","n":1,"id":0,"calls":0`), 1), 0o600)
	if _, err := journal.SummarizeFile(path); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("a changed asked line: %v", err)
	}
}

// After a failed write no request may leave, nor after the end of the journal.
func TestAskedFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	s, err := journal.OpenSegment(path)
	if err != nil {
		t.Skip("this system has no /dev/full that can be opened: ", err)
	}
	defer s.Close()
	w, err := s.Create("q", journal.Head{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Asked(0, 0, journal.Cost{Calls: 1}); err == nil {
			t.Error("a request may leave although its line is not in the file")
		}
	}
	if _, err := w.Abandon(); err == nil {
		t.Error("the writer has lost lines and reports no error")
	}
	if err := w.Asked(0, 0, journal.Cost{Calls: 1}); err == nil {
		t.Error("a request may leave after the journal was closed")
	}
}

// The requests of an attempt whose replies never came count in the next one, and in the
// journal of the finished run.
func TestAskedInSegments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	var resume *journal.Run
	for n := range 3 {
		s, err := journal.OpenSegment(path)
		if err != nil {
			t.Fatal(err)
		}
		head := journal.Head{Program: "test"}
		if resume != nil {
			head.Unanswered = resume.Unanswered
		}
		w, err := s.Create("q", head)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Asked(0, 0, journal.Cost{Calls: 1}); err != nil {
			t.Fatal(err)
		}
		if n == 2 {
			w.Reply(0, 0, synod.Reply{Status: synod.OK, Calls: 1})
			if _, err := w.Close("rounds"); err != nil {
				t.Fatal(err)
			}
			if err := s.Keep("q"); err != nil {
				t.Fatal(err)
			}
		}
		if resume, err = s.Load("q"); err != nil {
			t.Fatal(err)
		}
		if got, want := resume.Unanswered[0].Calls, min(n+1, 2); got != want {
			t.Errorf("attempt %d: %d unanswered, want %d", n, got, want)
		}
		s.Close()
	}
}

// A dropped run loses its replies and not their cost, also when the file is read again.
func TestDropKeepsTheCost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for n := range 3 {
		s, err := journal.OpenSegment(path)
		if err != nil {
			t.Fatal(err)
		}
		head := journal.Head{Program: "test", Seed: 7}
		if n > 0 {
			run, err := s.Load("q")
			if err != nil || len(run.Replies) > 0 || run.Head.Seed != 7 || len(run.Unanswered) != 1 ||
				run.Unanswered[0] != (journal.Unanswered{Node: 1, Cost: journal.Cost{Calls: 5 * n,
					Usage: synod.Usage{Prompt: 30 * n, Completion: 400 * n}}}) {
				t.Fatalf("after %d drops: %+v, %v", n, run, err)
			}
			head.Unanswered = run.Unanswered
		}
		w, err := s.Create("q", head)
		if err != nil {
			t.Fatal(err)
		}
		cost := journal.Cost{Calls: 1, Usage: synod.Usage{Prompt: 10, Completion: 200}}
		if err := errors.Join(w.Asked(1, 0, cost), w.Asked(1, 1, cost)); err != nil {
			t.Fatal(err)
		}
		w.Reply(1, 1, synod.Reply{Status: synod.OK, Calls: 4, Usage: synod.Usage{Prompt: 20, Completion: 200}})
		if n%2 == 0 {
			_, err = w.Close("rounds")
		} else {
			_, err = w.Abandon()
		}
		if err := errors.Join(err, s.Drop("q"), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
