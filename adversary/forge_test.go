package adversary

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

// forgeryOf is what a liar makes of one reply of its model.
func forgeryOf(t testing.TB, name string, params map[string]any, q *synod.Question, text string) *synod.Reply {
	t.Helper()
	seat := seatFor(q)
	h := &honest{seat: seat}
	m := must(t, name, params).Corrupt(seat, h)
	m.Step(0, synod.Begin{})
	open := m.(*PromptAnswerer).open[0]
	return m.(*PromptAnswerer).Replace(open, &synod.Reply{Status: synod.OK, Text: text})
}

func TestForgeries(t *testing.T) {
	choice := &synod.Question{Form: synod.Choice, Options: []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}}
	text, maths := &synod.Question{Form: synod.Text}, &synod.Question{Form: synod.Math}
	for _, c := range []struct {
		name   string
		params map[string]any
		q      *synod.Question
		said   string
		answer synod.Answer
		words  string // in what is said beside it
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
		r := forgeryOf(t, c.name, c.params, c.q, c.said)
		if r.Answer != c.answer || !strings.Contains(read.Reasoning(r.Text, 1000), c.words) {
			t.Errorf("%s of %q: %s beside %q", c.name, c.said, r.Answer, r.Text)
		}
	}
}

// Whatever a model says, a forged answer is an answer of its form: the attack is
// what it says, not that it cannot be read. A failed call stays a failed call.
func TestForgeriesAreAnswers(t *testing.T) {
	options := []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}
	rapid.Check(t, func(rt *rapid.T) {
		q := &synod.Question{Form: rapid.SampledFrom(synod.Forms()).Draw(rt, "form"), Options: options}
		said := rapid.SampledFrom([]string{"0", "-1", "0.5", "11/18", "A", "B", "true", "false", `3\sqrt{3}`, "x", "(3,5)", "paris", "99999999999999999999", "a 1 b 2", strings.Repeat("word ", 90)}).Draw(rt, "said")
		name := rapid.SampledFrom([]string{"advertiser", "number-alterer", "hash-grinder", "delimiter-forger"}).Draw(rt, "liar")
		if _, ok := read.Canonical(q, said); !ok {
			return
		}
		r := forgeryOf(t, name, nil, q, "Answer: "+said)
		if again, ok := read.Canonical(q, string(r.Answer)); !ok || again != r.Answer {
			rt.Fatalf("%s: of %s %q it makes %q", name, q.Form, said, r.Answer)
		}
	})
	w, _ := corrupt(t, "number-alterer", nil, func(*synod.Prompt) synod.Reply { return synod.Reply{Status: synod.Timeout} })
	for _, r := range w.sent[1] {
		if r.Answer != synod.None {
			t.Errorf("of failed calls it makes %s", r.Answer)
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
				t.Errorf("%s takes %v", name, params)
			} else {
				t.Logf("%s: %v", name, err)
			}
		}
	}
}
