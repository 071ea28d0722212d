package store

import (
	"path/filepath"
	"testing"
)

// Requests of a key draw what is left and no more; one that waits with calls in flight is waited for, and one that has
// only spent is not. What is reserved at the end is what was drawn, before and after the log is flushed.
func TestDraw(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "serve.db"), Local)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, k, err := s.NewKey(Key{Name: "a", PerDay: 100})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(id string, want Money) Grant {
		g, err := s.Begin(Request{ID: id, Key: &k, API: "chat", Model: "m", Want: want})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	a, b := begin("a", 10), begin("b", 10)
	for i, step := range []struct {
		g        Grant
		d        Draw
		reserved Money
		wait     bool
	}{
		{a, Draw{10, 60, false}, 60, false},
		{b, Draw{5, 50, false}, 5, true}, // a has calls in flight
		{a, Draw{60, 96, true}, 60, true},
		{b, Draw{5, 50, true}, 5, false}, // a has spent 60, and returns nothing
		{a, Draw{60, 95, true}, 95, false},
	} {
		reserved, wait, err := s.Draw(step.g, step.d)
		if err != nil || reserved != step.reserved || wait != step.wait {
			t.Errorf("step %d: %d %v %v; want %+v", i, reserved, wait, err, step)
		}
	}
	if err := s.Settle(a, Result{Status: "ok", Spent: 20}); err != nil {
		t.Fatal(err)
	}
	if reserved, _, err := s.Draw(b, Draw{5, 80, true}); err != nil || reserved != 80 {
		t.Errorf("%d %v; want what the other one has returned", reserved, err)
	}
	if _, _, err := s.Draw(a, Draw{0, 1, true}); err == nil {
		t.Error("a request that has ended draws")
	}
	if keys, err := s.Keys(t.Context()); err != nil || keys[0].Today != 20 || keys[0].Reserved != 80 {
		t.Errorf("%+v %v", keys, err)
	}
}

// A request without limits draws through the log; a gateway that is killed leaves what was drawn.
func TestDrawInTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.db")
	s, err := Open(t.Context(), path, Local)
	if err != nil {
		t.Fatal(err)
	}
	for i, flushed := range []bool{true, false} {
		g, err := s.Begin(Request{ID: string(rune('a' + i)), API: "chat", Model: "m", Want: 1})
		if err == nil && flushed {
			err = s.flush()
		}
		if err == nil {
			_, _, err = s.Draw(g, Draw{1, 7, false})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), path, Local); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if lost, err := s.Beat(true); err != nil || lost != 2 {
		t.Errorf("%d lost, %v", lost, err)
	}
	rows, err := s.Recent(t.Context(), 10)
	for _, r := range rows {
		if r.Status != Lost || r.Spent != 7 {
			t.Errorf("%+v", r)
		}
	}
	if err != nil || len(rows) != 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
