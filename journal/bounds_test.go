package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/journal"
)

// What is open at once counts as nesting, not what is closed again or quoted.
func TestNestingBound(t *testing.T) {
	const n = journal.MaxNesting
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for what, c := range map[string]struct {
		text string
		want bool
	}{
		"lists at the bound":    {many("[", n) + many("]", n), false},
		"lists beyond it":       {many("[", n+1) + many("]", n+1), true},
		"objects beyond it":     {many(`{"a":`, n+1) + "1" + many("}", n+1), true},
		"both, beyond it":       {many(`{"a":[`, n/2+1) + many("]}", n/2+1), true},
		"lists one by one":      {"[" + many("[],", 2*n) + "[]]", false},
		"objects one by one":    {"[" + many("{},", 2*n) + "{}]", false},
		"quoted":                {`"` + many("[{", n) + `"`, false},
		"after a quoted quote":  {`"\"` + many("[{", n) + `"`, false},
		"after a quoted escape": {`["\\",` + many("[", n) + many("]", n) + "]", true},
	} {
		if journal.TooDeep([]byte(c.text)) != c.want {
			t.Errorf("%s: too deep: %v", what, !c.want)
		}
	}
}

// There are at most MaxSeats seats, so that a damaged line cannot take all memory.
func TestSeatBound(t *testing.T) {
	for node, want := range map[synod.NodeID]bool{journal.MaxSeats - 1: true, journal.MaxSeats: false, -1: false} {
		w, err := journal.Create(filepath.Join(t.TempDir(), "j"), journal.Head{})
		if err != nil {
			t.Fatal(err)
		}
		w.Event(0, node, synod.Begin{})
		if _, err := w.Close("rounds"); (err == nil) != want {
			t.Errorf("seat %d: %v", node, err)
		}
	}
}

// A segment that is open for reading finds all runs, also those that are longer than what it reads at once, and
// their ids have at most MaxID bytes.
func TestLongRunsOfASegment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s, err := journal.OpenSegment(path)
	if err != nil {
		t.Fatal(err)
	}
	longest := strings.Repeat("i", journal.MaxID)
	texts := map[string]string{}
	for i, size := range []int{10, 1_000_000, 100, 200_000, 70_000, 1} {
		id := fmt.Sprint(longest[:len(longest)-1], i)
		texts[id] = strings.Repeat("x", size)
		w, err := s.Create(id, journal.Head{Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		w.Reply(0, 0, synod.Reply{Status: synod.OK, Text: texts[id], Calls: 1})
		if _, err := w.Close("rounds"); err != nil {
			t.Fatal(err)
		}
		if err := s.Keep(id); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"", longest + "i"} {
		if _, err := s.Create(id, journal.Head{}); err == nil {
			t.Errorf("an id of %d bytes is accepted", len(id))
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = journal.ReadSegment(path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for id, text := range texts {
		run, err := s.Load(id)
		if err != nil || run.Replies[journal.Key{}].Text != text || run.End == nil {
			t.Errorf("the run %s with %d bytes: %v", id[len(id)-1:], len(text), err)
		}
	}
}

// A run that was cut between an event and its effects replays; a finished one without them does not.
func TestReplayOfCutEffects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, line := range strings.SplitAfter(string(whole), "\n") {
		if strings.HasPrefix(line, `{"k":"sum"`) {
			continue
		}
		if text += line; strings.HasPrefix(line, `{"k":"event"`) {
			break
		}
	}
	if err := os.WriteFile(path, []byte(journal.Summed(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Replay(run, join("")); err != nil {
		t.Errorf("a run that was cut off: %v", err)
	}
	run.End = &journal.End{}
	_, err = journal.Replay(run, join(""))
	if err == nil || !strings.Contains(err.Error(), "the journal has nothing") {
		t.Errorf("a finished run: %v", err)
	}
}
