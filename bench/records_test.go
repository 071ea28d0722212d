package bench_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/internal/nightly"
)

// Replies of a run that was cut off are used only for the same question and seed, and only
// if no byte of them has changed. Else no call is made.
func TestForeignReplies(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	spec := strings.ReplaceAll(served, "$URL", s.URL)
	for name, c := range map[string]struct {
		head journal.Head
		flip bool
	}{
		"another seed":     {journal.Head{Seed: 1, Question: synod.Question{ID: "Sum 0/x"}}, false},
		"another question": {journal.Head{Seed: 1, Question: synod.Question{ID: "Sum 1/x"}}, false},
		"a changed byte":   {journal.Head{Seed: 1}, true},
	} {
		run := create(t, plan(t, spec, 2, 1))
		segment, err := journal.OpenSegment(journals(run))
		if err != nil {
			t.Fatal(err)
		}
		w, err := segment.Create("1/Sum 0/x-0", c.head)
		if err != nil {
			t.Fatal(err)
		}
		w.Reply(0, 0, synod.Reply{Status: synod.OK, Text: "41", Calls: 1})
		w.Reply(1, 0, synod.Reply{Status: synod.OK, Text: "41", Calls: 1})
		if _, err := w.Abandon(); err != nil {
			t.Fatal(err)
		}
		if err := segment.Close(); err != nil {
			t.Fatal(err)
		}
		if c.flip {
			b, _ := os.ReadFile(journals(run))
			if err := os.WriteFile(journals(run), bytes.Replace(b, []byte(`"41"`), []byte(`"42"`), 1), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := run.Work(context.Background(), bench.Options{}); !bench.Damaged(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Count() > 0 {
		t.Errorf("%d calls were made", s.Count())
	}
}

// A manifest cannot make a report run for hours or take all memory.
func TestManifestBounds(t *testing.T) {
	run := create(t, plan(t, seven, 2, 1))
	for from, to := range map[string]string{
		`"repeat": 1,`: `"repeat": 1000000000,`,
		`"n": 2,`:      `"n": 1000000000,`,
		`"version": 4`: `"version": 3`,
	} {
		undo := reseal(t, run, from, to)
		if _, err := bench.Open(run.Dir()); err == nil {
			t.Errorf("%s is accepted", to)
		}
		undo()
	}
	many := plan(t, seven, 2, 1)
	many.Repeat = 1_000_000_000
	if _, err := bench.Draft(many); err == nil || !strings.Contains(err.Error(), "repeat is 1000000000") {
		t.Errorf("a draft: %v", err)
	}
}

// A changed bit in the files of a finished run is found by a report, or changes nothing in it: a database has bytes
// that mean nothing. "make nightly" tries more bits.
func TestChangedBits(t *testing.T) {
	run := create(t, plan(t, seven, 2, 1))
	work(t, run, 1)
	want := text(t, reported(t, run.Dir()))
	for name, unused := range map[string]bool{"results.db": true, "journals-1.seg": false} {
		path := filepath.Join(run.Dir(), name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		step := 1 + len(whole)/nightly.Size(10, 60)
		for bit := rand.IntN(step); bit < 8*len(whole); bit += step {
			changed := bytes.Clone(whole)
			changed[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := bench.Open(run.Dir())
			if err == nil {
				_, err = r.Report()
			}
			if err != nil {
				found++
			} else if got := text(t, reported(t, run.Dir())); !unused || got != want {
				t.Errorf("%s: bit %d of byte %d is not found; the report is %s", name, bit%8, bit/8, got)
			}
		}
		if t.Logf("%s: %d found", name, found); found == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
