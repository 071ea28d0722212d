package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/journal"
)

// question has every field of a question.
var question = synod.Question{ID: "é <1>", Text: "which?", Form: synod.Choice,
	Options: []synod.Option{{Label: "A", Text: "red"}, {Label: "B", Text: "green"}}}

// free writes a run without paid replies, whose opinions have every field that a summary has.
func free(t testing.TB, s *journal.Segment, id string, seed uint64, more func(*journal.Writer)) {
	t.Helper()
	w, err := s.Create(id, journal.Head{Seed: seed, Question: question, Prompts: map[string]string{"a": "b"}})
	if err != nil {
		t.Fatal(err)
	}
	half, zero := 0.5, 0.
	w.Event(0, 1, synod.Begin{})
	w.Free(1, 0, synod.Reply{Status: synod.OK, Typed: true, Answer: "7", Calls: 1})
	w.Free(300, 70_000, synod.Reply{Status: synod.Refused, Detail: "no", Calls: 2, Fault: "<it>", Model: "m"})
	for i, o := range []synod.Opinion{
		{Answer: "7", Surface: "Seven", Source: synod.Own, Confidence: &half},
		{Round: 1, Confidence: &zero, Silent: []synod.NodeID{200}},
		{Round: 2, Answer: "é\u2028<b>", Retained: []synod.NodeID{0, 2}, Dropped: []synod.NodeID{3},
			Scores: []synod.Judged{{Of: 1, Score: 0.25}}, Failed: 1, Unreadable: 2, Unsure: 3, Reused: 4},
		{Round: 3, Record: synod.RawRecord(`{"a": [1, "<"]}`)},
	} {
		w.Effect(synod.Tick(100*i), synod.NodeID(i%3), synod.Note{Opinion: &o})
	}
	if more != nil {
		more(w)
	}
	w.Event(400, 1, synod.Halt{})
	_, err = w.Close("rounds")
	if err = errors.Join(err, s.Keep(id)); err != nil {
		t.Fatal(err)
	}
}

// fromLines returns what Summarize reads from the lines of a run, without what an index leaves out.
func fromLines(t testing.TB, path, id string) *journal.Summary {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "alone.jsonl")
	if err := os.WriteFile(alone, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := journal.Summarize(alone + "#" + id)
	if err != nil {
		t.Fatal(err)
	}
	h := s.Head
	s.Head = journal.Head{Kind: h.Kind, Version: h.Version, Question: h.Question, Seed: h.Seed}
	s.End = &journal.End{Kind: "end", Stopped: s.End.Stopped, Digest: s.End.Digest, Ticks: s.End.Ticks}
	return s
}

// indexed writes a segment with three runs and its index, and returns both.
func indexed(t testing.TB) (path string, segment, index []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "all.jsonl")
	s := openSegment(t, path)
	for i := range 3 {
		free(t, s, fmt.Sprint("q", i), uint64(i), nil)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	segment, err := os.ReadFile(path)
	if err == nil {
		index, err = os.ReadFile(journal.IndexPath(path))
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, segment, index
}

// The index has the summary that the lines have: in the process that writes it, and later.
func TestIndexAgreesWithLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.jsonl")
	s := openSegment(t, path)
	large := bytes.Repeat([]byte("x"), 300<<10) // the lines of this run are in several parts
	free(t, s, "small", 1<<63+5, nil)
	free(t, s, "large", 2, func(w *journal.Writer) {
		for i := range 3 {
			w.Free(300, synod.ConsultID(70_001+i), synod.Reply{Status: synod.OK, Text: string(large)})
		}
	})
	check := func(s *journal.Segment) {
		t.Helper()
		for _, id := range []string{"small", "large"} {
			got, err := s.Summarize(id)
			if from := s.FromIndex(id); from == nil || err != nil || !reflect.DeepEqual(got, from) {
				t.Fatalf("%s: %+v is not from the index: %v", id, got, err)
			}
			if want := fromLines(t, path, id); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: the index has\n%+v\nthe lines have\n%+v", id, got, want)
			}
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := journal.ReadSegment(path)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	check(read)
}

// Runs whose summary the index cannot hold are read from their lines.
func TestIndexLeavesOut(t *testing.T) {
	for name, more := range map[string]func(*journal.Writer){
		"asked": func(w *journal.Writer) {
			if err := w.Asked(1, 2, journal.Cost{Calls: 1}); err != nil {
				t.Fatal(err)
			}
		},
		"report": func(w *journal.Writer) { w.Report(1, "i", 3) },
		"usage": func(w *journal.Writer) {
			w.Free(1, 9, synod.Reply{Status: synod.OK, Usage: synod.Usage{Prompt: 1}})
		},
		"took":   func(w *journal.Writer) { w.Free(1, 9, synod.Reply{Status: synod.OK, Took: 1}) },
		"reused": func(w *journal.Writer) { w.Free(1, 9, synod.Reply{Status: synod.OK, Reused: true}) },
		"twice":  func(w *journal.Writer) { w.Free(300, 70_000, synod.Reply{Status: synod.OK, Calls: 7}) },
		"no text": func(w *journal.Writer) {
			w.Effect(1, 1, synod.Note{Opinion: &synod.Opinion{Answer: "\xff"}})
		},
	} {
		path := filepath.Join(t.TempDir(), "all.jsonl")
		s := openSegment(t, path)
		free(t, s, "q", 1, more)
		got, err := s.Summarize("q")
		want, _ := journal.Summarize(path + "#q")
		if s.FromIndex("q") != nil || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v: %v", name, got, want, err)
		}
		s.Close()
	}
}

// A summary never depends on the bytes of the index: entries that were changed or cut off are not
// used, and the next process that writes the segment goes on behind the last whole entry.
func TestIndexIsNotTrusted(t *testing.T) {
	path, _, whole := indexed(t)
	want := fromLines(t, path, "q1")
	try := func(what string, index []byte) {
		t.Helper()
		if err := os.WriteFile(journal.IndexPath(path), index, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := journal.ReadSegment(path)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer s.Close()
		got, err := s.Summarize("q1")
		if s.FromIndex("q1") == nil && err == nil { // what the index leaves out
			got.Head.Prompts, got.Head.Spec = nil, nil
			got.End.Record, got.End.Seats = "", nil
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v, want %+v: %v", what, got, want, err)
		}
	}
	for i := range whole {
		for _, mask := range []byte{1, 0x80, 0xff} {
			flipped := bytes.Clone(whole)
			flipped[i] ^= mask
			try(fmt.Sprintf("byte %d", i), flipped)
		}
		try(fmt.Sprintf("%d bytes", i), whole[:i])
	}
	for n := 0; n <= len(whole); n += 7 {
		if err := os.WriteFile(journal.IndexPath(path), append(bytes.Clone(whole[:n]), 1, 2, 3), 0o600); err != nil {
			t.Fatal(err)
		}
		s := openSegment(t, path)
		free(t, s, "new", 9, nil)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		read, err := journal.ReadSegment(path)
		if err != nil {
			t.Fatal(err)
		}
		if read.FromIndex("new") == nil || n == len(whole) && read.FromIndex("q2") == nil {
			t.Fatalf("%d bytes: the new entry is not found", n)
		}
		read.Close()
	}
}

// An entry about other lines of the same run does not count, and neither do the lines of a changed segment.
func TestIndexOfOtherLines(t *testing.T) {
	path, _, old := indexed(t)
	s := openSegment(t, path)
	free(t, s, "q1", 77, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal.IndexPath(path), old, 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := journal.Summarize(path + "#q1")
	if err != nil || sum.Head.Seed != 77 {
		t.Errorf("an old entry is used: %+v, %v", sum, err)
	}
	segment, _ := os.ReadFile(path)
	at := bytes.Index(segment, []byte(`"answer":"7"`))
	segment[at+len(`"answer":"`)]++
	if err := os.WriteFile(path, segment, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Summarize(path + "#q0"); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("a changed segment is read from its index: %v", err)
	}
}

// A packed summary of any bytes is an error or a summary, and takes little memory.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{1, 2, '{', '}', 2, 1, 1, 1, 0, 0xff, 0xff, 0xff, 0x0f})
	_, _, index := indexed(f)
	f.Add(index[len("synod journal index 1\n")+8+3+4:])
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := journal.Unpack(b); (s == nil) == (err == nil) || s != nil && s.End == nil {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}
