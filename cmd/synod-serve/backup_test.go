package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// load asks questions with keys until stop is called, which returns how many were answered.
func load(g *gatewayProcess, keys ...string) (answered *atomic.Int64, stop func()) {
	var wait sync.WaitGroup
	answered = &atomic.Int64{}
	end := make(chan struct{})
	for w, key := range keys {
		wait.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-end:
					return
				default:
				}
				if status, _ := g.ask(key, "five", 1000*w+i); status == 200 {
					answered.Add(1)
				}
			}
		})
	}
	return answered, func() { close(end); wait.Wait() }
}

// rowsOf returns the requests of a store by id, as the next gateway finds them.
func rowsOf(t *testing.T, url string) map[string]store.Row {
	t.Helper()
	st, err := store.Open(t.Context(), url, store.Local)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rows, err := st.Recent(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]store.Row{}
	for _, r := range rows {
		by[r.ID] = r
	}
	return by
}

// A backup under load and its restore to another folder have every request that had ended before, with its journal,
// and none that is not so in the original; keys, configuration and council files work there.
func TestBackupUnderLoad(t *testing.T) {
	s := newSite(t)
	url, archive := filepath.Join(s.dir, "state", "serve", "serve.db"), filepath.Join(t.TempDir(), "b.tar.gz")
	limited := s.key(t, url, store.Key{Name: "limited", PerDay: store.USD(100), TokensPerDay: 1e9})
	free := s.key(t, url, store.Key{Name: "free"})
	config := filepath.Join(s.dir, "config", "serve.yaml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("keep: {days: 7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := startGateway(t, "", s.args(url)...)
	answered, stop := load(g, limited, free, free)
	waitFor(t, "answering", func() bool { return answered.Load() >= 20 })
	begun := time.Now()
	code, out, errs := command(t, "serve", "backup", archive, "--home", s.dir, "--councils", s.councils)
	before := answered.Load()
	waitFor(t, "answering after the backup", func() bool { return answered.Load() > before })
	stop()
	g.end(syscall.SIGTERM)
	says := regexp.MustCompile(`: 2 keys, \d+ requests, \d+ journals, 1 council file, \d+ configuration file`)
	if code != 0 || !says.MatchString(out) {
		t.Fatal(code, out, errs)
	}
	to := t.TempDir()
	restored := filepath.Join(to, "state", "serve", "serve.db")
	code, out, errs = command(t, "serve", "restore", archive, "--home", to, "--councils", filepath.Join(to, "councils"))
	if code != 0 || !strings.Contains(out, "1 council file,") {
		t.Fatal(code, out, errs)
	}
	s.compare(t, rowsOf(t, url), rowsOf(t, restored), to, begun)
	if b, err := os.ReadFile(filepath.Join(to, "config", "serve.yaml")); string(b) != "keep: {days: 7}\n" {
		t.Errorf("%q %v", b, err)
	}
	if code, _, errs := command(t, "serve", "restore", archive, "--home", to, "--councils", to); code != 2 ||
		!strings.Contains(errs, "move it away") {
		t.Errorf("a restore over a store: %d %s", code, errs)
	}
	g = startGateway(t, "", "--home", to, "--councils", filepath.Join(to, "councils"), "--prices", s.prices)
	defer g.end(syscall.SIGTERM)
	for _, key := range []string{limited, free} {
		if status, body := g.ask(key, "five", 7); status != 200 {
			t.Error(status, body)
		}
	}
}

// compare compares what was restored with the original: what had ended by a time must be in it.
func (s *site) compare(t *testing.T, all, got map[string]store.Row, to string, by time.Time) {
	t.Helper()
	n := 0
	for id, r := range all {
		if !r.Ended.IsZero() && r.Ended.Before(by) {
			if n++; got[id].Ended.IsZero() {
				t.Errorf("%s is missing, which had ended: %+v", id, got[id])
			}
		}
	}
	for id, r := range got {
		was, there := all[id]
		if !there || !r.Ended.IsZero() && r != was {
			t.Errorf("%+v is restored; it was %+v", r, was)
		}
		if r.Journal == "" || r.Ended.IsZero() {
			continue
		}
		under := filepath.Join("state", "serve", "journals", r.Begun.UTC().Format(time.DateOnly), r.Journal+".jsonl")
		old, err := os.ReadFile(filepath.Join(s.dir, under))
		now, gone := os.ReadFile(filepath.Join(to, under))
		if err != nil || gone != nil || !bytes.Equal(old, now) {
			t.Errorf("the journal %s: %v, %v", under, err, gone)
		}
	}
	if n == 0 {
		t.Error("nothing had ended")
	}
}

// A backup of a gateway that was killed has what its log has: every request that was answered.
func TestBackupOfKilled(t *testing.T) {
	s := newSite(t)
	url, archive := filepath.Join(s.dir, "state", "serve", "serve.db"), filepath.Join(t.TempDir(), "b.tar.gz")
	free := s.key(t, url, store.Key{Name: "free"})
	g := startGateway(t, "", s.args(url)...)
	for i := range 5 {
		if status, body := g.ask(free, "five", i); status != 200 {
			t.Fatal(status, body)
		}
	}
	g.end(syscall.SIGKILL)
	to := t.TempDir()
	for _, args := range [][]string{{"backup", archive, "--home", s.dir}, {"restore", archive, "--home", to}} {
		if code, out, errs := command(t, append([]string{"serve"}, args...)...); code != 0 {
			t.Fatal(code, out, errs)
		}
	}
	got := rowsOf(t, filepath.Join(to, "state", "serve", "serve.db"))
	if len(got) != 5 {
		t.Errorf("%d requests; five were answered", len(got))
	}
	s.compare(t, rowsOf(t, url), got, to, time.Now())
	for args, want := range map[string]string{"backup " + archive + " --home " + s.dir: "exists",
		"backup " + archive + "2 --home " + t.TempDir():  "no store",
		"restore " + s.prices + " --home " + t.TempDir(): "no backup",
		"restore " + archive + "3 --home " + t.TempDir(): "no such file"} {
		if code, _, errs := command(t, append([]string{"serve"}, strings.Fields(args)...)...); code != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", args, code, errs)
		}
	}
}
