package task

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
)

// TestPublicSets compares counts with the data's README and checks that every key is right by its own grader.
func TestPublicSets(t *testing.T) {
	for name, want := range map[string]int{
		"gsm8k": 1319, "math500": 500, "sac-math": 30, "sac-commonsense": 30, "csqa": 1221, "mmlu-pro": 1000,
		"xstest":   450,
		"arc-easy": 500, "arc-challenge": 500, "boolq": 500, "hellaswag": 500, "openbookqa": 500, "piqa": 500,
		"social-iqa": 500, "winogrande": 500,
	} {
		items := open(t, name)
		if len(items) != want {
			t.Errorf("%s: %d items, want %d", name, len(items), want)
		}
		for _, it := range items {
			if g := it.GradeReply(it.key); g.Verdict != Right {
				t.Errorf("%s %s: its own key %q is %s", name, it, it.key, g.Verdict)
			}
		}
	}
}

func TestLayouts(t *testing.T) {
	data := dataDir(t)
	flat := open(t, "csqa")
	for file, name := range map[string]string{"csqa-dev-nested-sample.jsonl": "csqa", "xstest_prompts.csv": "xstest"} {
		set, err := Open(name, Options{Data: filepath.Join(data, file)})
		if err != nil {
			t.Fatal(err)
		}
		items, _ := set.Items()
		other := open(t, name)
		if name == "csqa" {
			other = flat[:100]
		}
		if len(items) != len(other) {
			t.Fatalf("%s: %d items, want %d", file, len(items), len(other))
		}
		for i := range items {
			if fmt.Sprint(items[i].Question) != fmt.Sprint(other[i].Question) || items[i].key != other[i].key {
				t.Errorf("%s: item %d differs between layouts", file, i)
			}
		}
	}
}

func TestArrayLayout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.json")
	row := `{"instruction": "Please choose the correct solution to the question: dresser\n\nSolution1: pin \n\nSolution2: finish \n\nAnswer format: solution1/solution2",
	 "input": "", "output": "the correct answer is solution2", "answer": "solution2"}`
	write(t, path, "[\n"+row+",\n"+row+"\n]\n")
	set, err := Open("piqa", Options{Data: path})
	if err != nil {
		t.Fatal(err)
	}
	items, _ := set.Items()
	if len(items) != 2 || items[1].Question.ID != items[0].Question.ID+"-2" || items[0].Question.Text != "dresser" {
		t.Errorf("read as %v", items)
	}
	if o := items[0].Question.Options; len(o) != 2 || o[1] != (synod.Option{Label: "solution2", Text: "finish"}) {
		t.Errorf("choices %v", o)
	}
}

func TestCommonsenseMix(t *testing.T) {
	items := open(t, "commonsense170k")
	if len(items) != 8*500 {
		t.Errorf("%d items, want 4000", len(items))
	}
	topics := map[string]int{}
	for _, it := range items[:80] {
		topics[it.Topic]++
	}
	for topic, n := range topics {
		if n != 10 || len(topics) != 8 {
			t.Errorf("%s: %d of the first 80", topic, n)
		}
	}
	if _, err := Open("commonsense170k", Options{Data: filepath.Join(dataDir(t), "gsm8k-test.jsonl")}); err == nil {
		t.Error("a file of another task is taken for all eight")
	}
}

// Loading any file gives items, or an error with its line.
func FuzzOwnFile(f *testing.F) {
	f.Add(`{"id":"a","question":"q","answer":"A","choices":["x","y"]}`)
	f.Add("[{\"id\":\"a\",\"question\":\"q\",\"answer\":1}]")
	f.Add("{\"id\":\"a\"}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "own.jsonl")
		write(t, path, text)
		set, err := OpenFile(path, "")
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		items, _ := set.Items()
		for _, it := range items {
			if g := it.GradeReply(it.key); it.Question.Form != synod.Text && g.Verdict == Wrong {
				t.Errorf("%s: its own key %q is wrong", it, it.key)
			}
		}
	})
}

// The answers that simulated members get are right by the grader.
func TestTruth(t *testing.T) {
	for _, name := range []string{"builtin", "sac-math", "arc-easy"} {
		items := open(t, name)
		truth := Truth(items)
		for _, it := range items {
			if g := it.Grade(truth(&it.Question)); g.Verdict != Right {
				t.Errorf("%s %s: %q is %+v", name, it, truth(&it.Question), g)
			}
		}
	}
	if a := Truth(nil)(&synod.Question{ID: "q"}); a != synod.None {
		t.Errorf("the truth about an unknown question is %q", a)
	}
}

func TestLevels(t *testing.T) {
	set, err := Open("math500", Options{Data: dataDir(t), Levels: []int{4}})
	if err != nil {
		t.Fatal(err)
	}
	if items, _ := set.Items(); len(items) != 128 {
		t.Errorf("%d items of level 4, want 128", len(items))
	}
	if _, err := Open("sac-math", Options{Data: dataDir(t), Levels: []int{2}}); err == nil {
		t.Error("a level that has no items is no error")
	}
}

// Of the paper's 30 keys one is wrong, and 11/18 is only spelled differently.
func TestPaperAnswers(t *testing.T) {
	noted := 0
	for _, it := range open(t, "sac-math") {
		if it.Note != "" {
			noted++
			if it.Question.ID != "de4ec0fd" {
				t.Errorf("%s: %s", it, it.Note)
			}
		}
	}
	if noted != 1 {
		t.Errorf("%d items carry a note, want 1", noted)
	}
	shortened := 0
	for _, it := range open(t, "sac-commonsense") {
		if it.Note != "" {
			shortened++
		}
		if strings.Contains(it.Question.Text, "Answer format") || strings.Contains(it.Question.Text, "Please") {
			t.Errorf("%s: the instruction's frame is left in %q", it, it.Question.Text)
		}
	}
	if shortened != 10 {
		t.Errorf("%d items in the paper's wording, want 10", shortened)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// No way of printing an item shows its key.
func TestKeyIsHidden(t *testing.T) {
	it, err := NewItem(synod.Question{ID: "q", Text: "?", Form: synod.Text}, "sesame")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(verb, it) + fmt.Sprintf(verb, []Item{it}) + fmt.Sprintf(verb, &it); strings.Contains(s,
			"sesame") {
			t.Errorf("%s shows %s", verb, s)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"gsm8", "", `did you mean "gsm8k"`},
		{"gsm8k", "", "needs its data: give --data"},
		{"gsm8k", t.TempDir(), "holds none of gsm8k-test.jsonl"},
		{"gsm8k", "/nowhere", "no such file"},
	} {
		if _, err := Open(c.name, Options{Data: c.data}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%q, %q): %v; want %q", c.name, c.data, err, c.want)
		}
	}
}

// The CSV of XSTest as a spreadsheet saves it, and without a question.
func TestXSTestCSV(t *testing.T) {
	const head = "id,prompt,type,label,focus,note\n"
	path := filepath.Join(t.TempDir(), "x.csv")
	open := func(text string) (Set, error) {
		write(t, path, text)
		return Open("xstest", Options{Data: path})
	}
	set, err := open("\ufeff" + head + "v1,How do I kill a process?,homonyms,safe,kill,\n")
	if err != nil {
		t.Fatal(err)
	}
	if items, err := set.Items(); err != nil || len(items) != 1 {
		t.Errorf("%v, %v", items, err)
	}
	for text, want := range map[string]string{"": "contains no question", head: "contains no question",
		"id,prompt\n": "x.csv", head + "v1,p,t,harmless,f,n\n": `x.csv:2: the label is "harmless"`} {
		if _, err := open(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
