package store

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// earlier are the statements of a release that knows no limits in tokens. Their arguments are written out.
var earlier = []string{
	`INSERT INTO keys (id, name, hash, usd_day, rpm, councils, created, revoked, used, admin, owner, expires)
		VALUES ('k9', 'early', 'h', 0, 60, '', 1, 0, 0, 0, '', 0)`,
	`INSERT INTO requests (id, gateway, key_id, api, model, begun, ended, status, http, reserved, spent, unpriced, calls,
		prompt, completion, journal, bytes)
		VALUES ('early', 'local', 'k9', 'chat', 'm', NOW, 0, 'open', 0, 7, 0, 0, 0, 0, 0, '', 0)`,
	`INSERT INTO days (key_id, day, requests, spent, reserved) VALUES ('k9', DAY, 1, 0, 7) ON CONFLICT (key_id, day)
		DO UPDATE SET requests = days.requests + 1, spent = days.spent + 0, reserved = days.reserved + 7`,
	`UPDATE requests SET ended = 1, status = 'ok', http = 200, spent = 5, unpriced = 0, calls = 1, prompt = 3,
		completion = 4, journal = '', bytes = 0 WHERE id = 'late' AND ended = 0`,
	`INSERT INTO days (key_id, day, requests, spent, reserved) VALUES ('KEY', DAY, 0, 5, -9) ON CONFLICT (key_id, day)
		DO UPDATE SET requests = days.requests + 0, spent = days.spent + 5, reserved = days.reserved + -9`,
}

// After a rollback an earlier release works with the store of this one, and after the next upgrade this one with what
// that has written. Columns are only added, and each has a value where an earlier release writes none.
func TestRollback(t *testing.T) {
	for _, a := range added {
		if !strings.Contains(a.kind, "DEFAULT") {
			t.Errorf("%s.%s has no default, so an earlier release could not write a row", a.table, a.column)
		}
	}
	url := fresh(t)
	s := openStore(t, url, Local)
	k := newKey(t, s, Key{Name: "limited", PerDay: 100, TokensPerDay: 100})
	if _, err := s.Begin(Request{ID: "late", Key: k, Want: both(9)}); err != nil {
		t.Fatal(err)
	}
	if err := s.flush(); err != nil { // as at the end of this release
		t.Fatal(err)
	}
	now := time.Now()
	fill := strings.NewReplacer("KEY", k.ID, "DAY", strconv.FormatInt(day(now), 10), "NOW",
		strconv.FormatInt(now.UnixMilli(), 10))
	for _, statement := range earlier {
		if _, err := s.db.Exec(fill.Replace(statement)); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, url, Local)
	defer s.Close()
	if lost, err := s.Beat(true); err != nil || lost != 1 {
		t.Errorf("%d lost, %v", lost, err)
	}
	keys, err := s.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].Name != "early" || keys[0].Today != 7 || keys[0].Reserved != 0 ||
		keys[1].Today != 5 || keys[1].Reserved != 0 || keys[1].TokensPerDay != 100 {
		t.Errorf("%+v, %v", keys, err)
	}
	// The earlier release did not return the tokens of the request that it has settled: they count until the day ends.
	if keys[1].TokensReserved != 9 || keys[1].TokensToday != 0 {
		t.Errorf("%+v", keys[1])
	}
	s.now = func() time.Time { return now.Add(24 * time.Hour) }
	if g, err := s.Begin(Request{ID: "next", Key: k, Want: both(100), Whole: true}); err != nil {
		t.Errorf("%+v, %v", g, err)
	}
}

// Journals that no request names any more go with their day: those of gateways that were killed, or have a new id.
func TestRetainOrphans(t *testing.T) {
	s := openStore(t, fresh(t), "g2")
	defer s.Close()
	folder := t.TempDir()
	for _, name := range []string{"2020-01-01", time.Now().UTC().Format(time.DateOnly), "other"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "x.jsonl"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Retain(t.Context(), Keep{Age: 30 * 24 * time.Hour}, folder); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 2 || left[0].Name() == "2020-01-01" {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := s.Retain(t.Context(), Keep{Age: time.Hour}, filepath.Join(folder, "none")); err != nil {
		t.Error(err)
	}
}
