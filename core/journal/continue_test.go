package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// A run goes on in its file, also where the process died while it wrote: what it paid for is
// kept until the later attempt has an end, and the cost of dropped calls is kept for ever.
func TestContinue(t *testing.T) {
	for name, tear := range map[string]func(b []byte) []byte{
		"as it was":       func(b []byte) []byte { return b },
		"a torn line":     func(b []byte) []byte { return append(b, `{"k":"reply","n":1,"id"`...) },
		"no last newline": func(b []byte) []byte { return b[:len(b)-1] },
	} {
		path := filepath.Join(t.TempDir(), "j")
		head := journal.Head{Seed: 7, Instance: "x"}
		w, err := journal.Create(path, head)
		if err != nil {
			t.Fatal(err)
		}
		w.Event(0, 0, synod.Begin{})
		w.Reply(0, 1, synod.Reply{Status: synod.OK, Text: "paid", Calls: 1})
		w.Reply(0, 2, synod.Reply{Status: synod.Dropped, Calls: 2, Charged: synod.Usage{Completion: 9}})
		if _, err := w.Close("deadline"); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, tear(b), 0o600); err != nil {
			t.Fatal(err)
		}
		run, lock, err := journal.Resume(path)
		if err != nil || !run.Continues(path) {
			t.Fatalf("%s: %v", name, err)
		}
		if lost := run.Lost(); len(lost) != 1 || lost[0].Calls != 2 || lost[0].Usage.Completion != 9 {
			t.Errorf("%s: lost %+v", name, lost)
		}
		head.Unanswered = run.Lost()
		if w, err = run.Continue(head); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(now, b) {
			t.Errorf("%s: what was whole in the file is not kept: %v", name, err)
		}
		w.Reply(0, 2, synod.Reply{Status: synod.OK, Text: "again", Calls: 1})
		half, err := journal.Load(path) // as after a crash
		if err != nil || half.End != nil || half.Replies[journal.Key{ID: 1}].Text != "paid" ||
			half.Replies[journal.Key{ID: 2}].Text != "again" || len(half.Lost()) != 1 || half.Lost()[0].Calls != 2 {
			t.Fatalf("%s: %v: %+v, lost %+v", name, err, half.Replies, half.Lost())
		}
		w.Event(3, 0, synod.Halt{})
		digest, err := w.Close("rounds")
		if err != nil {
			t.Fatal(err)
		}
		lock.Close()
		whole, err := journal.Load(path)
		if err != nil || whole.End == nil || whole.Digest() != digest || len(whole.Replies) != 1 {
			t.Errorf("%s: %v: %+v", name, err, whole)
		}
		sum, err := journal.SummarizeFile(path)
		if err != nil || sum.End == nil || len(sum.Replies) != 1 {
			t.Errorf("%s: %v: %+v", name, err, sum)
		}
	}
}
