package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/probe"
)

// fake answers "A". The state of question qN at layer l and position p is N, l, p. A question
// with the text "empty" gets an answer without tokens, and question q5 one without a stated
// confidence. Fail has errors by question.
type fake struct {
	asked []string
	fail  map[string]error
}

func (m *fake) Subject(context.Context) (probe.Subject, error) { return subject, nil }

var subject = probe.Subject{Model: "fake", SHA256: "ff", Engine: "none", Layers: 4, Width: 3, Answers: "short",
	Form: "choice"}

func (m *fake) Probe(_ context.Context, r llm.Request, want engine.Capture) (synod.Reply, *engine.States, error) {
	q := r.Prompt.Question
	if err := m.fail[q.ID]; err != nil {
		return synod.Reply{}, nil, err
	}
	m.asked = append(m.asked, q.ID)
	var n float32
	fmt.Sscanf(q.ID, "q%f", &n)
	s := &engine.States{Capture: want, Width: 3, Tokens: 2}
	if strings.Contains(q.Text, "empty") {
		s.Tokens = 0
	}
	for p := range want.Positions {
		for _, l := range want.Layers {
			s.Data = append(s.Data, n, float32(l), float32(p))
		}
	}
	logprob, sure := -1.0, 0.25
	reply := synod.Reply{Typed: true, Answer: "A", Text: "A", Logprob: &logprob}
	if r.Prompt.ConfidenceMode == synod.StatedConfidence && n != 5 {
		reply.Confidence = &sure
	}
	return reply, s, nil
}

func questions(t *testing.T, n int) (items []task.Item) {
	t.Helper()
	for i := range n {
		q := synod.Question{ID: fmt.Sprintf("q%d", i), Text: "Which is a fruit?", Form: synod.Choice,
			Options: []synod.Option{{Label: "A", Text: "apple"}, {Label: "B", Text: "hammer"}}}
		if i == 4 {
			q.Text = "empty"
		}
		it, err := task.NewItem(q, []string{"A", "B"}[i%2])
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

var head = Head{Task: "toy", Subject: subject, Stated: true, Layers: []int{1, 3},
	Positions: []engine.Position{engine.Query, engine.Mean}}

// A collection that was interrupted between or during writes continues after the last whole
// answer and gives the same answers and states as one without interruption.
func TestContinueCollection(t *testing.T) {
	items := questions(t, 7)
	complete, err := create(filepath.Join(t.TempDir(), "w"), head)
	if err != nil {
		t.Fatal(err)
	}
	if err := complete.Collect(t.Context(), items, Asker{Member: &fake{}}); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(dir string) error{
		func(string) error { return nil },
		func(dir string) error { return appendTo(dir, answersFile, `{"question":"q3","fo`) }, // within a line
		// a record without its line
		func(dir string) error { return appendTo(dir, statesFile, strings.Repeat("x", 48)) },
		func(dir string) error { return appendTo(dir, statesFile, "xyz") }, // within a record
	} {
		dir := filepath.Join(t.TempDir(), "f")
		f, err := create(dir, head)
		if err != nil {
			t.Fatal(err)
		}
		stop := errors.New("the engine died")
		a := Asker{Member: &fake{fail: map[string]error{"q3": stop}}}
		err = f.Collect(t.Context(), items, a)
		if !errors.Is(err, stop) || !strings.Contains(err.Error(), "question q3") {
			t.Fatal(err)
		}
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		if f, err = Open(dir); err != nil || len(f.Lines) != 3 {
			t.Fatalf("%d lines, %v", len(f.Lines), err)
		}
		m := &fake{}
		if err := f.Collect(t.Context(), items, Asker{Member: m}); err != nil ||
			!reflect.DeepEqual(m.asked, []string{"q3", "q4", "q5", "q6"}) {
			t.Fatalf("asked %v, %v", m.asked, err)
		}
		if !reflect.DeepEqual(f.Lines, complete.Lines) {
			t.Errorf("%+v\nwant %+v", f.Lines, complete.Lines)
		}
		got, _ := os.ReadFile(filepath.Join(dir, statesFile))
		want, _ := os.ReadFile(filepath.Join(complete.Dir, statesFile))
		if string(got) != string(want) || len(got) != 7*48 {
			t.Errorf("%d bytes of states, %d without interruption", len(got), len(want))
		}
	}
}

func appendTo(dir, name, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Data returns the captured states of usable answers for every layer and position, and counts
// the other answers.
func TestData(t *testing.T) {
	f, err := create(t.TempDir(), head)
	if err != nil {
		t.Fatal(err)
	}
	m := &fake{fail: map[string]error{"q2": &llm.Failure{Status: synod.Unreadable,
		Err: errors.New("the answer is longer than a line")}}}
	if err := f.Collect(t.Context(), questions(t, 7), Asker{Member: m}); err != nil {
		t.Fatal(err)
	}
	d, left, err := f.Data()
	if err != nil || left != (Left{Unreadable: 1, Empty: 1}) || len(d.Samples) != 5 {
		t.Fatalf("%d samples, %+v, %v", len(d.Samples), left, err)
	}
	rows := []float32{0, 1, 3, 5, 6}
	for i, s := range d.Samples {
		if s.Question != fmt.Sprintf("q%v", rows[i]) || s.Right != (int(rows[i])%2 == 0) || !s.Asked ||
			(s.Stated == nil) != (rows[i] == 5) || *s.Logprob != -1 {
			t.Errorf("%+v", s)
		}
	}
	for _, l := range head.Layers {
		for p, name := range d.Positions {
			states, err := d.States(l, name)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range states {
				if want := []float32{rows[i], float32(l), float32(p)}; !reflect.DeepEqual(s, want) {
					t.Errorf("layer %d %s of %v: %v", l, name, rows[i], s)
				}
			}
		}
	}
	if _, err := d.States(2, "mean"); err == nil ||
		!strings.Contains(err.Error(), "layer 2 at mean was not collected") {
		t.Error(err)
	}
}

func TestInvalidFolders(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, ErrNoFolder) {
		t.Error(err)
	}
	f, err := create(dir, head)
	if err != nil {
		t.Fatal(err)
	}
	items := questions(t, 3)
	if err := f.Collect(t.Context(), items, Asker{Member: &fake{}}); err != nil {
		t.Fatal(err)
	}
	items[1], items[2] = items[2], items[1]
	if err := f.Collect(t.Context(), items, Asker{Member: &fake{}}); err == nil ||
		!strings.Contains(err.Error(), "collected from other data") {
		t.Error(err)
	}
	if _, err := create(dir, head); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Error(err)
	}
	other := head
	other.Seed, other.Layers = 9, []int{2}
	if err := f.Head.same(other); err == nil || !strings.Contains(err.Error(),
		"seed was 0 and is now 9; layers was [1 3] and is now [2]") {
		t.Error(err)
	}
	for want, h := range map[string]Head{
		"layer 4":   {Subject: subject, Layers: []int{4}, Positions: head.Positions},
		"twice":     {Subject: subject, Layers: []int{1, 1}, Positions: head.Positions},
		`"first"`:   {Subject: subject, Layers: []int{1}, Positions: []engine.Position{"first"}},
		"0 layers":  {Subject: subject, Positions: head.Positions},
		"positions": {Subject: subject, Layers: []int{1}},
	} {
		if err := h.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, statesFile), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

// Cancelling the context ends a collection between two questions.
func TestCancelCollection(t *testing.T) {
	f, err := create(t.TempDir(), head)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	a := Asker{Member: &fake{}, Progress: func(done, _ int) {
		if done == 2 {
			cancel()
		}
	}}
	if err := f.Collect(ctx, questions(t, 5), a); !errors.Is(err, context.Canceled) || len(f.Lines) != 2 {
		t.Errorf("%d lines, %v", len(f.Lines), err)
	}
}
