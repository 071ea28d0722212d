package journal_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/core/journal"
)

// What seats report that were played elsewhere is read again, by Load and Summarize, also if the process died at any
// byte after it. A report that JSON cannot hold is an error, and so is a changed one.
func TestReports(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	w, err := journal.Create(path, journal.Head{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Report(1, "run-a", map[string]int{"calls": 3})
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.Report(0, "run-b", nil)
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(first); n <= len(whole); n++ {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		run, err := journal.Load(path)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		sum, err := journal.SummarizeFile(path)
		if err != nil || len(sum.Reports) != len(run.Reports) || (sum.End == nil) != (run.End == nil) {
			t.Fatalf("cut at byte %d: %d and %d reports, %v", n, len(run.Reports), len(sum.Reports), err)
		}
		if ended := n >= len(whole)-1; ended != (run.End != nil) || ended && len(run.Reports) != 2 {
			t.Fatalf("cut at byte %d: %d reports, end %v", n, len(run.Reports), run.End)
		}
		r := run.Reports[0]
		if r.Node != 1 || r.Instance != "run-a" || string(r.Account) != `{"calls":3}` {
			t.Fatalf("cut at byte %d: %+v", n, r)
		}
	}
	changed := strings.Replace(string(whole), `"calls":3`, `"calls":2`, 1)
	if _, err := journal.Read(strings.NewReader(changed)); err == nil {
		t.Error("a changed report is read")
	}
	if w, err = journal.Create(path+"2", journal.Head{}); err != nil {
		t.Fatal(err)
	}
	if w.Report(0, "run-c", math.NaN()); w.Err() == nil {
		t.Error("a report that is not JSON is written")
	}
	w.Abandon()
}

// A journal whose head cannot be written is an error, and leaves no file.
func TestHeadThatIsNoJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	w, err := journal.Create(path, journal.Head{Spec: []byte("{")})
	if err == nil || w != nil {
		t.Errorf("%v, %v", w, err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file: %v", err)
	}
}
