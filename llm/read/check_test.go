package read_test

import (
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// Each kind of check sees the value that the form of the question says, and a check that cannot be evaluated fails.
func TestFailed(t *testing.T) {
	cel := func(text string) synod.Check { return synod.Check{Name: "c", CEL: text} }
	const pay = `{"arguments":{"usd":5},"name":"pay"}`
	for _, c := range []struct {
		form   synod.Form
		answer synod.Answer
		check  synod.Check
		fails  bool
	}{
		{synod.Number, "42", cel("self == 42 && self < 42.5"), false},
		{synod.Number, "1/3", cel("self > 0.33 && self < 0.34"), false},
		{synod.Number, "1/3", cel("self > 0.34"), true},
		{synod.Number, "12", cel("self / 0 > 1 && false"), true},
		{synod.Number, "12", cel("self.size() > 1"), true},
		{synod.Number, synod.Answer("1" + strings.Repeat("0", 400)), cel("self > 1"), true}, // no number of CEL
		{synod.Number, "12", synod.Check{Name: "c", Schema: map[string]any{"maximum": 11}}, true},
		{synod.Number, "12", synod.Check{Name: "c", Schema: map[string]any{"type": "integer"}}, false},
		{synod.Bool, "true", cel("self"), false},
		{synod.Bool, "false", cel("self"), true},
		{synod.Text, "jane austen", cel(`self.startsWith("jane")`), false},
		{synod.Text, "jane austen", synod.Check{Name: "c", Regex: "^[a-z]+$"}, true},
		{synod.Prose, "A text.\nOf two lines.", synod.Check{Name: "c", Regex: `(?s)\A.{0,30}\z`}, false},
		{synod.JSON, `{"a":[1,2]}`, cel("self.a.all(x, x > 0)"), false},
		{synod.JSON, `{"a":[1,2]}`, cel("self.b > 0"), true},
		{synod.JSON, `{"a":1}`, synod.Check{Name: "c", Regex: `"a":2`}, true},
		{synod.Action, pay, synod.Check{Name: "c", Tool: "pay", CEL: "self.usd < 5"}, true},
		{synod.Action, pay, synod.Check{Name: "c", Tool: "say", CEL: "false"}, false},
		{synod.Number, "5", synod.Check{Name: "c", Tool: "say", CEL: "false"}, false},
		{synod.Number, "5", synod.Check{Name: "c", Command: []string{"false"}}, false}, // is run elsewhere
	} {
		q := synod.Question{Form: c.form, Checks: []synod.Check{c.check}}
		if err := read.CompileChecks(q.Checks); err != nil {
			t.Errorf("%+v: %v", c.check, err)
		}
		got := read.Failed(&q, c.answer)
		if (got != nil) != c.fails || got != nil && (got.Check != "c" || got.Reason == "") {
			t.Errorf("%s %s %+v: %+v", c.form, c.answer, c.check, got)
		}
	}
}

// The reason is one bounded line, whatever the program wrote.
func TestFailureIsClean(t *testing.T) {
	f := read.Failure(&synod.Check{Name: "c"}, "a\x1b[31m\u202e\nb"+strings.Repeat("x", 1000))
	if len(f.Reason) > synod.MaxReason || strings.ContainsAny(f.Reason, "\x1b\n\u202e") {
		t.Errorf("%q", f.Reason)
	}
	if f := read.Failure(&synod.Check{Name: "c", Says: "own words"}, "others"); f.Reason != "own words" {
		t.Errorf("%q", f.Reason)
	}
}

// A value that a condition takes too many steps for is not said to fail it.
func TestCostlyCondition(t *testing.T) {
	q := &synod.Question{Form: synod.JSON, Checks: []synod.Check{{Name: "c",
		CEL: "self.l.all(a, self.l.all(b, self.l.all(c, a == b || b == c)))"}}}
	list := `{"l":[` + strings.Repeat("1,", 199) + `1]}`
	if f := read.Failed(q, synod.Answer(list)); f == nil || !strings.Contains(f.Reason, "takes too many steps") {
		t.Errorf("%+v", f)
	}
	if f := read.Failed(q, `{"l":[1,2,3]}`); f == nil || !strings.Contains(f.Reason, "does not meet the condition") {
		t.Errorf("%+v", f)
	}
}

// An answer that fails is none, in a reply and where it is heard; without a check it is one.
func TestFailedAnswerIsNone(t *testing.T) {
	q := &synod.Question{Form: synod.Number}
	reply := &synod.Reply{Status: synod.OK, Text: "Answer: 42"}
	p := &synod.Prompt{Purpose: synod.Answering, Question: q}
	for _, fails := range []bool{false, true} {
		if fails {
			q.Checks = []synod.Check{{Name: "small", CEL: "self < 40"}}
		}
		_, heard := read.Canonical(q, "42")
		_, _, said := read.Answer(q, reply, false)
		typed, _, _ := read.Answer(q, &synod.Reply{Status: synod.OK, Typed: true, Answer: "42"}, false)
		a, failed := read.FailedReply(p, reply)
		if heard == fails || said == fails || (typed == "42") == fails || read.Readable(p, reply) == fails ||
			(failed != nil) != fails || a != "42" {
			t.Errorf("fails %v: %v, %v, %q, %v, %q %+v", fails, heard, said, typed, read.Readable(p, reply), a, failed)
		}
	}
	q.Checks, reply.Failed = nil, &synod.Failure{Check: "run"}
	if _, _, ok := read.Answer(q, reply, false); ok || read.Readable(p, reply) {
		t.Error("a reply that failed a command has an answer")
	}
}
