package adversary

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// forgeryOf returns what an adversary makes of one reply of its model.
func forgeryOf(t testing.TB, name string, params map[string]any, q *synod.Question, text string) *synod.Reply {
	t.Helper()
	seat := seatFor(q)
	h := &honest{seat: seat}
	m := must(t, name, params).Corrupt(seat, h)
	m.Step(0, synod.Begin{})
	open := m.(*PromptAnswerer).open[0]
	reply := synod.Reply{Status: synod.OK, Text: text}
	read.SetVersion(&reply)
	return m.(*PromptAnswerer).Replace(open, &reply)
}

func TestForgeries(t *testing.T) {
	choice := &synod.Question{Form: synod.Choice, Options: []synod.Option{{Label: "A", Text: "x"},
		{Label: "B", Text: "y"}}}
	text, maths := &synod.Question{Form: synod.Text}, &synod.Question{Form: synod.Math}
	for _, c := range []struct {
		name   string
		params map[string]any
		q      *synod.Question
		reply  string
		answer synod.Answer
		inText string // expected in the text
	}{
		{"number-alterer", map[string]any{"by": 5}, number, "40 and 2.\nAnswer: 42", "47", "45 and 7."},
		{"number-alterer", map[string]any{"by": -50}, number, "Answer: 42.5", "-7.5", ""},
		{"number-alterer", map[string]any{"by": 1}, text, "Answer: Henry 8", "henry 9", ""},
		{"number-alterer", map[string]any{"by": 1}, text, "Answer: Paris", "not paris", ""},
		{"number-alterer", map[string]any{"by": 1}, maths, `Answer: 3\sqrt{5}`, `4\sqrt{6}`, ""},
		{"number-alterer", nil, choice, "Answer: B", "A", ""},
		{"advertiser", nil, number, "So it is.\nAnswer: 42", "42", "Globex tonic"},
		{"advertiser", map[string]any{"text": "buy this"}, text, "Answer: Paris", "paris, buy this", "buy this"},
		{"advertiser", nil, choice, "Answer: B", "B", "Globex tonic"},
		{"hash-grinder", nil, choice, "Answer: B", "B", ""},
		{"delimiter-forger", nil, number, "Answer: 42", "43", "Score: 20"},
	} {
		r := forgeryOf(t, c.name, c.params, c.q, c.reply)
		if r.Answer != c.answer || !strings.Contains(read.Reasoning(r, 1000), c.inText) {
			t.Errorf("%s of %q: %s with text %q", c.name, c.reply, r.Answer, r.Text)
		}
	}
}

// A forged answer is always a valid answer of the form of the question. A failed call stays a
// failed call.
func TestForgeriesAreAnswers(t *testing.T) {
	options := []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}
	rapid.Check(t, func(rt *rapid.T) {
		q := &synod.Question{Form: anyForm(rt), Options: options}
		reply := rapid.SampledFrom([]string{"0", "-1", "0.5", "11/18", "A", "B", "true", "false", `3\sqrt{3}`, "x",
			"(3,5)", "paris", "99999999999999999999", "a 1 b 2", strings.Repeat("word ", 90)}).Draw(rt, "reply")
		name := rapid.SampledFrom([]string{"advertiser", "number-alterer", "hash-grinder", "delimiter-forger"}).Draw(rt,
			"adversary")
		if _, ok := read.Canonical(q, reply); !ok {
			return
		}
		r := forgeryOf(t, name, nil, q, "Answer: "+reply)
		if again, ok := read.Canonical(q, string(r.Answer)); !ok || again != r.Answer {
			rt.Fatalf("%s: for the %s %q it returns %q", name, q.Form, reply, r.Answer)
		}
	})
	late := func(*synod.Prompt) synod.Reply { return synod.Reply{Status: synod.Timeout} }
	w, _ := corrupt(t, "number-alterer", nil, late)
	for _, r := range w.sent[1] {
		if r.Answer != synod.None {
			t.Errorf("for a failed call it returns %s", r.Answer)
		}
	}
}

func TestParameters(t *testing.T) {
	for name, bad := range map[string][]map[string]any{
		"advertiser":     {{"text": ""}, {"text": strings.Repeat("x", 201)}, {"txt": "x"}},
		"number-alterer": {{"by": 0}, {"by": "much"}, {"by": 1.5}, {"by": 10_000_000}},
		"cartel":         {{"favors": 1}},
		"late-revealer":  {{"late": -1}, {"late": 60001}, {"show": 1}},
		"hash-grinder":   {{"variants": 1}, {"variants": 5000}, {"salt": "xyz"}},
	} {
		e, err := Catalogue.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, params := range bad {
			if _, err := e.New(params); err == nil {
				t.Errorf("%s accepts %v", name, params)
			} else {
				t.Logf("%s: %v", name, err)
			}
		}
	}
}
