package journal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
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

// Lines without a sum line take a bounded amount of memory, which has room for the longest line.
func TestBytesWithoutSum(t *testing.T) {
	for _, c := range []struct {
		before, line int
		want         bool
	}{{0, 10, true}, {journal.MaxPending - 10, 10, true}, {journal.MaxPending - 10, 11, false}} {
		if err := journal.Pending(c.before, c.line); (err == nil) != c.want {
			t.Errorf("%d bytes and a line of %d: %v", c.before, c.line, err)
		}
	}
	if journal.MaxPending <= journal.MaxLine {
		t.Error("the longest line cannot be read")
	}
}

// The error for a line that no Writer writes names the line, with and without a sum line after it.
func TestErrorsNameTheLine(t *testing.T) {
	head := journal.Summed(`{"k":"head","version":3}` + "\n") // two lines
	event := `{"k":"event","t":0,"n":0,"w":"begin"}` + "\n"
	for text, want := range map[string]string{
		head + event + "no\n":                                  "line 4: ",
		head + event + event + "no\n" + event:                  "line 5: ",
		journal.Summed(head + "\n" + event):                    "line 3: ",
		journal.Summed(head + `{"k":"report","n":"x"}` + "\n"): "line 3: ",
		journal.Summed(head + event + "no\n"):                  "line 4: ",
		head + event + `{"k":"event","t":` + "\n":              "line 4: ",
		head + event + "no":                                    "line 4: ",
		"no\n":                                                 "line 1: ",
		journal.Summed(head+event) + event + "{}\n":            "line 6: ",
		journal.Summed(journal.Summed(head+event) + "{}\n"):    "line 5: ",
	} {
		_, err := journal.Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	err := journal.ReadPart(`{"k":"head","version":3}` + "\n" + event + strings.TrimSpace(event))
	if !errors.Is(err, journal.ErrChanged) || !strings.Contains(err.Error(), "line 3: ") {
		t.Errorf("a part of a segment whose last line does not end: %v", err)
	}
}

// An error of the disk names the line that could not be read, and a path that names no file is in the error.
func TestErrorsOfFiles(t *testing.T) {
	head := journal.Summed(`{"k":"head","version":3}` + "\n")
	broken := errors.New("broken disk")
	_, err := journal.Read(io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 3: ") {
		t.Error(err)
	}
	for path, want := range map[string]string{"#x": "open #x: ", "none": "open none: "} {
		if _, err := journal.Load(path); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Only calls that were paid for are lost when a run ends before their replies.
func TestLostCallsWerePaidFor(t *testing.T) {
	run, err := written(t, func(w *journal.Writer) {
		w.Reply(0, 0, synod.Reply{Status: synod.Dropped})
		w.Reply(1, 0, synod.Reply{Status: synod.Dropped, Calls: 2})
		w.Reply(2, 0, synod.Reply{Status: synod.OK, Calls: 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	if lost := run.Lost(); len(lost) != 1 || lost[0].Node != 1 || lost[0].Calls != 2 {
		t.Errorf("lost: %+v", lost)
	}
}

// The journal of one seat has the digest of this seat's lines, also if there are none yet.
func TestDigestOfOneSeat(t *testing.T) {
	none := sha256.Sum256(nil)
	for _, c := range []struct {
		seat  synod.NodeID
		lines []synod.NodeID
		empty bool
	}{{0, nil, true}, {2, nil, true}, {1, []synod.NodeID{0}, true}, {0, []synod.NodeID{0}, false}, {-1, nil, true}} {
		w, err := journal.Create(filepath.Join(t.TempDir(), "j"), journal.Head{Seat: &c.seat})
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range c.lines {
			w.Event(0, node, synod.Begin{})
		}
		digest, err := w.Close("rounds")
		if err != nil || (digest == hex.EncodeToString(none[:])) != c.empty {
			t.Errorf("seat %d after lines of %v: %s, %v", c.seat, c.lines, digest, err)
		}
		if run, err := journal.Load(w.Path()); err != nil || run.Digest() != digest {
			t.Errorf("seat %d after lines of %v, read: %v", c.seat, c.lines, err)
		}
	}
}

// A segment that is opened again finds all runs, also those that are longer than what it reads at once, and
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
	if s, err = journal.OpenSegment(path); err != nil {
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
