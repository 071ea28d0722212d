package council_test

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/internal/llmtest"
)

// A Byzantine member chooses how it spells its answer. Whatever it writes, the decision and
// the answers of all members are canonical, and honest spellings of one answer are one class.
func TestSpellingIsNotPrinted(t *testing.T) {
	for _, c := range []struct {
		question synod.Question
		honest   []string
		hostile  string
		decision synod.Answer // None: the hostile answer is not merged, so there is no majority
		apart    string       // the class of the hostile answer, if it has its own
	}{
		{synod.Question{Text: "How many dollars is it?", Form: synod.Number}, []string{"$18", "18"}, "18 dollars",
			"18", ""},
		{synod.Question{Text: "How many dollars is it?", Form: synod.Number}, []string{"$18", "18"},
			"18 dollars each", "",
			"18 dollars each"},
		{synod.Question{Text: "What is it?", Form: synod.Number}, []string{"0.5", ".50"}, "0.5%", "", "0.5%"},
		{synod.Question{Text: "What does it cost?", Form: synod.Number}, []string{"5", "$5"}, "5 cents each year", "",
			"5 cents each year"},
		{synod.Question{Text: "Is it open?", Form: synod.Bool}, []string{"yes", "Yes, it is."}, "YES", "true", ""},
		{synod.Question{Text: "Is it open?", Form: synod.Bool}, []string{"yes", "Yes."}, "Yes: except on Sundays", "",
			""},
		{synod.Question{Text: "Which?", Form: synod.Choice,
			Options: []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}},
			[]string{"A", "A) x"}, "A: all of the above, and B", "", ""},
		{synod.Question{Text: "Which town?", Form: synod.Text}, []string{"Paris", "Paris."}, "PARIS", "paris", ""},
	} {
		written := map[string]string{"s0": c.honest[0], "s1": c.honest[1], "s2": c.hostile, "s3": "", "s4": ""}
		server := llmtest.Start(t, func(call llmtest.Call) string {
			return "I think.\nAnswer: " + written[call.Model]
		})
		// Three of five seats make a majority; two have no answer.
		text := strings.NewReplacer("{name: sac, rounds: 6}", "{name: majority}\nrule: {name: majority}", "f: 3",
			"f: 1").
			Replace(seven(server.URL, "s0", "s1", "s2", "s3", "s4"))
		o := decide(t, convene(t, text), council.Ask{Question: c.question, Seed: 1})
		where := fmt.Sprintf("%q against %q", c.hostile, c.honest)
		if o.Decision != c.decision {
			t.Errorf("%s: the decision is %q, want %q (%s)", where, string(o.Decision), string(c.decision), o.Reason)
		}
		for _, v := range o.Votes {
			if len(v.Seats) == 1 && string(v.Answer) != c.apart {
				t.Errorf("%s: a class of its own, %q", where, string(v.Answer))
			}
			if c.apart == "" && (string(v.Answer) == c.hostile || v.Text == c.hostile) {
				t.Errorf("%s: its spelling is printed", where)
			}
		}
		for i, m := range o.Members[:3] {
			if m.Final != nil && string(*m.Final) == c.hostile && c.apart == "" {
				t.Errorf("%s: its spelling is shown as the answer of member %d", where, i)
			}
		}
		if m := o.Members[2]; c.decision != synod.None && m.Written != c.hostile {
			t.Errorf("%s: beside its name stands %q", where, m.Written)
		}
	}
}

// A decision is printed whole: a member's own spelling is kept to 120 bytes, and was printed.
func TestLongAnswerIsWhole(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 60))
	server := llmtest.Start(t, func(llmtest.Call) string { return "Answer: " + long })
	text := strings.NewReplacer("{name: sac, rounds: 6}", "{name: majority}", "f: 3", "f: 1").
		Replace(seven(server.URL, "s1", "s2", "s3"))
	o := decide(t, convene(t, text), council.Ask{Question: synod.Question{Text: "Which words?", Form: synod.Text}})
	if o.Answer == nil || string(*o.Answer) != long {
		t.Errorf("%d bytes are decided as %v", len(long), o.Answer)
	}
}

// What is printed is the spelling that most of those who agree used, if more than F used it. F members cannot choose
// it.
func TestTextIsSpelledByMoreThanF(t *testing.T) {
	const which = "Which town?"
	for _, c := range []struct {
		name, f string
		form    synod.Form
		written [5]string
		answer  synod.Answer
		text    string
	}{
		{"all agree", "1", synod.Text, [5]string{"Jane Austen", "Jane Austen", "Jane Austen", "Jane Austen.", ""},
			"jane austen", "Jane Austen"},
		{"most used it", "1", synod.Text, [5]string{"PARIS", "Paris", "Paris", "Paris", "PARIS"}, "paris", "Paris"},
		{"only F used it", "1", synod.Text, [5]string{"PARIS", "paris", "paRis", "pariS", ""}, "paris", "paris"},
		{"F is 0", "0", synod.Text, [5]string{"PARIS", "Paris", "pariS", "", ""}, "paris", "PARIS"},
		{"of an answer that lost", "1", synod.Text, [5]string{"Paris", "Paris", "Paris", "Rome", "Rome"}, "paris",
			"Paris"},
		{"a value with its unit", "1", synod.Number, [5]string{"$18", "$18", "18", "", ""}, "18", "$18"},
		{"more than a value", "1", synod.Number, [5]string{"18", "18", "18", "17 + 1 = 18", "17 + 1 = 18"}, "18", "18"},
		{"yes", "1", synod.Bool, [5]string{"Yes", "Yes", "No", "Yes", ""}, "true", "Yes"},
	} {
		written := map[string]string{}
		for i, w := range c.written {
			written[fmt.Sprintf("s%d", i)] = w
		}
		server := llmtest.Start(t, func(call llmtest.Call) string { return "I think.\nAnswer: " + written[call.Model] })
		text := strings.NewReplacer("{name: sac, rounds: 6}", "{name: majority}\nrule: {name: majority}", "f: 3",
			"f: "+c.f).Replace(seven(server.URL, "s0", "s1", "s2", "s3", "s4"))
		o := decide(t, convene(t, text), council.Ask{Question: synod.Question{Text: which, Form: c.form}, Seed: 1})
		if o.Decision != c.answer || o.Text != c.text || len(o.Votes) == 0 || o.Votes[0].Text != c.text {
			t.Errorf("%s: %q is printed as %q, want %q as %q (%s)", c.name, string(o.Decision), o.Text,
				string(c.answer), c.text, o.Reason)
		}
	}
}
