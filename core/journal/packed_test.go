package journal_test

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// free writes a run without paid replies and returns it when it is finished. Its opinions have all fields of a summary.
func free(t testing.TB, more func(*journal.Writer)) *journal.Finished {
	t.Helper()
	s := journal.InMemory()
	s.Pack = true
	w, err := s.Create("q", journal.Head{Seed: 1, Question: synod.Question{ID: "q", Text: "?"}})
	if err != nil {
		t.Fatal(err)
	}
	half, zero, sure := 0.5, 0., 0.75
	w.Event(0, 1, synod.Begin{})
	w.Free(1, 0, synod.Reply{Status: synod.OK, Typed: true, Answer: "7", Calls: 1, Confidence: &sure})
	w.Free(1, 3, synod.Reply{Status: synod.OK, Typed: true, Value: -0.125, Calls: 1})
	w.Free(300, 70_000, synod.Reply{Status: synod.Refused, Calls: 2, Fault: "<it>", Model: "m"})
	for i, o := range []synod.Opinion{
		{Answer: "7", Confidence: &half},
		{Round: 1, Confidence: &zero, Silent: []synod.NodeID{200}},
		{Round: 2, Answer: "é\u2028<b>", Retained: []synod.NodeID{0, 2}, Dropped: []synod.NodeID{3},
			Failed: 1, Unreadable: 2, Reused: 4},
		{Round: 3, Record: synod.RawRecord(`{"a": [1, "<"]}`)},
	} {
		w.Effect(synod.Tick(100*i), synod.NodeID(i%3), synod.Note{Opinion: &o})
	}
	w.Effect(300, 1, synod.Opened{First: []synod.Given{{Of: 0, Answer: "é\u2028<b>"}, {Of: 200, Answer: "7"}}})
	w.Effect(300, 2, synod.Opened{})
	if more != nil {
		more(w)
	}
	w.Event(400, 1, synod.Halt{})
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	f, err := s.Take("q")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The packed form has what Summarize reads of the lines, and the complete replies.
func TestPackedAgreesWithLines(t *testing.T) {
	f := free(t, nil)
	if f.Packed == nil || len(f.Packed.Text)+len(f.Packed.Words) > len(f.Lines)/5 {
		t.Fatalf("%+v of %d bytes", f.Packed, len(f.Lines))
	}
	want, err := journal.Summarize(f.Lines)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Packed.Summary(want.Head)
	if err != nil {
		t.Fatal(err)
	}
	run, err := journal.Parse(f.Lines)
	if err != nil {
		t.Fatal(err)
	}
	if p := journal.Pack(run); !reflect.DeepEqual(p, f.Packed) {
		t.Errorf("the run is packed as %+v, its lines as %+v", p, f.Packed)
	}
	if opened := run.Opened(); len(opened) != 2 || !reflect.DeepEqual(opened, want.Opened) || opened[0].Node != 1 ||
		len(opened[0].First) != 2 || opened[1].Node != 2 {
		t.Errorf("opened %+v, and in a summary %+v", opened, want.Opened)
	}
	for _, r := range got.Replies {
		if !reflect.DeepEqual(r.Reply, run.Replies[r.Key]) {
			t.Errorf("%v: %+v, want %+v", r.Key, r.Reply, run.Replies[r.Key])
		}
	}
	for i := range got.Replies { // a summary has only a part of a reply
		r := &got.Replies[i].Reply
		*r = synod.Reply{Status: r.Status, Calls: r.Calls, Fault: r.Fault, Model: r.Model}
	}
	want.End.Record, want.End.Seats = "", nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("packed\n%+v\nlines\n%+v", got, want)
	}
}

// A journal of which packing would lose something has no packed form.
func TestNotPacked(t *testing.T) {
	one := 1.
	reply := func(r synod.Reply) func(*journal.Writer) {
		return func(w *journal.Writer) { w.Free(1, 9, r) }
	}
	for name, more := range map[string]func(*journal.Writer){
		"asked":    func(w *journal.Writer) { w.Asked(1, 9, journal.Cost{Calls: 1}) },
		"report":   func(w *journal.Writer) { w.Report(1, "i", 3) },
		"paid":     func(w *journal.Writer) { w.Reply(1, 9, synod.Reply{Status: synod.OK, Text: "7"}) },
		"text":     reply(synod.Reply{Status: synod.OK, Text: "7"}),
		"detail":   reply(synod.Reply{Status: synod.Timeout, Detail: "late"}),
		"usage":    reply(synod.Reply{Status: synod.OK, Usage: synod.Usage{Prompt: 1}}),
		"charged":  reply(synod.Reply{Status: synod.OK, Charged: synod.Usage{Prompt: 1}}),
		"took":     reply(synod.Reply{Status: synod.OK, Took: 1}),
		"reused":   reply(synod.Reply{Status: synod.OK, Reused: true}),
		"late":     reply(synod.Reply{Status: synod.OK, Late: true}),
		"needless": reply(synod.Reply{Status: synod.OK, Needless: true}),
		"logprob":  reply(synod.Reply{Status: synod.OK, Logprob: &one}),
		"twice":    func(w *journal.Writer) { w.Free(300, 70_000, synod.Reply{Status: synod.OK, Calls: 7}) },
		"no seat":  func(w *journal.Writer) { w.Free(-1, 0, synod.Reply{Status: synod.OK}) },
		"not text": func(w *journal.Writer) { w.Effect(1, 1, synod.Note{Opinion: &synod.Opinion{Answer: "\xff"}}) },
	} {
		f := free(t, more)
		if f.Packed != nil {
			t.Errorf("%s: it is packed", name)
		}
		if name != "asked" && name != "report" {
			continue
		}
		if run, err := journal.Parse(f.Lines); err != nil || journal.Pack(run) != nil {
			t.Errorf("%s: its run is packed, or %v", name, err)
		}
	}
}

// What a segment keeps of a run that was finished and not forgotten is found again, once; others are dropped from the
// file.
func TestTakeAndForget(t *testing.T) {
	path := t.TempDir() + "/s"
	s := openSegment(t, path)
	var want []byte
	for _, id := range []string{"a", "b", "c"} {
		w := begin(t, s, id, 1)
		fill(w, 0)
		if _, err := w.Close("rounds"); err != nil {
			t.Fatal(err)
		}
		f, err := s.Take(id)
		if err != nil {
			t.Fatal(err)
		}
		want = f.Lines
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Forget("a"); err != nil {
		t.Fatal(err)
	}
	if s.Holds("a") || !s.Holds("b") || s.Holds("d") {
		t.Error("it holds what was forgotten, or not the rest")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("a small file is written anew for one run: %d bytes, then %d, %v", len(before), len(after), err)
	}
	s.Close() // as after a crash: b and c were taken and not forgotten
	s = openSegment(t, path)
	lines, err := s.Lines("c")
	if err != nil || !bytes.Equal(lines, want) || !s.Finished("b") {
		t.Errorf("%q, %v", lines, err)
	}
	if err := s.Forget("a", "b", "c"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = openSegment(t, path)
	defer s.Close()
	if ids := s.IDs(); len(ids) > 0 {
		t.Errorf("left: %v", ids)
	}
}

// The lines of a finished file are those of its last attempt, without the sums; a file without an end has none.
func TestFinish(t *testing.T) {
	path := t.TempDir() + "/j"
	record(t, path, 0, 1)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, run, err := journal.Finish(text)
	if err != nil || run.End == nil || bytes.Count(lines, []byte("\n")) == 0 || !bytes.Contains(text, lines[:20]) {
		t.Fatalf("%q, %v", lines, err)
	}
	if again, err := journal.Summarize(lines); err != nil || again.End.Stopped != "rounds" {
		t.Errorf("%+v, %v", again, err)
	}
	head, _, _ := bytes.Cut(text, []byte("\n"))
	for _, bad := range [][]byte{append(head, '\n'), []byte("no journal\n")} {
		if lines, run, err := journal.Finish(bad); err == nil || lines != nil || run != nil {
			t.Errorf("%q is finished: %q", bad, lines)
		}
	}
}

// A packed journal of any bytes is an error or a summary, and takes little memory.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f}, []byte{})
	f.Add([]byte{2, 1, 1, 1, 0, 0xff, 0xff, 0xff, 0x0f}, []byte{1})
	p := free(f, nil).Packed
	f.Add(p.Text, p.Words)
	f.Fuzz(func(t *testing.T, text, words []byte) {
		if s, err := (&journal.Packed{Text: text, Words: words}).Summary(journal.Head{}); (s == nil) == (err == nil) ||
			s != nil && s.End == nil {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}
