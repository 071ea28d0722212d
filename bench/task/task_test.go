package task

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
)

// A recorded item is graded as before, for every built-in problem.
func TestRecord(t *testing.T) {
	set, err := Open("builtin", Options{})
	if err != nil {
		t.Fatal(err)
	}
	items, err := set.Items()
	if err != nil {
		t.Fatal(err)
	}
	truth := Truth(items)
	for _, it := range items {
		b, err := json.Marshal(it.Record())
		if err != nil {
			t.Fatal(err)
		}
		var r Keyed
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
		again, err := r.Item()
		if err != nil {
			t.Fatalf("%s: %v", it, err)
		}
		a := truth(&it.Question)
		if was, is := it.Grade(a), again.Grade(a); is != was || is.Verdict != Right {
			t.Errorf("%s: %s was graded %+v, and is %+v", it, a, was, is)
		}
	}
	if _, err := (Keyed{Question: synod.Question{Text: "?", Form: synod.Number}, Key: "many"}).Item(); err == nil {
		t.Error("a key that cannot be read was taken")
	}
}

func TestOwnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.jsonl")
	write(t, path, `{"id":"a","question":"How many legs have three cats?","answer":12}
{"id":"b","question":"Which is a fish?","answer":"B","choices":["whale","cod"]}
{"id":"c","question":"Which is a fish?","answer":"cod","choices":[{"label":"x","text":"whale"},{"label":"y","text":"cod"}]}
{"id":"d","question":"Is water wet?","answer":true}
{"id":"e","question":"Capital of France?","answer":"Paris"}
`)
	set, err := OpenFile(path, "")
	if err != nil {
		t.Fatal(err)
	}
	items, _ := set.Items()
	want := []synod.Form{synod.Number, synod.Choice, synod.Choice, synod.Bool, synod.Text}
	replies := []string{"12", "B", "y", "yes", "The answer is Paris."}
	for i, it := range items {
		if it.Question.Form != want[i] {
			t.Errorf("%s is read as %s, want %s", it, it.Question.Form, want[i])
		}
		if g := it.GradeReply(replies[i]); g.Verdict != Right {
			t.Errorf("%s: %q is %+v", it, replies[i], g)
		}
	}
}

func TestBadFiles(t *testing.T) {
	good := `{"id":"a","question":"q","answer":"1"}` + "\n"
	for _, c := range []struct{ text, want string }{
		{"", "contains no question"},
		{good + "\n" + good, ":2: the line is empty"},
		{good + "  \n", ":2: the line is empty"},
		{good + strings.Repeat("x", 16<<20+1), ":2: the line has 16777217 bytes; at most 16777216 are read"},
		{good + good, `:2: line 1 already has the id "a"`},
		{good + `{"id":"b","question":"q","answer":`, ":2: broken JSON"},
		{good + `[1]`, ":2: it is not a JSON object"},
		{`{"id":"a","question":"q","anwser":"1"}`, `:1: unknown key "anwser" (did you mean "answer"?)`},
		{`{"id":"a","Question":"q","answer":"1"}`, `:1: unknown key "Question"`},
		{`{"id":"a","id":"b","question":"q","answer":"1"}`, `:1: the key "id" is repeated`},
		{`{"id":"a","answer":"1"}`, ":1: the question is empty"},
		{`{"id":"a","question":"q"}`, ":1: there is no answer"},
		{`{"id":"a","question":"q","answer":null}`, ":1: there is no answer"},
		{`{"id":"a","question":"q","answer":[1]}`, ":1: the answer must be"},
		{`{"id":"a","question":"q","answer":"D","choices":["x","y"]}`,
			`:1: the answer "D" cannot be read as one of the choices`},
		{`{"id":"a","question":"q","answer":"A","choices":["x"]}`, ":1: a choice question needs two choices"},
		{`{"id":"a","question":"q","answer":"A","choices":"xy"}`, ":1: choices must be a list"},
		{`{"id":"a","question":"q","answer":"A","choices":[{"label":"A","txt":"x"}]}`,
			`:1: in choice 1: unknown key "txt" (did you mean "text"?)`},
		{`{"id":"a","question":"q","answer":"A","choices":[{"label":"A","text":"x"},{"label":"A","text":"y"}]}`,
			":1: two choices have the label"},
		{"{\"id\":\"a\",\"question\":\"\xff\",\"answer\":\"1\"}", ":1: the text is not UTF-8"},
	} {
		path := filepath.Join(t.TempDir(), "own.jsonl")
		write(t, path, c.text)
		_, err := OpenFile(path, "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %v; want %q", c.text, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "own.jsonl")
	write(t, path, `{"id":"a","question":"q","answer":"many"}`)
	if _, err := OpenFile(path, synod.Number); err == nil ||
		!strings.Contains(err.Error(), `:1: the answer "many" cannot be read as a number`) {
		t.Errorf("a key that is no number gives %v", err)
	}
	write(t, path, `{"id":"a","question":"q","answer":"A"}`)
	if _, err := OpenFile(path, synod.Choice); err == nil || !strings.Contains(err.Error(), "needs two choices") {
		t.Errorf("a choice question without choices gives %v", err)
	}
	if _, err := OpenFile(path, "numbr"); err == nil || !strings.Contains(err.Error(), `did you mean "number"`) {
		t.Errorf("an unknown form gives %v", err)
	}
}
