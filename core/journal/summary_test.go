package journal_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// Summarize agrees with Load, for journals that were cut off too.
func TestSummaryAgreesWithLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 1, 0)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := afterHead(whole); n <= len(whole); n++ {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := journal.SummarizeFile(path)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		noted := run.Opinions()
		for k, r := range run.Replies {
			run.Replies[k] = synod.Reply{Status: r.Status, Usage: r.Usage, Calls: r.Calls}
		}
		if !reflect.DeepEqual(s.Replies, run.Replies.List()) || !reflect.DeepEqual(s.Head, run.Head) ||
			!reflect.DeepEqual(s.End, run.End) || !reflect.DeepEqual(s.Noted, noted) {
			t.Fatalf("cut at byte %d:\n%+v\nwant %+v, %+v, %+v", n, s, noted, run.Replies, run.End)
		}
	}
	if s, _ := journal.SummarizeFile(path); len(s.Noted) != 1 || len(s.Replies) != 2 || s.End == nil {
		t.Errorf("%+v", s)
	}
}

// A changed byte of a finished run is found, also where Summarize does not decode it.
func TestSummaryFindsEveryChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	whole, _ := os.ReadFile(path)
	at, tried := 0, 0
	for _, l := range strings.SplitAfter(string(whole), "\n") {
		if !strings.Contains(l, `"k":"end"`) {
			for i := range len(l) {
				b := []byte(string(whole))
				b[at+i] ^= 1
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				if s, err := journal.SummarizeFile(path); err == nil &&
					s.End != nil { // without an end the run does not count as finished
					t.Errorf("a change of byte %d of %q is not found", i, l)
				}
				tried++
			}
		}
		at += len(l)
	}
	if tried < 800 {
		t.Errorf("only %d bytes were tried", tried)
	}
}

// Lines that another program has written, with other spaces and field orders, are read
// too.
func TestSummaryOfOtherEncoding(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	text := `{"version":3, "k":"head"}` + "\n" +
		`{ "w":"note", "opinion":{"answer":"7","round":1}, "n":2, "k":"effect"}` + "\n" +
		`{"k":"effect","n":1,"opinion":{"answer":"8"},"w":"note"}` + "\n" +
		`{"k":"effect","t":1,"n":1,"opinion":{"round":1,"answer":"9","surface":"nine"},"w":"note"}` + "\n" +
		`{"n":1, "k":"reply", "id":4, "calls":2}` + "\n"
	if err := os.WriteFile(path, []byte(journal.Summed(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := journal.SummarizeFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Noted) != 3 || s.Noted[0].Answer != "7" || s.Noted[1].Answer != "8" || s.Noted[2].Answer != "9" ||
		len(s.Replies) != 1 || s.Replies[0].Key != (journal.Key{Node: 1, ID: 4}) || s.Replies[0].Calls != 2 {
		t.Errorf("%+v", s)
	}
}

// A summary has every field of an opinion that outcome.Judge counts; Unreadable, for one,
// becomes the unreadable replies of a model in a report.
func TestSummaryOfWholeOpinion(t *testing.T) {
	half := 0.5
	opinion := &synod.Opinion{Round: 2, Answer: "42", Confidence: &half,
		Retained: []synod.NodeID{1}, Dropped: []synod.NodeID{2}, Silent: []synod.NodeID{3, 4},
		Failed: 5, Unreadable: 6, Reused: 7}
	path := filepath.Join(t.TempDir(), "j")
	w, err := journal.Create(path, journal.Head{Program: "test", Question: synod.Question{Text: "?"}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	w.Effect(1, 0, synod.Note{Opinion: opinion})
	if _, err = w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	s, err := journal.SummarizeFile(path)
	if err != nil || len(s.Noted) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if got := &s.Noted[0].Opinion; !reflect.DeepEqual(got, opinion) {
		t.Errorf("%+v; want %+v", got, opinion)
	}
}
