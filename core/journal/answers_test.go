package journal_test

import (
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// Answers has the replies that a whole journal has to requests for an answer, of the last attempt only.
func TestAnswers(t *testing.T) {
	s := journal.InMemory()
	w, err := s.Create("q", journal.Head{Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for id, purpose := range []synod.Purpose{synod.Answering, synod.Scoring, synod.Answering, synod.Answering} {
		w.Event(0, 1, synod.Begin{})
		w.Effect(0, 1, synod.Consult{ID: synod.ConsultID(id),
			Prompt: &synod.Prompt{Template: "sac/ask", Purpose: purpose}})
	}
	// The last request has no reply.
	for id, text := range []string{"first", `a score with "k":"head"`, "second\n{\"k\":\"head\"}"} {
		w.Reply(1, synod.ConsultID(id), synod.Reply{Status: synod.OK, Text: text})
	}
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	f, err := s.Take("q")
	if err != nil {
		t.Fatal(err)
	}
	run, err := journal.Parse(f.Lines)
	if err != nil {
		t.Fatal(err)
	}
	var want []journal.Replied
	for _, a := range run.Asked() {
		if reply, came := run.Replies[a.Key]; came && a.Prompt.Purpose == synod.Answering {
			want = append(want, journal.Replied{Key: a.Key, Reply: reply})
		}
	}
	got, err := journal.Answers(f.Lines)
	if err != nil || len(got) != 2 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	head, _, _ := strings.Cut(string(f.Lines), "\n")
	if got, err := journal.Answers([]byte(string(f.Lines) + head + "\n")); err != nil || len(got) != 0 {
		t.Errorf("of an attempt without requests: %+v, %v", got, err)
	}
	wrong := strings.Replace(string(f.Lines), `"text":"first"`, `"text":7`, 1)
	if _, err := journal.Answers([]byte(wrong)); err == nil {
		t.Error("a reply that is no reply was taken")
	}
}
