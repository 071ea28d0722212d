package journal_test

import (
	"reflect"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// ParseNotes finds the opinions that Parse does, whatever fields they have.
func TestParseNotes(t *testing.T) {
	sure := 0.75
	opinions := []*synod.Opinion{
		{Answer: "4", Source: synod.Own},
		{Round: 1, Answer: "a \"b\"\n<é>", Surface: "x\u2028\\y", Source: synod.Adopted, From: []synod.NodeID{1, 2},
			Confidence: &sure, Retained: []synod.NodeID{0}, Dropped: []synod.NodeID{3}, Silent: []synod.NodeID{4},
			Suspects: []synod.NodeID{5}, Scores: []synod.Judged{{Of: 0, Score: 0.1}, {Of: 1, Score: synod.Untrusted},
				{Of: 2, Score: 1e-7}}, Failed: 1, Unreadable: 2, Unsure: 3, Reused: 4,
			Record: synod.RawRecord(`{"p":["q"]}`)},
	}
	s := journal.InMemory()
	w, err := s.Create("run", journal.Head{Question: synod.Question{ID: "q"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range opinions {
		w.Event(synod.Tick(i), 0, synod.Heard{Message: &synod.Message{From: 1, Body: []byte(`"w":"note"`)}})
		w.Effect(synod.Tick(i), synod.NodeID(i), synod.Note{Opinion: o})
		w.Effect(synod.Tick(i), 0, synod.Send{To: []synod.NodeID{1}, Message: &synod.Message{Body: []byte("text")}})
	}
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	f, err := s.Take("run")
	if err != nil {
		t.Fatal(err)
	}
	want, err := journal.Parse(f.Lines)
	if err != nil {
		t.Fatal(err)
	}
	got, err := journal.ParseNotes(f.Lines)
	if err != nil || len(got.Opinions()) != len(opinions) || !reflect.DeepEqual(got.Opinions(), want.Opinions()) {
		t.Errorf("%v: %+v, want %+v", err, got.Opinions(), want.Opinions())
	}
	bad := `{"k":"effect","t":1,"n":0,"w":"note","opinion":3}` + "\n"
	if _, err := journal.ParseNotes([]byte(bad)); err == nil {
		t.Error("an opinion that is none was read")
	}
}
