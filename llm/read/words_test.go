package read

import (
	"testing"

	"synod.dev/synod"
)

// The line that announces the value is not for the reader; everything else stays as it was written.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"17 and 25 make 42.\n\nAnswer: 42":          "17 and 25 make 42.",
		"**Sum**\n\n- 17\n- 25\n\n**Answer:** 42\n": "**Sum**\n\n- 17\n- 25",
		"Answer: 42": "",
		"42":         "42",
		"It is 42.":  "It is 42.",
		"<think>\nhm\n</think>\nIt is 42.\nAnswer: 42": "It is 42.",
		"The answer is easy to see.\nIt is 42.":        "The answer is easy to see.\nIt is 42.",
		"So, the answer is 42.":                        "So, the answer is 42.",
		`{"reasoning": "17 + 25", "answer": 42}`:       "",
		`{"total": 42}`:                                `{"total": 42}`,
		"":                                             "",
	} {
		if got := Words(&synod.Reply{Status: synod.OK, Text: text}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	twice := synod.Reply{Status: synod.OK, Text: "Answer: 42", Other: "It is 42, I think.", Reread: synod.RereadUsed}
	if got := Words(&twice); got != twice.Other {
		t.Errorf("after a second chance: %q", got)
	}
	for _, r := range []synod.Reply{{Status: synod.Timeout, Text: "x"}, {Typed: true, Text: "x", Status: synod.OK}} {
		if got := Words(&r); got != "" {
			t.Errorf("%+v: %q", r, got)
		}
	}
}
