package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

func openSegment(t testing.TB, path string) *journal.Segment {
	t.Helper()
	s, err := journal.OpenSegment(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// begin begins an attempt at a run with a seed.
func begin(t testing.TB, s *journal.Segment, id string, seed uint64) *journal.Writer {
	t.Helper()
	w, err := s.Create(id, journal.Head{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func reply(text string) synod.Reply { return synod.Reply{Status: synod.OK, Text: text, Calls: 1} }

// fill writes a small run: an event, a paid reply and a free one.
func fill(w *journal.Writer, node synod.NodeID) {
	w.Event(0, node, synod.Begin{})
	w.Reply(node, 0, reply("paid"))
	w.Free(node, 1, reply("free"))
	w.Effect(1, node, synod.Decide{Answer: "7"})
}

// Runs that are written at the same time share a file, and each is read alone.
func TestSegment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.jsonl")
	s := openSegment(t, path)
	const n = 20
	digests := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			w := begin(t, s, fmt.Sprint("q", i), uint64(i))
			fill(w, synod.NodeID(i))
			digest, err := w.Close("rounds")
			if err == nil && i%4 != 3 {
				err = s.Keep(fmt.Sprint("q", i))
			}
			if err != nil {
				t.Error(err)
			}
			digests[i] = digest
		})
	}
	all.Wait()
	check := func(s *journal.Segment) {
		t.Helper()
		if ids := s.IDs(); len(ids) != n || !slices.IsSorted(ids) {
			t.Errorf("ids: %v", ids)
		}
		for i := range n {
			id := fmt.Sprint("q", i)
			if s.Finished(id) != (i%4 != 3) {
				t.Errorf("%s: finished is %v", id, s.Finished(id))
			}
			run, err := s.Load(id)
			if err != nil {
				t.Fatal(err)
			}
			if run.Head.Seed != uint64(i) || run.Replies[journal.Key{Node: synod.NodeID(i)}].Text != "paid" {
				t.Errorf("%s: %+v", id, run)
			}
			lines, err := s.Lines(id)
			if i%4 == 3 {
				if run.End != nil || !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s was not taken: end %v, %v", id, run.End, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			sum, err := journal.Summarize(lines)
			if err != nil || sum.End.Digest != digests[i] || run.Digest() != digests[i] || len(run.Replies) != 2 {
				t.Errorf("%s: %+v, %+v, %v", id, sum, run, err)
			}
			one, err := journal.Parse(lines)
			if err != nil || one.Digest() != digests[i] {
				t.Errorf("the lines of %s: %v", s.Path(id), err)
			}
		}
	}
	check(s)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	again := openSegment(t, path)
	check(again)
	if _, err := again.Load("nobody"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an id that is not there: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err := again.Create("x", journal.Head{}); err != nil {
		t.Error(err)
	} else if w.Reply(0, 0, reply("")); w.Err() == nil {
		t.Error("a segment that is closed was written")
	}
	if _, err := journal.Load(path); err == nil || !strings.Contains(err.Error(), "journals of several runs") {
		t.Errorf("loading a whole segment: %v", err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v", info.Mode())
	}
}

// The replies of attempts that were cut off are merged, later ones first; a finished
// attempt stands alone; nothing is left of a run that was dropped.
func TestSegmentAttempts(t *testing.T) {
	s := openSegment(t, filepath.Join(t.TempDir(), "s"))
	defer s.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	texts := func() string {
		t.Helper()
		run, err := s.Load("q")
		must(err)
		var out []string
		for k, r := range run.Replies {
			out = append(out, fmt.Sprint(k.ID, "=", r.Text))
		}
		slices.Sort(out)
		return fmt.Sprintf("seed %d, %v, ended %v", run.Head.Seed, out, run.End != nil)
	}
	expect := func(want string) {
		t.Helper()
		if got := texts(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	w := begin(t, s, "q", 1)
	w.Reply(0, 0, reply("a"))
	w.Reply(0, 1, reply("b"))
	_, err := w.Abandon()
	must(err)
	expect("seed 1, [0=a 1=b], ended false")
	w = begin(t, s, "q", 2)
	w.Reply(0, 1, reply("c"))
	expect("seed 2, [0=a 1=c], ended false")
	_, err = w.Close("rounds")
	must(err)
	expect("seed 2, [0=a 1=c], ended false")
	must(s.Keep("q"))
	expect("seed 2, [1=c], ended true")
	if s.Keep("q") == nil || s.Keep("another") == nil {
		t.Error("a run was kept twice, or without an end")
	}
	w = begin(t, s, "q", 3)
	w.Reply(0, 2, reply("d"))
	if s.Finished("q") {
		t.Error("a run with a new attempt counts as finished")
	}
	must(s.Drop("q"))
	expect("seed 3, [], ended false") // what it cost is left
	w = begin(t, s, "free", 4)
	w.Free(0, 0, synod.Reply{Status: synod.OK, Text: "e"})
	_, err = w.Close("rounds")
	must(err)
	must(errors.Join(s.Drop("free"), s.Drop("free"), s.Drop("another")))
	if _, err := s.Load("free"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a run that was dropped: %v", err)
	}
	if !slices.Equal(s.IDs(), []string{"q"}) {
		t.Errorf("left: %v", s.IDs())
	}
	for _, id := range []string{"", strings.Repeat("x", 5000)} {
		if _, err := s.Create(id, journal.Head{}); err == nil {
			t.Errorf("an id of %d bytes is accepted", len(id))
		}
	}
	w = begin(t, s, "free", 4)
	w.Free(0, 0, synod.Reply{Status: synod.OK, Text: "e"})
	_, err = w.Close("rounds")
	must(errors.Join(err, s.Keep("free"), s.Drop("free")))
	if _, err := s.Load("free"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a run that was taken and dropped: %v", err)
	}
	must(s.Forget("free"))
	odd := "a#b \"<\n" + strings.Repeat("\x01", 4000)
	w = begin(t, s, odd, 5)
	w.Reply(0, 0, reply("odd"))
	again := openSegment(t, strings.TrimSuffix(s.Path(""), "#"))
	defer again.Close()
	if ids := again.IDs(); !slices.Equal(ids, []string{odd, "q"}) {
		t.Errorf("in the file: %.20q", ids)
	}
	if run, err := again.Load(odd); err != nil || run.Replies[journal.Key{}].Text != "odd" {
		t.Errorf("an odd id: %v", err)
	}
}

// segmentBytes returns a segment of three runs, the last of which was cut off, and where
// each of its paid replies ends.
func segmentBytes(t testing.TB) (whole []byte, paid []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	s := openSegment(t, path)
	for i := range 3 {
		id := fmt.Sprint("q", i)
		w := begin(t, s, id, uint64(i))
		fill(w, 0)
		at, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		paid = append(paid, int(at.Size()))
		if i < 2 {
			_, err = w.Close("rounds")
			err = errors.Join(err, s.Keep(id))
		} else {
			_, err = w.Abandon()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole, paid
}

// A segment whose writer was killed at any byte has every reply that was paid for until
// then, and can be written again.
func TestSegmentTornAnywhere(t *testing.T) {
	whole, paid := segmentBytes(t)
	path := filepath.Join(t.TempDir(), "s")
	for n := 0; n <= len(whole); n += 3 {
		for _, tail := range []int{0, 100} { // zeros, as some file systems leave them
			if err := os.WriteFile(path, append(bytes.Clone(whole[:n]), make([]byte, tail)...), 0o600); err != nil {
				t.Fatal(err)
			}
			s := openSegment(t, path)
			for i, end := range paid {
				run, err := s.Load(fmt.Sprint("q", i))
				if end <= n && (err != nil || run.Replies[journal.Key{}].Text != "paid") {
					t.Fatalf("cut at byte %d with %d zeros: the paid reply of q%d: %v", n, tail, i, err)
				}
			}
			if s.Finished("q1") {
				if lines, err := s.Lines("q1"); err != nil || !bytes.HasSuffix(lines, []byte("}\n")) {
					t.Fatalf("cut at byte %d: %v", n, err)
				}
			}
			w := begin(t, s, "new", 9)
			fill(w, 0)
			_, err := w.Close("rounds")
			if err := errors.Join(err, s.Keep("new"), s.Close()); err != nil {
				t.Fatal(err)
			}
			if run, err := journal.Part(path, "new"); err != nil || run.End == nil {
				t.Fatalf("cut at byte %d: written again: %v", n, err)
			}
		}
	}
}

// The end of a segment that was never written, which some file systems leave as zeros, is left out.
func TestSegmentWithHole(t *testing.T) {
	whole, _ := segmentBytes(t)
	path := filepath.Join(t.TempDir(), "s")
	for _, from := range []int{len(whole) - 30, len(whole) - 60} { // the end of the last part, and within it
		torn := bytes.Clone(whole)
		clear(torn[from : from+30])
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openSegment(t, path)
		defer s.Close()
		for _, id := range []string{"q0", "q1"} {
			if run, err := s.Load(id); err != nil || run.End == nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		if run, err := s.Load("q2"); err != nil || run.Replies[journal.Key{}].Text != "paid" || len(run.Replies) != 1 {
			t.Errorf("the run whose last part is missing: %+v, %v", run, err)
		}
	}
}

// What is left of a large run that was cut off is removed, so that small ones that are written later can be read.
func TestSegmentWrittenAfterALargeRun(t *testing.T) {
	whole, _ := segmentBytes(t)
	path := filepath.Join(t.TempDir(), "s")
	for _, torn := range []string{`{"k":"chunk","run":"` + strings.Repeat("x", 5000), strings.Repeat("\x00", 5000)} {
		rest := append(bytes.Clone(whole), torn...)
		if err := os.WriteFile(path, rest, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openSegment(t, path)
		w := begin(t, s, "small", 1)
		w.Reply(0, 0, reply("paid"))
		_, err := w.Close("rounds")
		if err := errors.Join(err, s.Keep("small"), s.Close()); err != nil {
			t.Fatal(err)
		}
		if run, err := journal.Part(path, "small"); err != nil || run.End == nil {
			t.Errorf("after %d bytes: %v", len(rest), err)
		}
	}
}

// Flush writes the lines that wait, and nothing if none do.
func TestFlush(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s := openSegment(t, path)
	defer s.Close()
	w := begin(t, s, "q", 1)
	var sizes []int64
	for range 3 {
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	if sizes[0] == 0 || sizes[1] != sizes[0] || sizes[2] != sizes[0] {
		t.Errorf("the file has %v bytes after each", sizes)
	}
	if _, err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
}

// Lines that nobody paid for wait in memory until they are many.
func TestFreeLinesReachTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s := openSegment(t, path)
	defer s.Close()
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	keep := func(id string, bytes int) {
		w := begin(t, s, id, 1)
		w.Free(0, 0, synod.Reply{Status: synod.OK, Text: strings.Repeat("x", bytes)})
		_, err := w.Close("rounds")
		if err := errors.Join(err, s.Keep(id)); err != nil {
			t.Fatal(err)
		}
	}
	keep("small", 100)
	if n := size(); n != 0 {
		t.Errorf("a small run that cost nothing is written at once: %d bytes", n)
	}
	keep("large", 1<<20)
	if n := size(); n < 1<<20 {
		t.Errorf("of a large run %d bytes are written", n)
	}
}

// A changed bit anywhere in a segment is found when it is opened, and the file stays as it is.
func TestSegmentChangedAnywhere(t *testing.T) {
	whole, _ := segmentBytes(t)
	path := filepath.Join(t.TempDir(), "s")
	for bit := 0; bit < 8*len(whole); bit += 37 {
		changed := bytes.Clone(whole)
		changed[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if w, err := journal.OpenSegment(path); err == nil {
			t.Fatalf("bit %d of byte %d (%q) is not found", bit%8, bit/8, whole[max(bit/8-20, 0):bit/8+1])
		} else if w != nil {
			w.Close()
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, changed) {
			t.Fatalf("bit %d of byte %d: the damaged file was changed", bit%8, bit/8)
		}
	}
}

// A changed bit anywhere in a journal that was cut off is found.
func TestCutJournalChangedAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	w, err := journal.Create(path, journal.Head{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	fill(w, 0)
	if err := w.Asked(0, 2, journal.Cost{Calls: 1}); err != nil {
		t.Fatal(err)
	}
	w.Reply(0, 2, reply("more"))
	if _, err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(path)
	for n := afterHead(whole); n <= len(whole); n++ {
		if _, err := journal.Read(bytes.NewReader(whole[:n])); err != nil {
			t.Errorf("cut at byte %d: %v", n, err)
		}
	}
	for bit := range 8 * len(whole) {
		changed := bytes.Clone(whole)
		changed[bit/8] ^= 1 << (bit % 8)
		if run, err := journal.Read(bytes.NewReader(changed)); err == nil {
			t.Errorf("bit %d of byte %d (%q) is not found: %+v", bit%8, bit/8, whole[max(bit/8-20, 0):bit/8+1], run)
		}
	}
}

func TestSegmentOfOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	if _, err := journal.OpenSegment(path); err == nil || !strings.Contains(err.Error(), "not a segment") {
		t.Errorf("a journal: %v", err)
	}
	if run, err := journal.Load(path); err != nil || run.End == nil {
		t.Errorf("and was changed: %v", err)
	}
	var none journal.Segment
	if none.Finished("x") || none.IDs() != nil || none.Close() != nil {
		t.Error("the zero segment is not empty")
	}
}

func FuzzSegment(f *testing.F) {
	whole, _ := segmentBytes(f)
	f.Add(whole)
	f.Add([]byte(`{"k":"chunk","run":"x","bytes":9223372036854775807,"crc":"00000000"}` + "\n"))
	path := filepath.Join(f.TempDir(), "s")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := journal.OpenSegment(path)
		if err != nil {
			return
		}
		defer s.Close()
		for _, id := range s.IDs() {
			s.Load(id) // must not panic or hang
			s.Lines(id)
		}
	})
}
