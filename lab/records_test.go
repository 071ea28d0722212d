package lab_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/journal"
	"synod.dev/synod/lab"
)

// attempts.jsonl survives a process that died while it wrote a line, and nothing else.
func TestAttemptsRepair(t *testing.T) {
	run := create(t, plan(t, seven, 2, 1))
	path := filepath.Join(run.Dir(), "attempts.jsonl")
	line := string(lab.SealLine(`{"question":"Sum 0/x","repeat":0,"stopped":"deadline","failed":true,"reason":"too late","seconds":1}`))
	next := string(lab.SealLine(`{"question":"Sum 1/x","repeat":0,"stopped":"deadline","failed":true,"reason":"too late","seconds":1}`))
	for name, c := range map[string]struct {
		text   string
		failed int // in the report; -1: it is refused
	}{
		"whole":                 {line + next, 2},
		"no newline":            {line + strings.TrimSuffix(next, "\n"), 2},
		"half a line":           {line + next[:40], 1},
		"another last newline":  {line + strings.TrimSuffix(next, "\n") + "\x0b", -1},
		"another newline":       {strings.Replace(line+next, "\n", "J", 1), -1},
		"a changed reason":      {strings.Replace(line, "late", "lade", 1) + next, -1},
		"a changed last reason": {line + strings.Replace(next, "late", "lade", 1), -1},
		"no sum":                {`{"question":"Sum 0/x","failed":true}` + "\n", -1},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := run.Report()
		if c.failed < 0 {
			if !errors.Is(err, journal.ErrChanged) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || r.Failed != c.failed {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		copied := create(t, plan(t, seven, 2, 1))
		if err := os.WriteFile(filepath.Join(copied.Dir(), "attempts.jsonl"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		work(t, copied, 1)
		b, _ := os.ReadFile(filepath.Join(copied.Dir(), "attempts.jsonl"))
		if n := bytes.Count(b, []byte("\n")); n != c.failed+2 || b[len(b)-1] != '\n' {
			t.Errorf("%s: %d lines after the next run:\n%s", name, n, b)
		}
		if r := reported(t, copied.Dir()); r.Finished != 2 {
			t.Errorf("%s: after the next run: %+v", name, r)
		}
	}
}

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
		w, err := segment.Create("Sum 0/x-0", c.head)
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
		if _, err := run.Work(context.Background(), lab.Options{}); !lab.Damaged(err) {
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
	path := filepath.Join(run.Dir(), "run.json")
	b, _ := os.ReadFile(path)
	for from, to := range map[string]string{
		`"repeat": 1,`: `"repeat": 1000000000,`,
		`"n": 2,`:      `"n": 1000000000,`,
		`"version": 3`: `"version": 2`,
	} {
		reseal(t, path, bytes.Replace(b, []byte(from), []byte(to), 1))
		if _, err := lab.Open(run.Dir()); err == nil {
			t.Errorf("%s is accepted", to)
		}
	}
	many := plan(t, seven, 2, 1)
	many.Repeat = 1_000_000_000
	if _, err := lab.Draft(many); err == nil || !strings.Contains(err.Error(), "repeat is 1000000000") {
		t.Errorf("a draft: %v", err)
	}
}

// A changed bit in the files of a finished run is found by a report or by a resume.
func TestChangedBits(t *testing.T) {
	run := create(t, plan(t, seven, 2, 1))
	work(t, run, 1)
	want := fmt.Sprintf("%+v", reported(t, run.Dir()))
	for _, name := range []string{"run.json", "items.jsonl", "attempts.jsonl", "journals.jsonl"} {
		path := filepath.Join(run.Dir(), name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for bit := 0; bit < 8*len(whole); bit += 1 + len(whole)/20 {
			changed := bytes.Clone(whole)
			changed[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := lab.Open(run.Dir())
			if err == nil {
				_, err = r.Report()
			}
			if err == nil {
				t.Errorf("%s: bit %d of byte %d is not found; the report is %s", name, bit%8, bit/8, want)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
