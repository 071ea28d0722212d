package store

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestSearch: requests are found by what they were about as long as their journal is kept; each filter excludes
// what it should; sessions end with time and with their key.
func TestSearch(t *testing.T) {
	s := openStore(t, fresh(t), "local")
	defer s.Close()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return now }
	k := newKey(t, s, Key{Name: "k"})
	for _, r := range []struct {
		id, model, question, answer, journal string
		key                                  *Key
	}{
		{"1", "a", "Is 91% prime?", "no", "1", k}, {"2", "b", "is 91 prime_?", "", "2", nil},
		{"3", "a", "Capital of France\x00\xff", "Paris", "3", nil}, {"4", "a", "secret", "x", "", nil},
	} {
		g, err := s.Begin(Request{ID: r.id, Model: r.model, Key: r.key, Kept: r.id, Question: r.question,
			Want: Amount{Money: 9}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Settle(g, Result{Status: "agreed", HTTP: 200, Journal: r.journal, Answer: r.answer,
			Spent: 5}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(12 * time.Hour)
	}
	none := ""
	for _, c := range []struct {
		name string
		f    Filter
		want string
	}{
		{"all", Filter{}, "4 3 2 1"}, {"text", Filter{Text: "PRIME"}, "2 1"},
		{"a percent sign", Filter{Text: "91%"}, "1"},
		{"an underscore", Filter{Text: "e_?"}, "2"}, {"an answer", Filter{Text: "paris"}, "3"},
		{"without a journal", Filter{Text: "secret"}, ""}, {"a key", Filter{Key: &k.ID}, "1"},
		{"no key", Filter{Key: &none}, "4 3 2"}, {"a model", Filter{Model: "b"}, "2"},
		{"a status", Filter{Status: "lost"}, ""},
		{"since", Filter{From: now.Add(-25 * time.Hour)}, "4 3"}, {"until", Filter{To: now.Add(-40 * time.Hour)}, "1"},
		{"an id", Filter{ID: "3"}, "3"},
	} {
		if got := found(t, s, c.f); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
	first, err := s.Search(context.Background(), Filter{}, 2)
	if err != nil || found(t, s, Filter{After: &first[1]}) != "2 1" {
		t.Error("the next page:", err)
	}
	days, err := s.SpendByDay(context.Background(), now.Add(-72*time.Hour), nil)
	if err != nil || len(days) != 3 || days[0].Spent != 5 || days[1].Requests != 2 {
		t.Errorf("%+v, %v", days, err)
	}
	gone, err := s.Retain(context.Background(), Keep{Age: time.Hour}, t.TempDir())
	if err != nil || gone.Requests != 4 {
		t.Error(gone, err)
	}
	var texts int
	if err := s.db.QueryRow("SELECT COUNT(*) FROM texts").Scan(&texts); err != nil || texts > 0 {
		t.Error(texts, "texts are kept without their journals", err)
	}
}

func found(t *testing.T, s *Store, f Filter) string {
	t.Helper()
	rows, err := s.Search(context.Background(), f, 10)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

// TestSessions: a session is that of its key until it ends, by time, by a logout or with the key.
func TestSessions(t *testing.T) {
	s := openStore(t, fresh(t), "local")
	defer s.Close()
	ctx := context.Background()
	k := newKey(t, s, Key{Name: "k"})
	begin := func() string {
		secret, _, err := s.NewSession(ctx, k.ID)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	one, two := begin(), begin()
	if got, err := s.Session(ctx, one); err != nil || got.ID != k.ID {
		t.Fatal(got, err)
	}
	if err := s.EndSession(one); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(ctx, one); err != ErrKey {
		t.Error("after a logout:", err)
	}
	s.now = func() time.Time { return time.Now().Add(sessionTime + time.Minute) }
	if _, err := s.Session(ctx, two); err != ErrKey {
		t.Error("after its time:", err)
	}
	s.now = time.Now
	if err := s.Revoke("k"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(ctx, two); err != ErrKey {
		t.Error("of a revoked key:", err)
	}
}
