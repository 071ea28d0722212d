package read

import "testing"

func TestReasoning(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"reasoning":"17+25","answer":"42"}`, "17+25"},
		{"```json\n{\"reasoning\": \"17+25\", \"answer\": 42}\n```", "17+25"},
		{"As wanted:\n```json\n{\"reasoning\": \"17+25\", \"answer\": 42}\n```\n", "17+25"},
		{"<think>{\"reasoning\":\"secret\"}</think>\n{\"reasoning\":\"17+25\",\"answer\":\"42\"}", "17+25"},
		{"<think>secret</think>I add.\nAnswer: 42", "I add."},
		{"I add.\n**Answer:** 42", "I add."},
		{"Answer: 41\nNo, wait.\nANSWER: 42", "Answer: 41 No, wait."},
		{"I add, and nothing more", "I add, and nothing more"},
		{"Answer: 42", ""},
		{`{"answer":"42"}`, ""},
		{`{"reasoning":["17+25"],"answer":"42"}`, ""},
		{`{"reasoning":7,"answer":"42"}`, ""},
		{`{"reasoning":"one","reasoning":"two","answer":"42"}`, ""},
		{`{"reasoning":"one","Reasoning":"two","answer":"42"}`, ""},
		{`{"reasoning":"cut off`, ""},
		{`{"reasoning":"one"} and more`, ""},
		{"", ""},
	} {
		if got := Reasoning(c.text, 100); got != c.want {
			t.Errorf("Reasoning(%q) = %q; want %q", c.text, got, c.want)
		}
	}
	if got := Reasoning(`{"reasoning":"a long story"}`, 6); len(got) > 6 || got == "" {
		t.Errorf("cut to %q", got)
	}
}
