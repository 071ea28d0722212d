package store

import (
	"context"
	"testing"
	"time"
)

// What requests have cost is summed by model, for one key or for all; what has not ended has not failed.
func TestSpendByModel(t *testing.T) {
	s := openStore(t, fresh(t), "local")
	defer s.Close()
	k := newKey(t, s, Key{Name: "k"})
	for i, r := range []struct {
		model string
		key   *Key
		http  int
		spent Money
	}{{"a", k, 200, 5}, {"a", nil, 422, 7}, {"a", k, 0, 0}, {"b", nil, 200, 11}} {
		g, err := s.Begin(Request{ID: string(rune('0' + i)), Model: r.model, Key: r.key})
		if err != nil {
			t.Fatal(err)
		}
		if r.http == 0 {
			continue
		}
		if err := s.Settle(g, Result{HTTP: r.http, Spent: r.spent, Unpriced: r.http == 422, Calls: 3,
			Prompt: 2, Alone: 9 * Money(i%2), Compared: i%2 == 1}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.SpendByModel(context.Background(), "", time.Time{})
	if a, b := all["a"], all["b"]; err != nil || a.Requests != 3 || a.Failed != 1 || a.Open != 1 || a.Spent != 12 ||
		a.Unpriced != 1 || a.Calls != 6 || a.Prompt != 4 || b.Spent != 11 || b.Last.IsZero() ||
		a.Compared != 1 || a.Alone-a.Against != a.Saved() || a.Against != 7 || b.Compared != 1 || b.Saved() != -2 {
		t.Errorf("%+v, %v", all, err)
	}
	own, err := s.SpendByModel(context.Background(), k.ID, time.Time{})
	if err != nil || len(own) != 1 || own["a"].Requests != 2 || own["a"].Spent != 5 {
		t.Errorf("%+v, %v", own, err)
	}
	if late, err := s.SpendByModel(context.Background(), "", time.Now().Add(time.Hour)); err != nil || len(late) > 0 {
		t.Errorf("%+v, %v", late, err)
	}
}

// A store of a release without the column admin is opened, and its keys administer nothing.
func TestOldKeys(t *testing.T) {
	url := fresh(t)
	s := openStore(t, url, "local")
	secret, _, err := s.NewKey(Key{Name: "old"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("ALTER TABLE keys DROP COLUMN admin"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = openStore(t, url, "local")
	defer s.Close()
	if k, err := s.Find(t.Context(), secret); err != nil || k.Administers() {
		t.Errorf("%+v, %v", k, err)
	}
	secret, _, err = s.NewKey(Key{Name: "new", Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	if k, err := s.Find(t.Context(), secret); err != nil || !k.Administers() {
		t.Errorf("%+v, %v", k, err)
	}
}
