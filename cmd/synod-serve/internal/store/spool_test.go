package store

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/durable"
)

// No change of the log of requests is accepted silently, but that its end was lost, as after a kill. Without the
// checksums of its lines, changes would be.
func TestDamagedSpool(t *testing.T) {
	dir := t.TempDir()
	sp := &spool{path: filepath.Join(dir, "s.db")}
	if err := sp.rotate(); err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"one", "two", "three"} {
		r := record{ID: id, Key: "k", Model: "council", Want: Money(1000 * i), Begun: int64(1_772_366_400_000 + i)}
		if i == 0 {
			r.Ended, r.Result = r.Begun+5, &Result{Status: "ok", HTTP: 200, Spent: 700, Calls: 3, Answer: "42"}
		}
		if err := sp.write(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := sp.file.Close(); err != nil {
		t.Fatal(err)
	}
	whole := ""
	read := func() (string, error) {
		again := &spool{path: sp.path, open: map[string]*entry{}, valid: map[string]time.Time{}}
		if err := again.replay(sp.generation); err != nil {
			return "", err
		}
		var b strings.Builder
		for _, id := range []string{"one", "two", "three"} {
			if e := again.open[id]; e != nil {
				line, _ := json.Marshal(e.record)
				b.Write(append(line, '\n'))
			}
		}
		if strings.HasPrefix(whole, b.String()) {
			return whole, nil
		}
		return b.String(), nil
	}
	var err error
	if whole, err = read(); err != nil || strings.Count(whole, "\n") != 3 {
		t.Fatalf("%q, %v", whole, err)
	}
	bare := func(text []byte) []byte {
		var out []byte
		for line := range bytes.Lines(text) {
			out = append(append(out, durable.Bare(line)...), '\n')
		}
		return out
	}
	damage.Check(t, sp.name(sp.generation), 400, bare, read)
	if err := os.WriteFile(sp.name(sp.generation), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sp.replay(sp.generation); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a line without a request: %v", err)
	}
}
