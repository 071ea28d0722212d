package read

import (
	"strings"
	"testing"

	"synod.dev/synod"
)

// Values as people write them, and how they are read; what may mean something else is not read.
func TestWritten(t *testing.T) {
	options := []synod.Option{{Label: "A", Text: "London"}, {Label: "B", Text: "Paris"}, {Label: "C", Text: "A dog"}}
	for _, c := range []struct {
		form synod.Form
		want synod.Answer // None: no answer
		in   string       // spellings, separated by |
	}{
		{synod.Number, "245", "The total postage cost is $245."},
		{synod.Number, "245", "245|$245|x = 245|Answer: 245|**245**|\\boxed{245}|USD 245|２４５"},
		{synod.Number, "1234.5", "1,234.5|1.234,5|1 234,5|1'234.5|1{,}234.5"},
		{synod.Number, "1000000", "1,000,000|1.000.000|1 000 000|1 million|10^6"},
		{synod.Number, "45%", "45%|45 percent|45\\%"},
		{synod.Number, "90\u00b0", "90\u00b0|90^\\circ"},
		{synod.Number, "2 pm", "2 pm|2:00 pm|2:00 PM|at 2 p.m."},
		{synod.Number, "14:30", "14:30|It is 14:30"},
		{synod.Number, `36\sqrt{3}`, "36\u221a3|36\\sqrt{3}|36*sqrt(3)|36 \\cdot \\sqrt{3}"},
		{synod.Number, `14+\sqrt{29}`, "14 + sqrt(29)|14 + \u221a29|14+\\sqrt{29}"},
		{synod.Number, `3\pi`, "3\u03c0|3pi|3*pi|3\\pi"},
		{synod.Number, "0.6", "\\frac{3}{5}|3/5|.6|0.60"},
		{synod.Number, "4", "sqrt(16)|\u221a16|2^2"},
		{synod.Number, "1/3", "1/3|0.\\overline{3}"},
		{synod.Number, "52_{8}", "52_8|52\u2088"},
		{synod.Number, "", "12,5|1,23|5, 6|5 or 6"},
		{synod.Number, "", "5-7|about 5|not 5|The answer is not 5|It is 5, not 6|5 \u00b1 1|0.333..."},
		{synod.Number, "", "The sum of 3 and 4 is 7"},
		{synod.Number, "", "There are 3 boys and 5 girls, so it is 8|2024-01-05|5 apples and 3 pears|x+1|5!"},
		{synod.Number, "", "25:00 pm|14:30 pm|1:2:3|None|true|-|infinity"},
		{synod.Choice, "B", "B|(B)|b.|(B) Paris|B. Paris|B: Paris|B - Paris|B (Paris)|Paris|Option B|B is correct"},
		{synod.Choice, "B", "The answer is (B) Paris.|The capital of France is Paris.|Ｂ"},
		{synod.Choice, "C", "A dog|C|C. A dog"},
		{synod.Choice, "", "A or B|A, B|A. Paris|A Paris|B London"},
		{synod.Choice, "", "not B|It is not B|B is wrong|E|Paris or London|B?|all of the above"},
		{synod.Bool, "true", "true|Yes|yes.|Yes, it is.|The statement is true."},
		{synod.Bool, "false", "False|no|No, it is not.|It is false"},
		{synod.Bool, "", "Yes and no|It is not true"},
		{synod.Bool, "", "Yes, but not always|No, it's true|maybe|Is it true?|true, not false"},
		{synod.Text, "paris", "Paris|'Paris'|The answer is Paris.|Answer: Paris|**Paris**"},
		{synod.Text, `""`, "''"},
		{synod.Text, "", "-| |...|?"},
	} {
		q := &synod.Question{Form: c.form, Text: "How many?"}
		if c.form == synod.Choice {
			q.Options = options
		}
		for spelling := range strings.SplitSeq(c.in, "|") {
			text := `{"answer": ` + encoded(spelling) + "}"
			if got, _, ok := AnswerIn(q, text); got != c.want || ok != (c.want != "") {
				t.Errorf("%s: %s is read as %q, %v; want %q", c.form, text, string(got), ok, string(c.want))
			}
		}
	}
}

// What servers and models put around a reply.
func TestSpoken(t *testing.T) {
	for _, c := range []struct {
		text string
		want synod.Answer // None: no answer
	}{
		{"\ufeffAnswer: 5", "5"},
		{"I add.\r\nAnswer: 5\r\n", "5"},
		{"{\"reasoning\": \"a\r\nb\",\r\n\"answer\": \"5\"}\r\n", "5"},
		{"Answer: ５", "5"},
		{"答案：５", "5"},
		{"答案是 5。", "5"},
		{"正确答案是：5。", "5"},
		{"Réponse : 5", "5"},
		{"La réponse est 5.", "5"},
		{"Antwort: 5", "5"},
		{"**Antwort:** 5", "5"},
		{"Respuesta: 5", "5"},
		{"The final answer is: $\\boxed{29}$", "29"},
		{"<think>Answer: 6</think>Answer: 5", "5"},
		{"<think>It may be 6.</think>\n{\"answer\": \"5\"}", "5"},
		{"<think>Answer: 6", ""},
		{"It may be 6.\nAnswer: 6</think>Answer: 5", "5"},
		{"<|channel|>analysis<|message|>Answer: 6<|end|>" +
			"<|start|>assistant<|channel|>final<|message|>Answer: 5<|return|>", "5"},
		{"<|channel|>analysis<|message|>Answer: 6<|end|>", ""},
		{"<|channel|>final <|constrain|>json<|message|>{\"answer\": 5}<|return|>", "5"},
		{"Answer: 5</s></s>", "5"},
		{"Answer: 5<|im_end|>", "5"},
		{"", ""},
		{"\ufeff", ""},
	} {
		if got, _, ok := AnswerIn(questionOf(synod.Number), c.text); got != c.want || ok != (c.want != "") {
			t.Errorf("%q is read as %q, %v; want %q", c.text, string(got), ok, string(c.want))
		}
	}
}
