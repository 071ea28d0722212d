package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// postgresURL is set by TestPostgres, which plays the tests of this file against a server.
var postgresURL string

// fresh returns the URL of an empty store.
func fresh(t testing.TB) string {
	if postgresURL == "" {
		return filepath.Join(t.TempDir(), "serve.db")
	}
	db, err := sql.Open("pgx", postgresURL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"keys", "requests", "days", "gateways", "audit", "responses", "texts", "sessions",
		"spooled", "tasks"} {
		if _, err := db.Exec("DROP TABLE IF EXISTS " + table); err != nil {
			t.Fatal(err)
		}
	}
	return postgresURL
}

func openStore(t testing.TB, url, gateway string) *Store {
	t.Helper()
	s, err := Open(context.Background(), url, gateway)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newKey(t testing.TB, s *Store, k Key) *Key {
	t.Helper()
	_, made, err := s.NewKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return &made
}

// A key is found by its secret, of which the store has only a hash; a revoked key begins no request.
func TestKeys(t *testing.T) {
	url := fresh(t)
	s := openStore(t, url, "local")
	secret, made, err := s.NewKey(Key{Name: "alice", PerDay: USD(5), PerMinute: 60, Councils: []string{"a", "b"}})
	if err != nil || !strings.HasPrefix(secret, "sk-synod-") || len(secret) < 40 {
		t.Fatal(secret, err)
	}
	k, err := s.Find(t.Context(), secret)
	if err != nil || k.Name != "alice" || k.PerDay != USD(5) || k.PerMinute != 60 || !k.May("b") || k.May("c") {
		t.Errorf("%+v, %v", k, err)
	}
	for _, wrong := range []string{"", "sk-synod-", secret + "x", secret[:len(secret)-1], made.ID} {
		if _, err := s.Find(t.Context(), wrong); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for _, bad := range []Key{{Name: "alice"}, {Name: ""}, {Name: "a b"}, {Name: "x", PerDay: -1},
		{Name: "x", Councils: []string{"a b"}}} {
		if _, _, err := s.NewKey(bad); err == nil {
			t.Errorf("%+v was made", bad)
		}
	}
	if _, err := s.Begin(Request{ID: "1", Key: k, Model: "a"}); err != nil {
		t.Error(err)
	}
	if err := s.Revoke("alice"); err != nil {
		t.Error(err)
	}
	if err := s.Revoke("alice"); err == nil {
		t.Error("a revoked key was revoked again")
	}
	if _, err := s.Begin(Request{ID: "2", Key: k, Model: "a"}); !errors.Is(err, ErrKey) {
		t.Errorf("a revoked key begins a request: %v", err)
	}
	if _, err := s.Find(t.Context(), secret); !errors.Is(err, ErrKey) {
		t.Errorf("a revoked key is found: %v", err)
	}
	s.Close()
	if postgresURL != "" {
		return
	}
	for _, file := range []string{url, url + "-wal"} {
		if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), strings.TrimPrefix(secret, prefix)) {
			t.Errorf("%s has the secret", file)
		}
	}
	if info, err := os.Stat(url); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

// A key that has expired is not found, begins no request, with limits or without, and opens no page; a later expiry
// makes it valid again. A change keeps what it does not name, and cannot revive a revoked key.
func TestExpiryAndChange(t *testing.T) {
	s := openStore(t, fresh(t), Local)
	defer s.Close()
	now := time.Now()
	s.now = func() time.Time { return now }
	for i, k := range []Key{{Name: "free"}, {Name: "limited", PerMinute: 60}} {
		k.Expires = now.Add(time.Hour)
		secret, made, err := s.NewKey(k)
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := s.NewSession(t.Context(), made.ID)
		if err != nil {
			t.Fatal(err)
		}
		valid := func(want bool) {
			t.Helper()
			_, found := s.Find(t.Context(), secret)
			_, visit := s.Session(t.Context(), session)
			_, begun := s.Begin(Request{ID: rand.Text(), Key: &made, Model: "a"})
			for _, err := range []error{found, visit, begun} {
				if (err == nil) != want || err != nil && !errors.Is(err, ErrKey) {
					t.Errorf("%s: %v, %v, %v; want it valid: %v", k.Name, found, visit, begun, want)
				}
			}
		}
		valid(true)
		now = now.Add(time.Hour)
		valid(false)
		edited, err := s.EditKey(k.Name, func(k *Key) { k.Expires, k.Owner = now.Add(time.Hour), "team" })
		if err != nil || edited.PerMinute != k.PerMinute || edited.Owner != "team" {
			t.Errorf("%+v, %v", edited, err)
		}
		valid(true)
		if _, err := s.EditKey(k.Name, func(k *Key) { k.Expires = now }); err == nil {
			t.Error("a key was changed to one that has expired")
		}
		_, err = s.EditKey(made.ID, func(k *Key) { k.PerDay, k.Expires = USD(float64(i+1)), time.Time{} })
		if err != nil {
			t.Error(err)
		}
		if k, err := s.Find(t.Context(), secret); err != nil || k.PerDay != USD(float64(i+1)) || !k.Expires.IsZero() {
			t.Errorf("%+v, %v", k, err)
		}
		if err := s.Revoke(k.Name); err != nil {
			t.Error(err)
		}
		if _, err := s.EditKey(k.Name, func(k *Key) { k.Owner = "" }); err == nil {
			t.Error("a revoked key was changed")
		}
		valid(false)
	}
}

// However many requests come at once, through however many gateways, what is granted and spent never exceeds
// the day's limit, and no more requests begin in a minute than may.
func TestLimitsAreHard(t *testing.T) {
	url := fresh(t)
	gateways := []*Store{openStore(t, url, Local), openStore(t, url, "g2")}
	defer gateways[0].Close()
	defer gateways[1].Close()
	rich := newKey(t, gateways[0], Key{Name: "rich", PerDay: USD(1)})
	fast := newKey(t, gateways[0], Key{Name: "fast", PerMinute: 30})
	var wait sync.WaitGroup
	var mu sync.Mutex
	var spent Money
	begun := 0
	for i := range 60 {
		wait.Go(func() {
			s := gateways[i%2]
			for n := range 5 {
				id := fmt.Sprintf("r%d-%d", i, n)
				g, err := s.Begin(Request{ID: id, Key: rich, Want: Amount{Money: USD(0.03)}})
				if err == nil {
					use := g.Limit.Money * Money(n+1) / 5
					if g.Limit.Money > USD(0.03) || g.Limit.Money <= 0 {
						t.Errorf("granted %v", g.Limit)
					}
					if err := s.Settle(g, Result{Status: "ok", Spent: use}); err != nil {
						t.Error(err)
					}
					mu.Lock()
					spent += use
					mu.Unlock()
				} else if limit := new(LimitError); !errors.As(err, &limit) || limit.Limit != "usd_day" ||
					limit.Wait <= 0 {
					t.Error(err)
				}
				if _, err := s.Begin(Request{ID: "f" + id, Key: fast}); err == nil {
					mu.Lock()
					begun++
					mu.Unlock()
				} else if limit := new(LimitError); !errors.As(err, &limit) || limit.Limit != "rpm" ||
					limit.Wait > time.Minute {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if err := gateways[0].flush(); err != nil { // as it happens a few times a second
		t.Fatal(err)
	}
	keys, err := gateways[1].Keys(t.Context())
	if err != nil || keys[1].Name != "rich" || keys[1].Today != spent || keys[1].Reserved != 0 || spent > USD(1) ||
		spent < USD(0.5) {
		t.Errorf("%v spent; the store has %+v, %v", spent, keys, err)
	}
	if begun != 30 {
		t.Errorf("%d requests began in a minute; 30 may", begun)
	}
}

// For any sequence of requests that begin, end, and are lost, a day's books are what a simple count says.
func TestBooks(t *testing.T) {
	s := openStore(t, fresh(t), "local")
	defer s.Close()
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		round++
		id := func(i int) string { return fmt.Sprintf("%d-%d", round, i) }
		limit := Money(rapid.IntRange(1, 1000).Draw(r, "limit"))
		k := newKey(t, s, Key{Name: fmt.Sprintf("k%06d", round), PerDay: limit})
		open := map[string]Grant{}
		var spent, reserved Money
		for i := range rapid.IntRange(1, 30).Draw(r, "steps") {
			if len(open) > 0 && rapid.Bool().Draw(r, "settle") {
				for id, g := range open {
					use := Money(rapid.IntRange(0, int(g.Limit.Money)).Draw(r, "use"))
					for range 2 { // the second one changes nothing
						if err := s.Settle(g, Result{Status: "ok", Spent: use}); err != nil {
							r.Fatal(err)
						}
					}
					delete(open, id)
					spent, reserved = spent+use, reserved-g.Limit.Money
					break
				}
				continue
			}
			want := Money(rapid.IntRange(1, 400).Draw(r, "want"))
			g, err := s.Begin(Request{ID: id(i), Key: k, Want: Amount{Money: want}})
			if left := limit - spent - reserved; left <= 0 {
				if err == nil {
					r.Fatalf("%v was granted with %v left", g.Limit, left)
				}
				continue
			} else if err != nil || g.Limit.Money != min(want, left) {
				r.Fatalf("granted %v of %v with %v left: %v", g.Limit, want, left, err)
			}
			open[g.ID] = g
			reserved += g.Limit.Money
		}
		check := func(spent, reserved Money) {
			keys, err := s.Keys(context.Background())
			if err != nil {
				r.Fatal(err)
			}
			now := keys[len(keys)-1]
			if now.ID != k.ID || now.Today != spent || now.Reserved != reserved || spent+reserved > limit {
				r.Fatalf("%+v; want %v spent and %v reserved of %v", now, spent, reserved, limit)
			}
		}
		check(spent, reserved)
		if lost, err := s.Beat(true); err != nil || lost != len(open) { // as after a restart
			r.Fatal(lost, err)
		}
		check(spent+reserved, 0)
	})
}

// A gateway that dies leaves reservations, which another one counts as spent when it has been silent for long;
// those of a gateway that lives stay open.
func TestDeadGateways(t *testing.T) {
	url := fresh(t)
	one, two := openStore(t, url, "g1"), openStore(t, url, "g2")
	defer one.Close()
	defer two.Close()
	k := newKey(t, one, Key{Name: "k", PerDay: USD(1)})
	for _, s := range []*Store{one, two} {
		if _, err := s.Beat(false); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Begin(Request{ID: s.gateway, Key: k, Want: Amount{Money: USD(0.25)}}); err != nil {
			t.Fatal(err)
		}
	}
	if lost, err := two.Beat(false); err != nil || lost != 0 {
		t.Errorf("%d requests of a gateway that lives are lost, %v", lost, err)
	}
	two.now = func() time.Time { return time.Now().Add(2 * deadAfter) }
	if lost, err := two.Beat(false); err != nil || lost != 1 {
		t.Errorf("%d requests are lost, %v; want 1", lost, err)
	}
	two.now = time.Now
	keys, err := two.Keys(t.Context())
	if err != nil || keys[0].Today != USD(0.25) || keys[0].Reserved != USD(0.25) {
		t.Errorf("%+v, %v", keys, err)
	}
}

// Old requests go with their journals, and the oldest journals when there are too many; spend stays.
func TestRetain(t *testing.T) {
	s := openStore(t, fresh(t), "local")
	defer s.Close()
	folder, now := t.TempDir(), time.Now()
	k := newKey(t, s, Key{Name: "k"})
	var files []string
	for i := range 6 {
		s.now = func() time.Time { return now.Add(-time.Duration(i) * 24 * time.Hour) }
		g, err := s.Begin(Request{ID: fmt.Sprintf("r%d", i), Key: k, Want: Amount{Money: 1}})
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(folder, g.Begun.UTC().Format(time.DateOnly))
		files = append(files, filepath.Join(dir, g.ID+".jsonl"))
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(files[i], []byte("0123456789"),
			0o600)); err != nil {
			t.Fatal(err)
		}
		if err := s.Settle(g, Result{Status: "ok", Spent: 1, Journal: g.ID, Bytes: 10}); err != nil {
			t.Fatal(err)
		}
	}
	s.now = func() time.Time { return now }
	gone, err := s.Retain(t.Context(), Keep{Age: 100 * time.Hour, Bytes: 35}, folder)
	if err != nil || gone != (Gone{1, 3}) {
		t.Errorf("%+v, %v", gone, err)
	}
	for i, f := range files {
		if _, err := os.Stat(f); (err == nil) != (i < 3) {
			t.Errorf("journal %d: %v", i, err)
		}
	}
	if rows, err := s.Recent(t.Context(), 10); err != nil || len(rows) != 5 || rows[4].Journal != "" ||
		rows[0].Journal == "" {
		t.Errorf("%+v, %v", rows, err)
	}
	if keys, _ := s.Keys(t.Context()); keys[0].Today != 1 {
		t.Errorf("%+v", keys)
	}
}

// A full disk is an error of the request that cannot be recorded; when there is room again, all goes on.
func TestFullDisk(t *testing.T) {
	if postgresURL != "" {
		t.Skip("a file's limit")
	}
	s := openStore(t, fresh(t), "local")
	defer s.Close()
	s.db.SetMaxOpenConns(1) // the limit below is one of a connection
	g, err := s.Begin(Request{ID: "before"})
	if err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := s.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
	full := 0
	for i := range 200 {
		if _, err := s.Begin(Request{ID: fmt.Sprintf("%d-%s", i, strings.Repeat("x", 500))}); err != nil {
			full++
		} else if i == 100 {
			_ = s.flush() // as it happens a few times a second
		}
	}
	if full == 0 {
		t.Fatal("the store was never full")
	}
	if _, err := s.db.Exec("PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(Request{ID: "after"}); err != nil {
		t.Error(err)
	}
	if err := s.Settle(g, Result{Status: "ok"}); err != nil {
		t.Error(err)
	}
	if rows, err := s.Recent(t.Context(), 1000); err != nil || len(rows) != 202-full {
		t.Errorf("%d rows of %d requests, %v", len(rows), 202-full, err)
	}
}

// What was committed is there after a process was killed, and open requests are found.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("SYNOD_STORE_TEST"); dir != "" {
		s := openStore(t, dir, "local")
		k := newKey(t, s, Key{Name: "k", PerDay: USD(1)})
		for i := range 10 {
			g, err := s.Begin(Request{ID: fmt.Sprint(i), Key: k, Want: Amount{Money: USD(0.01)}, Kept: "j"})
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				if err := s.Settle(g, Result{Status: "ok", Spent: USD(0.002)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		select {}
	}
	if postgresURL != "" {
		t.Skip("the server keeps it")
	}
	url := fresh(t)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), "SYNOD_STORE_TEST="+url)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v %s", err, out)
	}
	s := openStore(t, url, "local")
	defer s.Close()
	if lost, err := s.Beat(true); err != nil || lost != 5 {
		t.Errorf("%d lost, %v", lost, err)
	}
	rows, err := s.Recent(t.Context(), 10)
	kept := slices.ContainsFunc(rows, func(r Row) bool { return r.Status == Lost && r.Journal == "j" })
	if err != nil || len(rows) != 10 || !kept {
		t.Errorf("%+v, %v: a request that was lost keeps its journal", rows, err)
	}
	if keys, err := s.Keys(t.Context()); err != nil || keys[0].Today != 5*USD(0.002)+5*USD(0.01) ||
		keys[0].Reserved != 0 {
		t.Errorf("%+v, %v", keys, err)
	}
}

// Errors about stores name no password.
func TestErrorsAreSafe(t *testing.T) {
	for _, url := range []string{"mysql://u:hunter2@h/d", "postgres://u:hunter2@127.0.0.1:1/d"} {
		_, err := Open(t.Context(), url, "x")
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}

// A task belongs to its key, changes only from the version that its writer has seen, and goes with its age.
// A response is there for requests with the key that it was made for, and for no other.
func TestResponses(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "serve.db"), "local")
	defer s.Close()
	kept := Response{[]byte("conversation"), []byte("body")}
	if err := s.KeepResponse("a", "key1", kept); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ id, key, want string }{{"a", "key1", "conversation"}, {"a", "key2", ""}, {"a", "", ""},
		{"b", "key1", ""}} {
		got, err := s.Response(c.id, c.key)
		if err != nil || (got != nil) != (c.want != "") || got != nil && !reflect.DeepEqual(*got, kept) {
			t.Errorf("response %s to %q: %v, %v", c.id, c.key, got, err)
		}
	}
	if there, err := s.DeleteResponse("a", "key2"); there || err != nil {
		t.Errorf("another key deletes it: %v, %v", there, err)
	}
	if there, err := s.DeleteResponse("a", "key1"); !there || err != nil {
		t.Errorf("%v, %v", there, err)
	}
	if got, err := s.Response("a", "key1"); got != nil || err != nil {
		t.Errorf("after it: %v, %v", got, err)
	}
}

func TestTasks(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "serve.db"), "local")
	defer s.Close()
	if err := s.NewTask("a", "key1", []byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := s.NewTask("a", "key2", []byte(`{}`)); !errors.Is(err, ErrTaskExists) {
		t.Error(err)
	}
	if _, err := s.Task(t.Context(), "a", "key2"); !errors.Is(err, ErrNoTask) {
		t.Error(err)
	}
	if _, err := s.ChangeTask("a", "key2", 0, []byte(`{}`)); !errors.Is(err, ErrNoTask) {
		t.Error(err)
	}
	if v, err := s.ChangeTask("a", "key1", 1, []byte(`{"n":2}`)); err != nil || v != 2 {
		t.Error(v, err)
	}
	if _, err := s.ChangeTask("a", "key1", 1, []byte(`{"n":3}`)); !errors.Is(err, ErrTaskChanged) {
		t.Error(err)
	}
	if all, err := s.Tasks(t.Context(), "key1", "", 10); err != nil || len(all) != 1 ||
		string(all[0].Body) != `{"n":2}` {
		t.Error(all, err)
	}
	s.now = func() time.Time { return time.Now().Add(48 * time.Hour) }
	if _, err := s.Retain(t.Context(), Keep{Age: 24 * time.Hour}, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Task(t.Context(), "a", "key1"); !errors.Is(err, ErrNoTask) {
		t.Error(err)
	}
}
