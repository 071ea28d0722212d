package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// Data are deleted while a gateway answers, which goes on and drops no request; its page finds them no more.
func TestDataDelete(t *testing.T) {
	s := newSite(t)
	url := filepath.Join(s.dir, "state", "serve", "serve.db")
	alice, bob := s.key(t, url, store.Key{Name: "alice"}), s.key(t, url, store.Key{Name: "bob"})
	g := startGateway(t, "", s.args(url)...)
	for i := range 3 {
		if status, body := g.ask(alice, "five", i); status != 200 {
			t.Fatal(status, body)
		}
	}
	answered, stop := load(g, bob)
	waitFor(t, "answering", func() bool { return answered.Load() > 3 })
	remove := []string{"serve", "data", "delete", "--home", s.dir, "--key", "alice", "--text", "17 +"}
	waitFor(t, "all in the store", func() bool {
		_, out, _ := command(t, append(remove, "--dry-run")...)
		return strings.HasPrefix(out, "would delete the texts of 3 requests, 3 journals, 0 stored")
	})
	code, out, errs := command(t, remove...)
	if code != 0 || out != "deleted the texts of 3 requests, 3 journals, 0 stored responses, 0 tasks\n" || errs != "" {
		t.Error(code, out, errs)
	}
	now := answered.Load()
	waitFor(t, "answering afterwards", func() bool { return answered.Load() > now+3 })
	stop()
	g.end(syscall.SIGTERM)
	for _, row := range rowsOf(t, url) {
		day := row.Begun.UTC().Format("2006-01-02")
		file := filepath.Join(s.dir, "state", "serve", "journals", day, row.ID+".jsonl")
		_, err := os.Stat(file)
		if mine := row.Question == ""; mine != (row.Journal == "") || mine != (err != nil) || row.Spent == 0 {
			t.Errorf("%+v, %v", row, err)
		}
		if row.HTTP != 200 {
			t.Errorf("%+v; want that no request was dropped", row)
		}
	}
	for args, want := range map[string]string{"": "--key or --text", "--key nobody": "keys list",
		"--key alice --before soon": "2027-01-31"} {
		args := append([]string{"serve", "data", "delete", "--home", s.dir}, strings.Fields(args)...)
		if code, _, errs := command(t, args...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if code, _, _ := command(t, "serve", "data", "delete", "--home", s.dir, "--text", "17 + 25"); code != 0 {
		t.Error(code)
	}
	err := filepath.WalkDir(filepath.Join(s.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "17 + 25") {
			t.Errorf("%s has the question; %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
