package task

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
)

// Own questions are read from the files that people have.
func TestForeignFiles(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // "text|form|key|choices"
	}{
		{"a.csv", "Topic,Question,Answer\nsums,\"What is 17, plus 25?\",42\nfish,Is a cod a fish?,TRUE\n",
			[]string{"What is 17, plus 25?|number|42|0", "Is a cod a fish?|bool|true|0"}},
		{"a.csv", "\ufeffid,input,target,choices\nx,Which is a fish?,B,whale | cod\n",
			[]string{"Which is a fish?|choice|B|2"}},
		{"a.csv", "Question;Answer\n\"What is 1,5 + 1; as a number?\";2,5\n",
			[]string{"What is 1,5 + 1; as a number?|text|2,5|0"}},
		{"a.tsv", "question\tA\tB\tanswer\nWhich is a fish?\twhale\tcod\tB\n", []string{"Which is a fish?|choice|B|2"}},
		{"a.jsonl", `{"question": "What is 6 times 7?", "answer": 42}` + "\n" + `{"question": "What is 6 times 7?", "answer": 42}`,
			[]string{"What is 6 times 7?|number|42|0", "What is 6 times 7?|number|42|0"}},
		{"a.json", `{"questions": [{"question": "What is 6 times 7?", "answer": "42"}]}`,
			[]string{"What is 6 times 7?|number|42|0"}},
		{"a.json", `[{"id": 7, "question": "Who wrote Emma?", "answer": "Jane Austen"}]`,
			[]string{"Who wrote Emma?|text|Jane Austen|0"}},
		{"a.yaml", "- question: Who wrote Emma?\n  answer: Jane Austen\n- {question: Is it so?, answer: true}\n",
			[]string{"Who wrote Emma?|text|Jane Austen|0", "Is it so?|bool|true|0"}},
		{"promptfooconfig.yaml", "prompts: ['Answer briefly: {{q}}']\nproviders: [openai:gpt-4o-mini]\ntests:\n" +
			"- vars: {q: Who wrote Emma?}\n  assert:\n  - {type: icontains, value: Jane Austen}\n" +
			"  - {type: latency, threshold: 5}\n",
			[]string{"Answer briefly: Who wrote Emma?|text|Jane Austen|0"}},
		{"inspect.jsonl", `{"input": [{"role": "user", "content": "Which is a fish?"}], "target": ["B"], "choices": ["whale", "cod"], ` +
			`"id": 3, "metadata": {"level": 1}}`, []string{"Which is a fish?|choice|B|2"}},
	} {
		set, err := OpenFile(ownFile(t, c.name, c.text), "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		ids := map[string]bool{}
		for i, it := range set.(list) {
			q := it.Question
			got := strings.Join([]string{q.Text, string(q.Form), it.key, string(rune('0' + len(q.Options)))}, "|")
			if i >= len(c.want) || got != c.want[i] || q.ID == "" || ids[q.ID] {
				t.Errorf("%s: %q is %q", c.name, q.ID, got)
			}
			ids[q.ID] = true
		}
		if len(set.(list)) != len(c.want) {
			t.Errorf("%s: %d questions", c.name, len(set.(list)))
		}
	}
	one, _ := OpenFile(ownFile(t, "a.jsonl", `{"question": "Why?", "answer": "so"}`), synod.Text)
	two, _ := OpenFile(ownFile(t, "b.csv", "question,answer\nWhy?,so\n"), synod.Text)
	if one.(list)[0].Question.ID != two.(list)[0].Question.ID {
		t.Error("an id does not follow from the text alone")
	}
}

// What cannot be read says why.
func TestForeignMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "a,b\n1,2\n", "no column is called question; there are: a, b"},
		{"a.csv", "question,answer\nWhy?,\n", ":2: there is no answer"},
		{"a.xlsx", "PK", "save the sheet as CSV"},
		{"a.yaml", "tests: [{vars: {question: Why?}, assert: [{type: javascript, value: x}]}]",
			"one must be of type equals"},
		{"a.yaml", "prompts: ['{{q}} {{other}}']\ntests: [{vars: {q: Why?}, assert: [{type: equals, value: x}]}]",
			"a variable that"},
		{"a.yaml", "name: x\n", "it has no list of questions"},
		{"a.json", `{"questions": [{"questoin": "Why?"}]}`, `did you mean "question"`},
		{"a.jsonl", `{"input": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "target": "c"}`,
			"input must be a text"},
		{"a.jsonl", `{"input": "Why?", "target": ["a", "b"]}`, "target must be one answer"},
	} {
		if _, err := OpenFile(ownFile(t, c.name, c.text), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.name, c.text, err, c.want)
		}
	}
}

func ownFile(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
