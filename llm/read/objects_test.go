package read

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
)

// What models write in place of well-formed JSON, and the answer that they commit to.
func TestBrokenObjects(t *testing.T) {
	for _, c := range []struct {
		name string
		form synod.Form
		text string
		want synod.Answer // None: there is no answer to be read
	}{
		{"LaTeX", synod.Math, `{"reasoning": "So \(x = \sqrt{2}\) and \[y\].", "answer": "\sqrt{2}"}`, `\sqrt{2}`},
		{"form feed", synod.Math, `{"answer": "\frac{3}{5}"}`, "0.6"},
		{"tab", synod.Math, `{"answer": "2 \times x"}`, `2\times x`},
		{"backspace", synod.Math, `{"answer": "\beta + 1"}`, `\beta+1`},
		{"newline", synod.Math, `{"answer": "\nu"}`, `\nu`},
		{"return", synod.Math, `{"answer": "x \rightarrow y"}`, `x\to y`},
		{"underline", synod.Math, `{"answer": "\underline{5}"}`, `\underline5`},
		{"form feed before a word", synod.Text, `{"answer": "\foo bar"}`, `\foo bar`},
		{"newline before a word", synod.Text, `{"answer": "the\nother b\tend"}`, "other b end"},
		{"unknown command", synod.Math, `{"answer": "\foo"}`, `\foo`},
		{"rows", synod.Math, `{"answer": "\begin{pmatrix} 1 \\ 2 \end{pmatrix}"}`, `\begin{pmatrix}1\\2\end{pmatrix}`},
		{"escaped rows", synod.Math, `{"answer": "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}"}`,
			`\begin{pmatrix}1\\2\end{pmatrix}`},
		{"null", synod.Text, `{"answer": null}`, ""},
		{"escaped LaTeX", synod.Math, `{"answer": "\\frac{3}{5}"}`, "0.6"},
		{"real escapes", synod.Text, `{"answer": "a\tb \u0063"}`, "b c"},
		{"line breaks", synod.Number, "{\"reasoning\": \"one\n\ntwo\tthree\",\n\"answer\": \"5\"}", "5"},
		{"quotation marks", synod.Number, `{"reasoning": "the "total", as said", "answer": "5"}`, "5"},
		{"no closing mark", synod.Number, "{\"reasoning\": \"It is 7.\n\n\"answer\": \"5\"\n}", "5"},
		{"no comma", synod.Number, "{\"reasoning\": \"It is 7.\"\n\"answer\": \"5\"\n}", "5"},
		{"comma at the end", synod.Number, `{"answer": "5",}`, "5"},
		{"no marks", synod.Number, `{"answer": 1,234}`, "1234"},
		{"no marks, LaTeX", synod.Math, `{"answer": \frac{3}{5}}`, "0.6"},
		{"text around", synod.Number,
			"I add 2 and 3.\n{\"answer\": \"5\"}\nI hope that helps with your 7 questions.", "5"},
		{"fence with a space", synod.Number, "``` json\n{\"answer\": \"5\"}\n```", "5"},
		{"fence and a sentence", synod.Number, "```json\n{\"answer\": \"5\"}\n```\nThis is the sum of 2 and 3.", "5"},
		{"tokens at the end", synod.Number, "```json\n{\"answer\": \"5\"}\n```</s></s></s>", "5"},
		{"steps before", synod.Number,
			"1. Add 2.\n2. Add 3.\n\n```json\n{\"reasoning\": \"\\(5\\)\", \"answer\": \"5\"}\n```", "5"},
		{"a line outside", synod.Number, "{\"reasoning\": \"It is so.\"}\n\"answer\": \"5\"", "5"},
		{"braces inside", synod.Text, `{"reasoning": "the dict {"a": 1} is it", "answer": "x"}`, "x"},
		{"cut off after the answer", synod.Number, `{"answer": "5", "reasoning": "because`, "5"},

		{"cut off in the answer", synod.Number, `{"reasoning": "because", "answer": "5`, ""},
		{"cut off in a number", synod.Number, `{"answer": 5`, ""},
		{"cut off before it", synod.Number, `{"reasoning": "Answer: 5`, ""},
		{"an answer below the top", synod.Number, `{"result": {"answer": "5"}}`, ""},
		{"an answer in a string", synod.Number, `{"reasoning": "{\"answer\": \"5\"}"}`, ""},
		{"a line in a string", synod.Number, "{\"reasoning\": \"so\nAnswer: 5\n\"}", ""},
		{"two objects that differ", synod.Number, `{"answer": "5"} or {"answer": "6"}`, ""},
		{"two objects alike", synod.Number, `{"answer": "5"} or {"answer": "5.0"}`, "5"},
		{"one key twice", synod.Number, `{"answer": "5", "answer": "6"}`, ""},
		{"a later line that differs", synod.Number, "{\"answer\": \"5\"}\nAnswer: 6", ""},
		{"a later line alike", synod.Number, "{\"answer\": \"5\"}\nAnswer: 5.0", "5"},
		{"an earlier line", synod.Number, "Answer: 6\n{\"answer\": \"5\"}", "5"},
		{"a template before it", synod.Number, `As {"answer": "your answer"}: {"answer": "5"}`, "5"},
		{"a template after it", synod.Number, `{"answer": "5"} as in {"answer": "your answer"}`, ""},
		{"numbers around", synod.Number, `5 and 6 {"reasoning": "7"} 8`, ""},
	} {
		if got, _, ok := AnswerIn(questionOf(c.form), c.text); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: AnswerIn(%q) = %q, %v; want %q", c.name, c.text, got, ok, c.want)
		}
	}
}

// A judgement is read from a reply that is an object or ends with a fenced one.
func TestJudgements(t *testing.T) {
	for text, want := range map[string]synod.Score{
		"{\"reasoning\": \"\\(x\\)\nso\", \"score\": 0.5}":           0.5,
		"```json\n{\"score\": 0.5}\n```":                             0.5,
		"Let me see: \\(1\\).\n``` json\n{\"score\": 0.5,}\n```</s>": 0.5,
		"{\"score\": 0.5}\n```":                                      0.5,
		"{\"score\": 0.5} is what I give":                            synod.Untrusted,
		"I give {\"score\": 0.5}":                                    synod.Untrusted,
		"{\"score\": 0.5} {\"score\": 0.5}":                          synod.Untrusted,
		"{\"score\": 0.5, \"score\": 0.5}":                           synod.Untrusted,
		"{\"score\": 0.5":                                            synod.Untrusted,
		"{\"score\": 0.5, \"reasoning\": \"it\n0.7":                  synod.Untrusted,
		"the dict {\"a\": 1} is wrong\nScore: 0.5":                   0.5,
	} {
		if got, ok := ScoreIn(text); got != want || ok != (want != synod.Untrusted) {
			t.Errorf("ScoreIn(%q) = %v, %v; want %v", text, got, ok, want)
		}
	}
}

// Replies of a journal that has no version of the readers are read as they were then.
func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		`{"reasoning": "\(x\)", "answer": "5", "score": 0.5}`: `–, unreadable, `,
		`{"answer": "5"} as asked`:                            `–, unreadable, `,
		`{"answer": "5", "score": 0.5, "reasoning": "it is"}`: `"5", 0.50, it is`,
	} {
		r := &synod.Reply{Status: synod.OK, Text: text}
		a, _, _ := Answer(questionOf(synod.Number), r, false)
		s, _ := Score(r, false)
		if got := strings.Join([]string{a.String(), s.String(), Reasoning(r, 100)}, ", "); got != want {
			t.Errorf("%q was %q, now %q", text, want, got)
		}
		SetVersion(r)
		if a, _, _ := Answer(questionOf(synod.Number), r, false); a != "5" {
			t.Errorf("%q is %s", text, a)
		}
	}
}

// A label with its text was read by the strict readers only after a dot, a colon or a bracket.
func TestVersionOfChoices(t *testing.T) {
	q := &synod.Question{Form: synod.Choice, Options: []synod.Option{{Label: "A", Text: "London"},
		{Label: "B", Text: "Paris"}}}
	for text, want := range map[string][2]synod.Answer{"Answer: B - Paris": {"", "B"}, "Answer: A Paris": {"B", ""},
		"Answer: B. Paris": {"B", "B"}} {
		r := &synod.Reply{Status: synod.OK, Text: text}
		before, _, _ := Answer(q, r, false)
		SetVersion(r)
		if now, _, _ := Answer(q, r, false); before != want[0] || now != want[1] {
			t.Errorf("%s was %s and is %s", text, before, now)
		}
	}
}

// A well-formed object is read as it is.
func TestWellFormedObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\"\\{}[],:\n\t 1é`")))
		value := map[string]any{}
		for key := range rapid.MapOfN(text, rapid.Bool(), 1, 4).Draw(t, "keys") {
			value[key] = rapid.OneOf(text.AsAny(), rapid.Float64().AsAny(), rapid.SliceOf(text).AsAny(),
				rapid.MapOf(text, text).AsAny(), rapid.Bool().AsAny()).Draw(t, "value")
		}
		b, err := json.MarshalIndent(value, "", rapid.StringMatching(` {0,2}`).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		all := objects("so: " + string(b) + " end")
		if len(all) != 1 || !all[0].whole || all[0].to != len("so: ")+len(b) {
			t.Fatalf("%s: %+v", b, all)
		}
		var want, got map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil || json.Unmarshal([]byte(all[0].json()), &got) != nil {
			t.Fatalf("%s became %s", b, all[0].json())
		}
		for key := range want {
			var x, y any
			_, _ = json.Unmarshal(want[key], &x), json.Unmarshal(got[key], &y)
			if p, q := encoded(x), encoded(y); p != q {
				t.Fatalf("%q of %s became %s", key, b, q)
			}
		}
	})
}

func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// BenchmarkObjects repairs the worst known texts of 1 kB to 4 MB. The time for a byte must not grow: the repair itself
// has no limit, while of a reply only the end is read.
func BenchmarkObjects(b *testing.B) {
	for _, unit := range []string{`{"a":`, `{"a":"b","`, `["`, `{"a":["`, `{"reasoning": "\(x\)` + "\n", `{"a":"\"`} {
		for n := 1 << 10; n <= 4<<20; n *= 8 {
			text := strings.Repeat(unit, n/len(unit))
			b.Run(fmt.Sprintf("%q-%dkB", unit, n>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					objects(text)
				}
			})
		}
	}
}
