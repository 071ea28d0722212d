package bench_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/core/journal"
)

// elsewhere returns the run as another machine has it, which knows only its parcel.
func elsewhere(t *testing.T, run *bench.Run) *bench.Run {
	t.Helper()
	hash, err := run.Hash()
	if err != nil {
		t.Fatal(err)
	}
	parcel, err := run.Parcel()
	if err != nil {
		t.Fatal(err)
	}
	there, err := parcel.Unpack(hash)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parcel.Unpack(strings.Repeat("0", 64)); err == nil {
		t.Error("a parcel with another hash was accepted")
	}
	parcel.Items = bytes.Replace(parcel.Items, []byte("apples"), []byte("pears!"), 1)
	if _, err := parcel.Unpack(hash); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("a parcel with another question: %v", err)
	}
	return there
}

func player(t *testing.T, run *bench.Run) *bench.Player {
	t.Helper()
	p, err := run.Player(bench.Options{Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func examiner(t *testing.T, run *bench.Run) *bench.Examiner {
	t.Helper()
	e, err := run.Examiner()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPlayedElsewhere: a job that another machine plays has the journal that Work writes, and the examiner accepts it
// for that job alone.
func TestPlayedElsewhere(t *testing.T) {
	run := create(t, plan(t, seven, 3, 2))
	p, e, dir := player(t, elsewhere(t, run)), examiner(t, run), t.TempDir()
	work(t, run, 1)
	var journals []*journal.Run
	jobs := run.Jobs()
	for i, j := range jobs {
		path := filepath.Join(dir, string(rune('a'+i)))
		a, err := p.Play(t.Context(), j, path)
		if err != nil || !a.Finished || a.Resumes {
			t.Fatalf("%+v, %v", a, err)
		}
		there, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		journals = append(journals, there)
	}
	report := reported(t, run.Dir())
	if report.Finished != len(jobs) || len(jobs) != 6 {
		t.Fatalf("%d jobs, %d finished", len(jobs), report.Finished)
	}
	for i, j := range jobs {
		for k, of := range journals {
			if err := e.Examine(j, of); (err == nil) != (i == k) {
				t.Errorf("job %v, journal of %v: %v", j, jobs[k], err)
			}
		}
	}
	if e.Has(bench.Job{Question: jobs[0].Question, Repeat: 2}) || e.Has(bench.Job{Question: "?"}) || !e.Has(jobs[5]) {
		t.Error("the examiner knows other jobs than the run")
	}
	if _, err := p.Play(t.Context(), bench.Job{Question: "?"}, filepath.Join(dir, "x")); err == nil {
		t.Error("a question that the run does not have was played")
	}
	other := plan(t, seven, 3, 2)
	other.Seed = 8
	if err := examiner(t, create(t, other)).Examine(jobs[0], journals[0]); err == nil {
		t.Error("a journal of a run with another seed was accepted")
	}
}

// A result that another process has played costs what it would have cost here: nothing with simulated members, and
// not an unknown amount.
func TestCostOfElsewhere(t *testing.T) {
	run := create(t, plan(t, seven, 1, 1))
	path, j := filepath.Join(t.TempDir(), "j"), run.Jobs()[0]
	a, err := player(t, elsewhere(t, run)).Play(t.Context(), j, path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := run.Write()
	if err != nil {
		t.Fatal(err)
	}
	if added, err := w.Put(run, j, text, a); !added || err != nil {
		t.Fatal(added, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	counts, err := s.Count()
	if err != nil {
		t.Fatal(err)
	}
	for cell, c := range counts {
		if c.Finished != 1 || c.Priced != 1 || c.USD != 0 {
			t.Errorf("cell %d: %+v", cell, c)
		}
	}
}

// TestExamineForged: whoever changes a journal and makes all checksums fit still has to make the effects follow from
// the replies.
func TestExamineForged(t *testing.T) {
	run := create(t, plan(t, seven, 1, 1))
	path := filepath.Join(t.TempDir(), "j")
	j := run.Jobs()[0]
	if _, err := player(t, run).Play(t.Context(), j, path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if changed := bytes.Replace(text, []byte(`"k":"effect"`), []byte(`"k":"effecT"`), 1); bytes.Equal(changed, text) {
		t.Fatal("the journal has no effects")
	} else if _, err := journal.Read(bytes.NewReader(changed)); err == nil {
		t.Error("a changed byte was not noticed")
	}
	e := examiner(t, run)
	for name, change := range map[string]func(*journal.Run){
		"cut off":          func(r *journal.Run) { r.End = nil },
		"interrupted":      func(r *journal.Run) { r.End.Stopped = "interrupted" },
		"another digest":   func(r *journal.Run) { r.End.Digest = strings.Repeat("0", 64) },
		"another seed":     func(r *journal.Run) { r.Head.Seed++ },
		"another question": func(r *journal.Run) { r.Head.Question.Text += "?" },
		"another council":  func(r *journal.Run) { r.Head.Spec = []byte(`"council: x"`) },
		"other replies": func(r *journal.Run) {
			for k, reply := range r.Replies {
				reply.Answer = "99"
				r.Replies[k] = reply
			}
		},
	} {
		forged, err := journal.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Examine(j, forged); err != nil {
			t.Fatal(err)
		}
		change(forged)
		if err := e.Examine(j, forged); err == nil {
			t.Errorf("%s: the journal was accepted", name)
		}
	}
}

// TestPlayGoesOn: a job that was cut off goes on with its file, also when its journal is complete.
func TestPlayGoesOn(t *testing.T) {
	run := create(t, plan(t, seven, 1, 1))
	p, path, j := player(t, run), filepath.Join(t.TempDir(), "j"), run.Jobs()[0]
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := p.Play(cut, j, path); err != nil || a.Finished || !a.Resumes {
		t.Fatalf("%+v, %v", a, err)
	}
	var sizes []int
	for range 2 {
		if a, err := p.Play(t.Context(), j, path); err != nil || !a.Finished {
			t.Fatalf("%+v, %v", a, err)
		}
		known, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := examiner(t, run).Examine(j, known); err != nil {
			t.Error(err)
		}
		sizes = append(sizes, len(known.Replies))
	}
	if !slices.Equal(sizes, []int{sizes[0], sizes[0]}) {
		t.Errorf("replies: %v", sizes)
	}
}
