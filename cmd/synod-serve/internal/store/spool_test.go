package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// leave ends a store as a kill does: nothing more is written to the database, and the log stays.
func (s *Store) leave(t *testing.T) {
	t.Helper()
	s.spool.mu.Lock()
	s.spool.fresh = nil
	name := s.spool.name(s.spool.generation)
	b, err := os.ReadFile(name)
	s.spool.mu.Unlock()
	if err = errors.Join(err, s.Close(), os.WriteFile(name, b, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// What is only in the log when a gateway is killed is in the database after the next start, once, whether the key has
// limits or not. The name of the folder may have characters that stand for others in patterns.
func TestLogIsReadAgain(t *testing.T) {
	if postgresURL != "" {
		t.Skip("only a file has a log")
	}
	for _, perDay := range []Money{0, USD(1)} {
		for _, stored := range []bool{false, true} { // whether the beginnings were in the database
			t.Run(fmt.Sprint(perDay, stored), func(t *testing.T) {
				testLogIsReadAgain(t, Key{Name: "k", PerDay: perDay}, stored)
			})
		}
	}
}

func testLogIsReadAgain(t *testing.T, key Key, stored bool) {
	dir := filepath.Join(t.TempDir(), "[a")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	url := filepath.Join(dir, "serve.db")
	s := openStore(t, url, "local")
	k := newKey(t, s, key)
	var grants []Grant
	for i := range 4 {
		g, err := s.Begin(Request{ID: fmt.Sprint(i), Key: k, Want: Amount{Money: USD(0.1)}})
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, g)
	}
	if stored {
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := s.Draw(grants[1], Draw{Need: Amount{Money: USD(0.2)}})
	if err := errors.Join(err, s.Settle(grants[0], Result{Status: "ok", Spent: USD(0.01)})); err != nil {
		t.Fatal(err)
	}
	s.leave(t)
	for range 2 { // the second start finds nothing to do
		s = openStore(t, url, "local")
		keys, err := s.Keys(t.Context())
		if err != nil || keys[0].Today != USD(0.01) || keys[0].Reserved != 4*USD(0.1) {
			t.Errorf("%+v, %v", keys, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = openStore(t, url, "local")
	defer s.Close()
	if lost, err := s.Beat(true); err != nil || lost != 3 {
		t.Errorf("%d lost, %v", lost, err)
	}
	if left, err := s.spool.generations(); err != nil || len(left) != 1 {
		t.Errorf("logs: %v, %v", left, err)
	}
	if keys, err := s.Keys(t.Context()); err != nil || keys[0].Today != USD(0.01)+4*USD(0.1) || keys[0].Reserved != 0 {
		t.Errorf("%+v, %v", keys, err)
	}
}

// A kill between the transaction and the removal of the log counts nothing twice, and a line that was cut off is
// that of a request that had not begun.
func TestLogIsCountedOnce(t *testing.T) {
	if postgresURL != "" {
		t.Skip("only a file has a log")
	}
	url := fresh(t)
	s := openStore(t, url, "local")
	k := newKey(t, s, Key{Name: "k"})
	g, err := s.Begin(Request{ID: "a", Key: k, Want: Amount{Money: 100}})
	if err == nil {
		err = s.Settle(g, Result{Status: "ok", Spent: 70})
	}
	if err != nil {
		t.Fatal(err)
	}
	name := s.spool.name(s.spool.generation)
	log, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := s.spool.name(s.spool.generation + 1)
	if err := errors.Join(os.WriteFile(name, log, 0o600), os.WriteFile(next, []byte(`{"id":"b","key":"`), 0o600)); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, url, "local")
	defer s.Close()
	keys, err := s.Keys(t.Context())
	rows, err2 := s.Recent(t.Context(), 10)
	if err != nil || err2 != nil || keys[0].Today != 70 || keys[0].Reserved != 0 || len(rows) != 1 {
		t.Errorf("%+v, %+v, %v, %v", keys, rows, err, err2)
	}
}

// A log that cannot be written refuses the request, and leaves no part of a line.
func TestLogCannotBeWritten(t *testing.T) {
	if postgresURL != "" {
		t.Skip("only a file has a log")
	}
	s := openStore(t, fresh(t), "local")
	defer s.Close()
	good := s.spool.file
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	s.spool.file = full
	limited := newKey(t, s, Key{Name: "limited", PerDay: 100})
	for _, k := range []*Key{nil, limited} {
		if _, err := s.Begin(Request{ID: "a", Key: k, Want: both(9)}); err == nil {
			t.Error("a request began that is nowhere recorded")
		}
	}
	s.spool.file = good
	full.Close()
	if keys, err := s.Keys(t.Context()); err != nil || keys[0].Reserved != 0 {
		t.Errorf("%+v, %v: a request that did not begin has reserved", keys, err)
	}
	if g, err := s.Begin(Request{ID: "a"}); err != nil || s.Settle(g, Result{Status: "ok"}) != nil {
		t.Error(err)
	}
	if rows, err := s.Recent(t.Context(), 10); err != nil || len(rows) != 1 || rows[0].Status != "ok" {
		t.Errorf("%+v, %v", rows, err)
	}
}

// A key that another process revokes begins no request after a second.
func TestRevokedElsewhere(t *testing.T) {
	if postgresURL != "" {
		t.Skip("only a file is checked once in a second")
	}
	url := fresh(t)
	s, admin := openStore(t, url, "local"), openStore(t, url, "")
	defer s.Close()
	defer admin.Close()
	k := newKey(t, admin, Key{Name: "k"})
	if _, err := s.Begin(Request{ID: "a", Key: k}); err != nil {
		t.Fatal(err)
	}
	if err := admin.Revoke("k"); err != nil {
		t.Fatal(err)
	}
	s.spool.mu.Lock()
	s.now = func() time.Time { return time.Now().Add(checkEvery + time.Millisecond) }
	s.spool.mu.Unlock()
	if _, err := s.Begin(Request{ID: "b", Key: k}); !errors.Is(err, ErrKey) {
		t.Errorf("%v", err)
	}
}

func BenchmarkBegin(b *testing.B) {
	s := openStore(b, fresh(b), "local")
	defer s.Close()
	for name, k := range map[string]*Key{"no-limit": newKey(b, s, Key{Name: "a"}),
		"limited": newKey(b, s, Key{Name: "b", PerDay: USD(1e6), PerMinute: 1000})} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				id := fmt.Sprintf("%s-%s-%020d", name, b.Name(), b.N*1000000+i*7919%1000003)
				g, err := s.Begin(Request{ID: id, Key: k, API: "chat", Model: "solo:x", Want: Amount{Money: 5}})
				if limit := new(LimitError); errors.As(err, &limit) {
					continue
				}
				if err == nil {
					err = s.Settle(g, Result{Status: "ok", HTTP: 200, Spent: 3, Calls: 1, Prompt: 100, Completion: 10})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
