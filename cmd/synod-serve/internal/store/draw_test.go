package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// both is as much money as tokens.
func both(n int64) Amount { return Amount{Money(n), n} }

func drawing(least, need int64, idle bool) Draw { return Draw{both(least), both(need), idle} }

// Requests of a key draw what is left and no more, whether money or tokens are limited; one that waits with calls in
// flight is waited for, and one that has only spent is not. What is reserved at the end is what was drawn.
func TestDraw(t *testing.T) {
	s := openStore(t, fresh(t), Local)
	defer s.Close()
	for _, k := range []Key{{Name: "a", PerDay: 100}, {Name: "b", TokensPerDay: 100},
		{Name: "c", PerDay: 100, TokensPerDay: 1e6}, {Name: "d", PerDay: 1e6, TokensPerDay: 100}} {
		t.Run(k.Name, func(t *testing.T) { testDraw(t, s, newKey(t, s, k)) })
	}
}

func testDraw(t *testing.T, s *Store, k *Key) {
	begin := func(id string, want int64) Grant {
		g, err := s.Begin(Request{ID: k.Name + id, Key: k, API: "chat", Model: "m", Want: both(want)})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	a, b := begin("a", 10), begin("b", 10)
	for i, step := range []struct {
		g        Grant
		d        Draw
		reserved int64
		wait     bool
	}{
		{a, drawing(10, 60, false), 60, false},
		{b, drawing(5, 50, false), 5, true}, // a has calls in flight
		{a, drawing(60, 96, true), 60, true},
		{b, drawing(5, 50, true), 5, false}, // a has spent 60, and returns nothing
		{a, drawing(60, 95, true), 95, false},
	} {
		reserved, wait, err := s.Draw(step.g, step.d)
		if err != nil || reserved != both(step.reserved) || wait != step.wait {
			t.Errorf("step %d: %v %v %v; want %+v", i, reserved, wait, err, step)
		}
	}
	if err := s.Settle(a, Result{Status: "ok", Spent: 20, Prompt: 15, Completion: 5}); err != nil {
		t.Fatal(err)
	}
	if reserved, _, err := s.Draw(b, drawing(5, 80, true)); err != nil || reserved != both(80) {
		t.Errorf("%v %v; want what the other one has returned", reserved, err)
	}
	if _, _, err := s.Draw(a, drawing(0, 1, true)); err == nil {
		t.Error("a request that has ended draws")
	}
	keys, err := s.Keys(t.Context())
	now := keys[slices.IndexFunc(keys, func(x Key) bool { return x.ID == k.ID })]
	if err != nil || now.Today != 20 || now.Reserved != 80 || now.TokensToday != 20 || now.TokensReserved != 80 {
		t.Errorf("%+v %v", now, err)
	}
}

// However many requests come at once, through two gateways, no more tokens are used on a day than the key may: what a
// request may use is reserved before it begins, and what a server may have written unseen counts as well. One that
// needs more at once than is left is refused.
func TestTokensAreHard(t *testing.T) {
	url := fresh(t)
	gateways := []*Store{openStore(t, url, Local), openStore(t, url, "g2")}
	defer gateways[0].Close()
	defer gateways[1].Close()
	const limit, need = 1000, 30
	k := newKey(t, gateways[0], Key{Name: "k", TokensPerDay: limit})
	var used, refused atomic.Int64
	var wait sync.WaitGroup
	for i := range 120 {
		wait.Go(func() {
			s := gateways[i%2]
			g, err := s.Begin(Request{ID: fmt.Sprint(i), Key: k, Whole: true, Want: Amount{Tokens: need}})
			short := new(LimitError)
			for errors.As(err, &short) && short.Held { // others will return some
				time.Sleep(time.Millisecond)
				g, err = s.Begin(g.Request)
			}
			if errors.As(err, &short) {
				if short.Limit != "tokens_day" || !strings.Contains(short.Text, "1000 tokens a day (UTC, tokens_day)") {
					t.Error(short.Text)
				}
				refused.Add(1)
				return
			} else if err != nil || g.Limit != (Amount{Tokens: need}) {
				t.Error(g.Limit, err)
				return
			}
			r := Result{Status: "ok", Prompt: 10, Completion: i % 10} // 10 to 19
			if i%3 == 0 {
				r.Tokens = need // cut off
			}
			used.Add(r.cost().Tokens)
			if err := s.Settle(g, r); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := gateways[0].flush(); err != nil { // as it happens a few times a second
		t.Fatal(err)
	}
	keys, err := gateways[1].Keys(t.Context())
	if err != nil || keys[0].TokensToday != used.Load() || keys[0].TokensReserved != 0 || used.Load() > limit ||
		used.Load() <= limit-need || refused.Load() == 0 {
		t.Errorf("%d tokens used, %d refused; the store has %+v, %v", used.Load(), refused.Load(), keys, err)
	}
}

// What a gateway had reserved in tokens when it was killed counts as used, through the log and without it.
func TestLostTokens(t *testing.T) {
	url := fresh(t)
	s := openStore(t, url, Local)
	for i, k := range []Key{{Name: "limited", TokensPerDay: 100}, {Name: "free"}} {
		g, err := s.Begin(Request{ID: fmt.Sprint(i), Key: newKey(t, s, k), Want: Amount{Tokens: 7}})
		if err == nil {
			_, _, err = s.Draw(g, Draw{Need: Amount{Tokens: 9}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, url, Local)
	defer s.Close()
	lost, err := s.Beat(true)
	keys, more := s.Keys(t.Context())
	if err = errors.Join(err, more); err != nil || lost != 2 || keys[0].TokensToday != 9 || keys[1].TokensToday != 9 ||
		keys[0].TokensReserved != 0 || keys[1].TokensReserved != 0 {
		t.Errorf("%d lost, %+v, %v", lost, keys, err)
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
		g, err := s.Begin(Request{ID: string(rune('a' + i)), API: "chat", Model: "m", Want: Amount{Money: 1}})
		if err == nil && flushed {
			err = s.flush()
		}
		if err == nil {
			_, _, err = s.Draw(g, drawing(1, 7, false))
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
