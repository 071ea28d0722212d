package read_test

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

const marks = `{"reasoning": "fine", "factual_contradiction": 20, "factual_fabrication": 19.5, "instruction_inconsistency": 0, "context_inconsistency": -0, "logical_inconsistency": 10}`

// [I-DL-6] Marks are read whole or not at all.
func TestReadGrades(t *testing.T) {
	want := synod.Grades{20, 19.5, 0, 0, 10}
	for _, good := range []string{marks, "```json\n" + marks + "\n```", "<think>0</think>" + marks, strings.Replace(marks, `"reasoning": "fine", `, "", 1)} {
		if g, err := read.GradesIn(good); err != nil || g != want {
			t.Errorf("%s is read as %v, %v", good, g, err)
		}
	}
	for what, change := range map[string][2]string{
		"above the range": {"19.5", "20.01"}, "below it": {"19.5", "-1"}, "huge": {"19.5", "1e999"}, "NaN": {"19.5", "NaN"},
		"a string": {"19.5", `"19.5"`}, "null": {"19.5", "null"}, "a list": {"19.5", "[19.5]"}, "missing": {`"factual_fabrication": 19.5, `, ""},
		"extra": {`"factual_fabrication"`, `"style": 3, "factual_fabrication"`}, "twice": {`"factual_fabrication"`, `"factual_fabrication": 1, "factual_fabrication"`},
		"another case": {`"factual_fabrication"`, `"Factual_Fabrication"`}, "cut off": {"10}", ""}, "prose after": {"10}", "10} and so on"}, "prose before": {`{"r`, `Scores: {"r`},
	} {
		bad := strings.Replace(marks, change[0], change[1], 1)
		if g, err := read.GradesIn(bad); err == nil || bad == marks {
			t.Errorf("%s is read as %v", what, g)
		}
	}
	for _, r := range []synod.Reply{{Status: synod.Timeout, Text: marks}, {Status: synod.OK, Typed: true}, {Status: synod.OK, Typed: true, Grades: &synod.Grades{21}}} {
		if _, err := read.Grades(&r); err == nil {
			t.Errorf("%+v gives marks", r)
		}
	}
	if g, err := read.Grades(&synod.Reply{Status: synod.OK, Typed: true, Grades: &want}); err != nil || g != want {
		t.Error("typed marks are not taken")
	}
}

// No text makes the reader panic, and what it reads is in range.
func FuzzReadGrades(f *testing.F) {
	f.Add(marks)
	f.Add(`{"factual_contradiction": 1e400}`)
	f.Fuzz(func(t *testing.T, text string) {
		if g, err := read.GradesIn(text); err == nil && !g.Valid() {
			t.Fatalf("%q is read as %v", text, g)
		}
	})
}

// sheet is marks of n answers, as a model writes them.
func sheet(n int) string {
	text := `{"reasoning": "fine"`
	for i := range n {
		text += fmt.Sprintf(`, "answer_%d": %s`, i+1, strings.Replace(marks, `"reasoning": "fine", `, "", 1))
	}
	return text + "}"
}

// [DL-6] [I-DL-6] Marks of all answers at once are read whole or not at all.
func TestSheetOf(t *testing.T) {
	want := synod.Grades{20, 19.5, 0, 0, 10}
	for n := range 4 {
		got, err := read.AllGrades(&synod.Reply{Status: synod.OK, Text: sheet(n)}, n)
		if err != nil || len(got) != n || n > 0 && got[n-1] != want {
			t.Errorf("%d answers: %v, %v", n, got, err)
		}
		for other := range 4 {
			if _, err := read.AllGrades(&synod.Reply{Status: synod.OK, Text: sheet(n)}, other); (err == nil) != (n == other) {
				t.Errorf("marks of %d answers are read as of %d: %v", n, other, err)
			}
		}
	}
	for what, change := range map[string][2]string{
		"above the range": {"19.5", "20.01"}, "NaN": {"19.5", "NaN"}, "a string": {"19.5", `"19.5"`}, "missing": {`"factual_fabrication": 19.5, `, ""},
		"extra": {`"factual_fabrication"`, `"style": 3, "factual_fabrication"`}, "reasoning inside": {`"factual_contradiction"`, `"reasoning": "", "factual_contradiction"`},
		"an answer twice": {"answer_2", "answer_1"}, "a list": {`"answer_1": {`, `"answer_1": [{`}, "another name": {"answer_2", "Answer_2"}, "cut off": {"10}}", "10}"},
	} {
		bad := strings.Replace(sheet(2), change[0], change[1], 1)
		if got, err := read.AllGrades(&synod.Reply{Status: synod.OK, Text: bad}, 2); err == nil || bad == sheet(2) {
			t.Errorf("%s is read as %v", what, got)
		}
	}
	for _, r := range []synod.Reply{{Status: synod.Timeout, Text: sheet(1)}, {Status: synod.OK, Typed: true}, {Status: synod.OK, Typed: true, Sheet: []synod.Grades{{21}}}} {
		if _, err := read.AllGrades(&r, 1); err == nil {
			t.Errorf("%+v gives marks", r)
		}
	}
}

// No text makes the reader panic, and what it reads is in range.
func FuzzSheetOf(f *testing.F) {
	f.Add(sheet(2), 2)
	f.Add(`{"answer_1": {}}`, 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		got, err := read.AllGrades(&synod.Reply{Status: synod.OK, Text: text}, min(max(n, 0), 9))
		for _, g := range got {
			if err != nil || !g.Valid() {
				t.Fatalf("%q is read as %v", text, g)
			}
		}
	})
}
