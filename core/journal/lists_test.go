package journal_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// written returns a journal with what write does, read again.
func written(t *testing.T, write func(w *journal.Writer)) (*journal.Run, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j")
	w, err := journal.Create(path, journal.Head{Program: "test", Question: synod.Question{Text: "6*7?"}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	write(w)
	if _, err := w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	return journal.Load(path)
}

// Run.Asked lists the calls in order, each with the round of the next note of the node that asked.
func TestAskedPrompts(t *testing.T) {
	run, err := written(t, func(w *journal.Writer) {
		ask := func(node synod.NodeID, id synod.ConsultID, own synod.Answer) {
			w.Effect(0, node, synod.Consult{ID: id, Prompt: &synod.Prompt{Purpose: synod.Answering, Own: own}})
		}
		note := func(node synod.NodeID, round int) {
			w.Effect(0, node, synod.Note{Opinion: &synod.Opinion{Round: round}})
		}
		ask(0, 0, "a")
		ask(1, 0, "b")
		ask(0, 1, "c")
		note(0, 0)
		ask(0, 2, "d")
		note(1, 0)
		ask(1, 1, "e")
		note(0, 1)
		w.Effect(0, 0, synod.Decide{Answer: "7"})
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range run.Asked() {
		if a.Prompt.Question.Text != "6*7?" {
			t.Errorf("%v is about %v", a.Key, a.Prompt.Question)
		}
		got = append(got, fmt.Sprintf("%d.%d %s in round %d", a.Node, a.ID, string(a.Prompt.Own), a.Round))
	}
	want := []string{"0.0 a in round 0", "1.0 b in round 0", "0.1 c in round 0", "0.2 d in round 1",
		"1.1 e in round -1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Events lists the events in order, each with the number of its effects.
func TestEvents(t *testing.T) {
	run, err := written(t, func(w *journal.Writer) {
		w.Event(0, 0, synod.Begin{})
		w.Effect(0, 0, synod.Alarm{ID: 1, At: 3})
		w.Effect(0, 0, synod.Alarm{ID: 2, At: 4})
		w.Event(0, 1, synod.Begin{})
		w.Event(3, 0, synod.Expired{ID: 1})
		w.Effect(3, 0, synod.Decide{Answer: "7"})
	})
	if err != nil {
		t.Fatal(err)
	}
	events, err := run.Events()
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%T of %d at %d: %d", e.Event, e.Node, e.Tick, e.Effects))
	}
	want := []string{"synod.Begin of 0 at 0: 2", "synod.Begin of 1 at 0: 0", "synod.Expired of 0 at 3: 1"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// An effect without an event before it belongs to none.
func TestEventsAfterAnEffect(t *testing.T) {
	run, err := written(t, func(w *journal.Writer) {
		w.Effect(0, 0, synod.Decide{Answer: "7"})
		w.Event(0, 0, synod.Begin{})
	})
	if err != nil {
		t.Fatal(err)
	}
	if events, err := run.Events(); err != nil || len(events) != 1 || events[0].Effects != 0 {
		t.Errorf("%+v, %v", events, err)
	}
}

// An answered event needs the reply of its call; without it the error names the line.
func TestEventsNeedReplies(t *testing.T) {
	run, err := written(t, func(w *journal.Writer) {
		w.Event(0, 0, synod.Begin{})
		w.Event(1, 0, synod.Answered{ID: 5, Reply: &synod.Reply{Status: synod.OK}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Events(); err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("%v", err)
	}
}

// At most 1024 rounds may pass without a note: readers make room for all rounds up to the last.
func TestSkippedRounds(t *testing.T) {
	for _, c := range []struct {
		rounds []int
		want   string
	}{
		{[]int{1024}, ""}, {[]int{1025}, "round 1025, and there are 0 opinions"}, {[]int{0, 1025}, ""},
		{[]int{0, 1026}, "round 1026, and there are 1 opinions"}, {[]int{-1}, "round -1"},
	} {
		_, err := written(t, func(w *journal.Writer) {
			for _, r := range c.rounds {
				w.Effect(0, 0, synod.Note{Opinion: &synod.Opinion{Round: r}})
			}
		})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("rounds %v: %v, want %q", c.rounds, err, c.want)
		}
	}
}

// A difference is shown with 100 bytes before and after it, and dots where the line goes on.
func TestDivergenceShowsThePlace(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct{ want, got, has, replay string }{
		{"7", "8", "has 7, ", "has 8"}, {"", "8", "has nothing, ", "has 8"}, {"7", "", "has 7, ", "has nothing"},
		{x(100) + "7" + x(99), x(100) + "8", "has " + x(100) + "7" + x(99) + ", ", "has " + x(100) + "8"},
		{x(101) + "7" + x(100), x(101) + "8", "has …" + x(100) + "7" + x(99) + "…, ", "has …" + x(100) + "8"},
		{x(5), x(7), "has " + x(5) + ", ", "has " + x(7)},
	} {
		text := (&journal.Divergence{Line: 9, Node: 2, Tick: 4, Want: c.want, Got: c.got}).Error()
		if !strings.HasPrefix(text, "journal: line 9, node 2, tick 4: ") || !strings.Contains(text, c.has) ||
			!strings.HasSuffix(text, c.replay) {
			t.Errorf("%.20s and %.20s: %s", c.want, c.got, text)
		}
	}
}
