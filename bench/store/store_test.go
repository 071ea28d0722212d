package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/bench/store"
	"synod.dev/synod/core/journal"
)

// fresh makes a store of one cell with four questions, asked twice.
func fresh(t *testing.T) (dir string, cell int64) {
	t.Helper()
	dir = t.TempDir()
	c := &store.Cell{Hash: "h", N: 4, Repeats: 2, Manifest: "{}", Sum: "s"}
	for i := range c.N {
		c.Questions = append(c.Questions, store.Question{ID: fmt.Sprint("q", i), Record: "{}"})
	}
	if err := store.Create(dir, map[string]string{"grid": "g"}, []*store.Cell{c}); err != nil {
		t.Fatal(err)
	}
	return dir, c.ID
}

func writing(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.OpenWriting(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func result(cell int64, question, repeat int) (store.Result, store.Body) {
	right := question%2 == 0
	return store.Result{Key: store.Key{Cell: cell, Question: question, Repeat: repeat}, Answered: true, Right: &right,
			Calls: question + 1}, store.Body{Text: []byte(fmt.Sprint("text ", question, repeat)),
			Words: []byte(strings.Repeat("wxyz", 2*question))}
}

func put(t *testing.T, s *store.Store, cell int64, question, repeat int, done func() error) bool {
	t.Helper()
	r, b := result(cell, question, repeat)
	added, err := s.Put(r, "about", b, done)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// A result is put once, has its journal after Flush, and is there when the store is opened again.
func TestPut(t *testing.T) {
	dir, cell := fresh(t)
	s := writing(t, dir)
	done := 0
	for question := range 4 {
		if !put(t, s, cell, question, 1, func() error { done++; return nil }) || put(t, s, cell, question, 1, nil) {
			t.Errorf("question %d: it is not put once", question)
		}
	}
	if err := s.Flush(); err != nil || done != 4 {
		t.Errorf("%d done, %v", done, err)
	}
	r, b := result(cell, 9, 0)
	if _, err := s.Put(r, "about", b, nil); err == nil {
		t.Error("a question that the cell does not have was put")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for r, err := range s.Results(cell) {
		if err != nil {
			t.Fatal(err)
		}
		_, want := result(cell, r.Question, r.Repeat)
		got, err := s.Body(&r, "about")
		if err != nil || string(got.Text) != string(want.Text) || string(got.Words) != string(want.Words) ||
			r.Question != n || r.Calls != n+1 || *r.Right != (n%2 == 0) {
			t.Errorf("%+v: %+v, %v", r, got, err)
		}
		if _, err := s.Body(&r, "another question"); !errors.Is(err, journal.ErrChanged) {
			t.Errorf("the journal of another question: %v", err)
		}
		n++
	}
	if c, err := s.Count(); err != nil || n != 4 || c[cell].Finished != 4 || c[cell].Right != 2 || c[cell].Calls != 10 {
		t.Errorf("%d results, %+v, %v", n, c, err)
	}
	if _, err := s.Put(r, "about", b, nil); err == nil {
		t.Error("a store that is open for reading was written")
	}
}

// Bytes of a segment that no row names are cut off, and results are added behind what was committed.
func TestBytesWithoutARow(t *testing.T) {
	dir, cell := fresh(t)
	path := filepath.Join(dir, "journals-1.seg")
	for question := range 4 {
		s := writing(t, dir)
		put(t, s, cell, question, 0, nil)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(whole, "a block that was not committed"...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := writing(t, dir)
	defer s.Close()
	n := 0
	for r, err := range s.Results(cell) {
		if err == nil {
			_, err = s.Body(&r, "about")
		}
		if err != nil {
			t.Error(err)
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d results", n)
	}
}

// A batch that cannot be written ends all writing; what was committed before stays, and the store goes on when there is
// room.
func TestFailedWrite(t *testing.T) {
	for k := range 3 {
		dir, cell := fresh(t)
		s := writing(t, dir)
		for question := range k {
			put(t, s, cell, question, 0, nil)
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		store.Break(s) // the file of the segment is closed
		forgotten := false
		put(t, s, cell, 3, 0, func() error { forgotten = true; return nil })
		if err := s.Flush(); err == nil || forgotten {
			t.Errorf("after %d: no error, forgotten %v", k, forgotten)
		}
		r, b := result(cell, 3, 1)
		if _, err := s.Put(r, "about", b, nil); err == nil {
			t.Errorf("after %d: it was written after an error", k)
		}
		s.Close()
		s = writing(t, dir)
		if !put(t, s, cell, 3, 0, nil) {
			t.Errorf("after %d: the question counts as finished", k)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := s.Count(); err != nil || c[cell].Finished != k+1 {
			t.Errorf("after %d: %+v, %v", k, c, err)
		}
		s.Close()
	}
}

// Times decide nothing: after the clock has gone back an hour, attempts and results are in the order in which they were
// added.
func TestClockBack(t *testing.T) {
	dir, cell := fresh(t)
	now := time.Now()
	for i, ended := range []time.Time{now.Add(time.Hour), now} { // the second attempt ends an hour before the first
		s := writing(t, dir)
		put(t, s, cell, i, 0, nil)
		if err := s.Attempted(store.Attempt{Key: store.Key{Cell: cell, Question: 3}, Stopped: fmt.Sprint("stop ", i),
			Ended: ended}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := writing(t, dir)
	defer s.Close()
	all, err := s.Attempts(cell)
	if err != nil || len(all) != 2 || all[0].Stopped != "stop 0" || all[1].Stopped != "stop 1" ||
		!all[1].Ended.Before(all[0].Ended) {
		t.Errorf("%+v, %v", all, err)
	}
	for question := range 4 {
		there, err := s.Has(store.Key{Cell: cell, Question: question})
		if err != nil || there != (question < 2) {
			t.Errorf("question %d: %v, %v", question, there, err)
		}
	}
}

// TestPace: the rate counts results in blocks after the first one that is looked at, and a question counts as failed
// while its last attempt failed and it is not finished.
func TestPace(t *testing.T) {
	dir, cell := fresh(t)
	s := writing(t, dir)
	defer s.Close()
	if p, err := s.Pace(time.Time{}); err != nil || p != (store.Pace{}) {
		t.Fatal(p, err)
	}
	for _, block := range [][]int{{0}, {1, 2}} {
		for _, q := range block {
			put(t, s, cell, q, 0, nil)
		}
		for _, q := range []int{2, 3} {
			if err := s.Attempted(store.Attempt{Key: store.Key{Cell: cell, Question: q}, Failed: true, Reason: "down",
				Ended: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Pace(time.Now().Add(-time.Hour))
	if err != nil || p.Block != 1 || p.Results != 2 || p.Begun.IsZero() || p.Last.Before(p.Begun) {
		t.Errorf("%+v %v", p, err)
	}
	counts, err := s.CountAfter(p.Block)
	if c := counts[cell]; err != nil || c.Finished != 3 || c.Recent != 2 || c.Priced != 0 || c.Right != 2 {
		t.Errorf("%+v %v", c, err)
	}
	if p, err := s.Pace(time.Now().Add(time.Hour)); err != nil || p.Block != 0 || p.Last.IsZero() {
		t.Errorf("%+v %v", p, err)
	}
	failed, err := s.Failed()
	if err != nil || len(failed) != 1 || failed[0].Question != 3 || failed[0].Reason != "down" {
		t.Errorf("%+v %v", failed, err)
	}
}
