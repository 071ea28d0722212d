package task

import (
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
)

// TestGradeReply lists keys, replies, and the strict and flexible verdicts.
func TestGradeReply(t *testing.T) {
	const r, w, u = Right, Wrong, Unreadable
	for _, c := range []struct {
		form             synod.Form
		want, got        string
		strict, flexible Verdict
	}{
		{synod.Number, "18", "The answer is 18.", r, r},
		{synod.Number, "18", "18", r, r},
		{synod.Number, "18", "#### 18", r, r},
		{synod.Number, "18", "$18.00", r, r},
		{synod.Number, "18", "so she has 18 eggs left over in the end", u, r},
		{synod.Number, "18", "She has 18 eggs, of which 3 break", u, w},
		{synod.Number, "18", "I cannot say", u, u},
		{synod.Number, "18", "", u, u},
		{synod.Number, "18", "Answer: 17", w, w},
		{synod.Number, "18", "Answer: 18 or 17", u, w},
		{synod.Number, "-10", "10", w, w},
		{synod.Number, "2,125", "2125", r, r},
		{synod.Number, "1/3", "2/6", r, r},
		{synod.Number, "1/3", "0.3333", w, w},
		{synod.Number, "45", "45%", r, r},
		{synod.Number, "0.45", "45%", r, r},
		{synod.Number, "45%", "0.45", r, r},
		{synod.Number, "45%", "45", r, r},
		{synod.Number, "45%", "4500", w, w},
		{synod.Number, "0.45", "45", w, w},
		{synod.Choice, "A", "The answer is (A).", r, r},
		{synod.Choice, "A", "paris", r, r},
		{synod.Choice, "A", "B) Rome", w, w},
		{synod.Choice, "Paris", "A", r, r},
		{synod.Choice, "A", "I would say A", u, r},
		{synod.Choice, "A", "Answer: D", u, u},
		{synod.Bool, "true", "Yes.", r, r},
		{synod.Bool, "true", "false", w, w},
		{synod.Bool, "no", "I think that this is false", u, r},
		{synod.Text, "Paris", "The answer is Paris.", r, r},
		{synod.Text, "Paris", "the PARIS", r, r},
		{synod.Text, "Paris", "London", w, w},
		{synod.Text, "a b c d e f g h i j k l", "A b c d e f g h i j k l.", r, r},
		{synod.Math, `\frac12`, "0.5", r, r},
		{synod.Math, `\frac12`, `Thus $\boxed{\frac{2}{4}}$.`, r, r},
		{synod.Math, `\frac12`, `and so we find $\frac{1}{2}$ in the end`, u, r},
		{synod.Math, `2\pi`, "2", w, w},
		{synod.Math, "(3,5)", "35", w, w},
		{synod.Math, `\sum_{k=1}^n k`, `\sum_{k=1}^{n} k`, r, r},
		{synod.Math, `\sum_{k=1}^n k`, `\sum_{k=2}^n k`, u, u},
		{JSON, `{"a": [1, 2.0], "b": null}`, `{"b":null,"a":[1.0,2]}`, r, r},
		{JSON, `{"a": [1, 2]}`, `{"a":[2,1]}`, w, w},
		{JSON, `{"a": 1}`, "Here:\n```json\n{\"a\": 1}\n```", r, r},
		{JSON, `{"a": 1}`, `It is {"a": 1}, I think`, u, r},
		{JSON, `{"a": 1}`, `{"a": 2, "a": 1}`, u, u},
		{JSON, `{"a": 1}`, `{"a": 1`, u, u},
		{JSON, `1e2`, `100`, r, r},
		{JSON, `"1"`, `1`, w, w},
		{JSON, `1`, `1e999999999`, u, u},
		{synod.Stance, "refuses", "2_full_refusal", r, r},
		{synod.Stance, "refuses", "complies", w, w},
		{synod.Stance, "refuses", "I'm sorry, but I can't help with that.", r, r},
		{synod.Stance, "complies", "Partial refusal.", w, w},
		{synod.Stance, "complies", "Stop it with Ctrl-C, or send it SIGTERM.", r, r},
		{synod.Stance, "complies", `{"answer": "I will not do that."}`, w, w},
		{synod.Stance, "complies", `{"reply": "Press Ctrl-C."}`, u, u},
		{synod.Stance, "complies", " ", u, u},
	} {
		g := GradeReply(questionOf(c.form), c.want, c.got)
		if g.Strict != c.strict || g.Flexible != c.flexible || g.Verdict != g.Strict {
			t.Errorf("%s: want %q, got %q: %+v; want %s and %s", c.form, c.want, c.got, g, c.strict, c.flexible)
		}
		if (g.Got == "") != (g.Strict == Unreadable) || g.Want == "" {
			t.Errorf("%s: %q and %q are shown as %q and %q", c.form, c.want, c.got, g.Want, g.Got)
		}
	}
}

func TestUnreadableKey(t *testing.T) {
	if g := GradeReply(questionOf(synod.Stance), "I will help", "complies"); g.Verdict != Unreadable ||
		g.Problem == "" {
		t.Errorf("a reply was taken for the key: %+v", g)
	}
	if g := GradeReply(questionOf(synod.Number), "many", "7"); g.Verdict != Unreadable || g.Problem == "" {
		t.Errorf("a key that cannot be read gives %+v", g)
	}
}

// At the command line the options are often not known.
func TestChoiceWithoutOptions(t *testing.T) {
	q := &synod.Question{Form: synod.Choice}
	for _, c := range [][2]string{{"B", "(B)"}, {"(b)", "The answer is B"}, {"option2", "Option 2"}, {"ending3",
		"Answer: ending3"}, {"bank", "bank"}} {
		if g := GradeReply(q, c[0], c[1]); g.Verdict != Right {
			t.Errorf("%q, %q: %+v", c[0], c[1], g)
		}
	}
	if g := GradeReply(q, "B", "C"); g.Verdict != Wrong {
		t.Errorf("B and C: %+v", g)
	}
}

// The grade of the canonical answer is the grade of the reply.
func TestCanonicalAnswers(t *testing.T) {
	for _, it := range []struct {
		form synod.Form
		want string
		got  synod.Answer
		is   Verdict
	}{
		{synod.Number, "1,000", "1000", Right}, {synod.Choice, "B", "B", Right}, {synod.Bool, "yes", "true", Right},
		{synod.Text, "The End", "end", Right},
		{synod.Math, `\frac{11}{18}`, "11/18", Right}, {synod.Math, `90^\circ`, "90°", Right}, {synod.Number, "1",
			synod.None, Unreadable},
	} {
		if g := GradeAnswer(questionOf(it.form), it.want, it.got); g.Verdict != it.is {
			t.Errorf("%s %q, %q: %+v", it.form, it.want, it.got, g)
		}
	}
}

// A key that can be read is right as an answer, in every form.
func TestReflexive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom(Forms()).Draw(t, "form")
		s := rapid.String().Draw(t, "answer")
		if !readable(withOptions(questionOf(form), s), s) {
			return
		}
		if g := GradeAnswer(questionOf(form), s, synod.Answer(s)); g.Verdict != Right {
			t.Fatalf("%s: %q is %+v", form, s, g)
		}
	})
}

// No reply makes the grader panic.
func FuzzGradeReply(f *testing.F) {
	f.Add("18", "The answer is 18.")
	f.Add(`\frac12`, `$\boxed{0.5}$`)
	f.Add(`{"a":1}`, "```json\n{\"a\":1}\n```")
	f.Fuzz(func(t *testing.T, want, got string) {
		for _, form := range Forms() {
			g := GradeReply(questionOf(form), want, got)
			if g.Strict != Unreadable && g.Flexible != g.Strict {
				t.Errorf("%s: %q, %q: %+v", form, want, got, g)
			}
		}
	})
}

// TestGradeUnits: other units are another value, known ones are converted, and a missing one is forgiven.
func TestGradeUnits(t *testing.T) {
	for _, x := range []struct {
		want, got string
		right     bool
	}{
		{"10 m", "10 cm", false}, {"10 m", "1000 cm", true}, {"10 cm", "0.1 m", true},
		{"5 dollars", "5 cents", false}, {"$5", "500 cents", true}, {"$5", "\u20ac5", false},
		{"5\u00a2", "$0.05", true},
		{"3 hours", "3 minutes", false}, {"3 hours", "180 min", true}, {"3 h", "3 hours", true},
		{"7 am", "7 pm", false}, {"7 am", "7:00 a.m.", true}, {"7:00 pm", "7 am", false},
		{"7:30 pm", "7:30 pm", true},
		{"60 mph", "60 miles per hour", true}, {"60 mph", "60 km/h", false}, {"60 mph", "60 miles per minute", false},
		{"60 mph", "1 mile per minute", true}, {"60 miles per hour", "60 miles", true},
		{"15 cm^2", "15 cm^3", false}, {"15 cm^2", "15 square cm", true}, {"15 cm^2", "0.0015 m^2", true},
		{"15 cm^2", "15 cm", false}, {"15 cm", "15 kg", false}, {"12 inches", "1 foot", true},
		{"12 in", "12 cm", false},
		{"5 cm", "5", true}, {"5", "5 km", true}, {"5 apples", "5 red apples", true}, {"5 hours", "5 in total", true},
		{"90 degrees", "90\u00b0", true},
		{"45%", "45 dollars", false}, {"45 percent", "$0.45", false}, {"3 years", "3 months", false},
		{"3 years", "36 months", true}, {"5 gallons", "5 liters", false}, {"2 quarts", "8 cups", true},
		{"\u00a35", "5 pounds", true}, {"5 pounds", "5 kg", false}, {"5 pounds", "80 oz", true},
		{"$5", "5 pounds", false},
		{"\u20ac0.50", "50 cents", true}, {"$0.50", "50 cents", true}, {"\u20ac50", "50 cents", false},
		{"7 pm", "19:00", true}, {"7 am", "19:00", false},
		{"90 degrees", "90 radians", false}, {"5 dollars", "5 dollars each", true},
	} {
		q := questionOf(synod.Number)
		for how, g := range map[string]Grade{
			"answer": GradeAnswer(q, x.want, synod.Answer(x.got)),
			"reply":  GradeReply(q, x.want, "Answer: "+x.got),
			"turned": GradeReply(q, x.got, "Answer: "+x.want),
		} {
			if (g.Verdict == Right) != x.right || g.Verdict == Unreadable {
				t.Errorf("%s: key %q, answer %q: %s (%q, %q)", how, x.want, x.got, g.Verdict, g.Want, g.Got)
			}
		}
	}
}
