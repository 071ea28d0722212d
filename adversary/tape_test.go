package adversary

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod"
)

// SAC appendix B.4: what is replayed is a reply to another question of the same form, and one that the asked question
// can have.
func TestTapeRepliesToOtherQuestions(t *testing.T) {
	asked := &synod.Question{ID: "q", Form: synod.Choice, Text: "Which?",
		Options: []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}}
	tape := Tape{TapeHead: TapeHead{Version: TapeVersion}, Answers: []Taped{
		{Form: synod.Choice, Answer: "A", Of: TapedOf(asked)}, {Form: synod.Choice, Answer: "E", Of: "1"},
		{Form: synod.Number, Answer: "7", Of: "2"}, {Form: synod.Choice, Answer: "B", Of: "3"}}}
	var file bytes.Buffer
	if err := tape.Write(&file); err != nil {
		t.Fatal(err)
	}
	back, err := ParseTape(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	a := replay{Answers: back.Answers}
	for seed := range uint64(8) {
		if got := a.choose(synod.Seat{Question: asked, Seed: seed}); got != "B" {
			t.Errorf("seed %d: %q is replayed; only B is a reply to another question with such options", seed, got)
		}
	}
	for form, suits := range map[synod.Form]bool{synod.Number: true, synod.Text: false} {
		if err := a.Suits(&synod.Question{Form: form, Text: "Other?"}); (err == nil) != suits {
			t.Errorf("a question of the form %s: %v", form, err)
		}
	}
	if _, err := replayEntry.New(map[string]any{"answer": "1", "answers": back.Answers}); err == nil {
		t.Error("an answer beside a tape is accepted")
	}
}

func TestTapeMistakes(t *testing.T) {
	const head, answer = `{"tape":1}` + "\n", `{"form":"number","answer":"4","of":"x"}` + "\n"
	for text, want := range map[string]string{
		"": "no tape", answer: "no tape", `{"tape":2}`: "version 2", head: "no mistakes", head + "{}": "line 2",
		head + answer + `{"form":"number"}`: "line 3", head + strings.Repeat(answer, MaxTaped+1): "at most 1000",
	} {
		if _, err := ParseTape([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, not %q", text, err, want)
		}
	}
	if _, err := ParseTape([]byte(head + answer)); err != nil {
		t.Error(err)
	}
}

// No text makes ParseTape panic, and what it reads is read again from what Write writes.
func FuzzParseTape(f *testing.F) {
	f.Add([]byte(`{"tape":1,"task":"t"}` + "\n" + `{"form":"number","answer":"<4>","of":"x"}`))
	f.Add([]byte("{}\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tape, err := ParseTape(text)
		if err != nil {
			return
		}
		var file bytes.Buffer
		if err := tape.Write(&file); err != nil {
			t.Fatal(err)
		}
		if back, err := ParseTape(file.Bytes()); err != nil || !reflect.DeepEqual(back, tape) {
			t.Errorf("%v: %+v, not %+v", err, back, tape)
		}
	})
}
