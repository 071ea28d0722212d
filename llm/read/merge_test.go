package read

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
)

// Every row of the table is what the reader does: with what stands beside it, an answer is
// merged with the bare one or not.
func TestMerges(t *testing.T) {
	bare := map[synod.Form]string{synod.Choice: "A", synod.Bool: "yes", synod.Text: "Eiffel Tower"}
	numbers := map[mark]string{thousands: "1234", percent: "0.5", scaleWord: "5", qualifier: "5"}
	for m, row := range merges {
		q := &synod.Question{Text: row.question, Form: row.form}
		if row.form == synod.Choice {
			q.Options = abc
		}
		value, has := numbers[mark(m)]
		if !has {
			if value, has = bare[row.form]; !has {
				value = "18"
			}
		}
		plain, ok := Canonical(q, value)
		if !ok {
			t.Fatalf("%q is no %s", value, row.form)
		}
		got, ok := Canonical(q, row.written)
		if got != row.answer || ok != (row.answer != synod.None) {
			t.Errorf("%s, %s: %q is read as %q, want %q", row.form, row.beside, row.written, string(got),
				string(row.answer))
		}
		if (got == plain) != row.merged {
			t.Errorf("%s, %s: merged is %v, and %q is %q while %q is %q", row.form, row.beside, row.merged, row.written,
				string(got), value, string(plain))
		}
	}
}

// docs/measure/grading.md shows the table as it is.
func TestMergesInDocs(t *testing.T) {
	b, err := os.ReadFile("../../docs/measure/grading.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range merges {
		same, read := "no", fmt.Sprintf("`%s`", string(row.answer))
		if row.merged {
			same = "yes"
		}
		if row.answer == synod.None {
			read = "no answer"
		}
		line := fmt.Sprintf("| %s | %s | %s | %s `%s` → %s |", row.form, row.beside, same, row.question, row.written,
			read)
		if !strings.Contains(string(b), line+"\n") {
			t.Errorf("docs/measure/grading.md lacks the row\n%s", line)
		}
	}
}

// Which units belong to the question.
func TestAskedUnit(t *testing.T) {
	for _, c := range []struct{ question, written, want string }{
		{"How much in dollars does she make every day at the farmers' market?", "$18", "18"},
		{"How much in dollars does she make every day at the farmers' market?", "18 dollars", "18"},
		{"How much in dollars does she make every day at the farmers' market?", "$18 per day", "18"},
		{"How much in dollars does she make every day at the farmers' market?", "$18 per week", "18 dollars per week"},
		{"How much in dollars does she make every day at the farmers' market?", "18 cents", "18 cents"},
		{"How much in dollars does she make every day at the farmers' market?", "1800¢", "1800¢"},
		{"How much in dollars does she make every day at the farmers' market?", "€18", "18 euros"},
		{"How much does it cost?", "5 cents each year", "5 cents each year"},
		{"What is the value?", "$5", "5"},
		{"What is the value?", "5 dollars each", "5 dollars each"},
		{"What is the value?", "5 extra", "5 extra"},
		{"What is the value?", "5 hundredths", "5 hundredths"},
		{"He has 3 eggs and buys 2. How many does he have?", "5 eggs", "5"},
		{"He has 3 eggs and buys 2. How many does he have?", "5 eggs in total", "5"},
		{"He has 3 eggs and buys 2. How many does he have?", "5 kg", "5 kg"},
		{"A robe takes 2 bolts of fiber. How many bolts does it take?", "3 bolts", "3"},
		{"How many minutes are 3 hours?", "180 minutes", "180"},
		{"How many minutes are 3 hours?", "180 min", "180"},
		{"How many minutes are 3 hours?", "180 hours", "180 hours"},
		{"How many total meters does he run a week?", "540 m", "540"},
		{"How many total meters does he run a week?", "540 meters per week", "540"},
		{"How many total meters does he run a week?", "540 meters per day", "540 meters per day"},
		{"What is its area in square metres?", "5 m²", "5"},
		{"What is its area in square metres?", "5 square metres", "5"},
		{"How many metres long is it?", "5 m²", "5 m^2"},
		{"How fast is it, in miles per hour?", "20 miles per hour", "20"},
		{"How fast is it, in miles per hour?", "20 km/h", "20 km per h"},
		{"What percentage of them is red?", "45%", "45"},
		{"What percentage of them is red?", "45 percent", "45"},
		{"What percent is that?", "45%", "45"},
		{"What is 45 percent of 200?", "90%", "90%"},
		{"What is 45% of 200?", "90%", "90%"},
		{"How many degrees is the angle?", "90°", "90"},
		{"How many more apples does she have?", "5 more apples", "5"},
		{"How many apples does she have?", "5 more apples", "5 more apples"},
		{"How many people live there?", "5 million", "5000000"},
		{"How many people live there?", "5 million people", "5000000"},
		{"How many people live there, in millions?", "5 million", "5000000"},
	} {
		q := &synod.Question{Text: c.question, Form: synod.Number}
		if got, ok := Canonical(q, c.written); string(got) != c.want || !ok {
			t.Errorf("%s %q is %q, want %q", c.question, c.written, string(got), c.want)
		}
		checkIdempotent(t, q, c.written)
	}
}

// An adversary that chooses the spelling changes no class: whatever it writes beside a value
// that is merged is canonical as the bare value, and what is not merged is not printed as it.
func TestSpellingChangesNothing(t *testing.T) {
	questions := []*synod.Question{
		{Text: "How many dollars does it cost?", Form: synod.Number},
		{Text: "How many km is it?", Form: synod.Math},
		{Text: "What is it?", Form: synod.Number},
		{Text: "Is it open?", Form: synod.Bool},
		{Text: "Which?", Form: synod.Choice, Options: abc},
	}
	values := map[synod.Form][]string{synod.Number: {"5", "0.5", "1234"}, synod.Math: {"5", "11/18"},
		synod.Bool: {"yes", "no"}, synod.Choice: {"A", "D"}}
	apart := []string{" each", " except on Sundays", " and B", " million", " all of the above", "%"}
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SampledFrom(questions).Draw(t, "question")
		value := rapid.SampledFrom(values[q.Form]).Draw(t, "value")
		before := rapid.SampledFrom([]string{"", "$", "€", "**", "about ", "not "}).Draw(t, "before")
		after := rapid.SliceOfN(rapid.SampledFrom([]string{"%", " dollars", " km", " each", " million", ":", ",",
			" except on Sundays", " and B", ".", " per year", "°", " or so", "\u202e", " it is",
			" all of the above"}), 0, 3).Draw(t, "after")
		written := before + value
		for _, s := range after {
			written += s
		}
		plain, _ := Canonical(q, value)
		got, ok := Canonical(q, written)
		if !ok {
			return
		}
		again, ok := Canonical(q, string(got))
		if !ok || again != got {
			t.Fatalf("%q is %q, which is %q", written, string(got), string(again))
		}
		for _, s := range after {
			if got == plain && slices.Contains(apart, s) {
				t.Fatalf("%s: %q is the same answer as %q", q.Text, written, value)
			}
		}
	})
}

// What is left of a formula without its spaces is read again, so that canonical answers stay as they are.
func TestCanonicalFormulaStays(t *testing.T) {
	q := &synod.Question{Text: "How many km is it?", Form: synod.Math}
	for _, written := range []string{"5, km", "5 ,km", "5,  km"} {
		if got, ok := Canonical(q, written); !ok || got != "5" {
			t.Errorf("%q is %q, %v; want 5", written, got, ok)
		}
	}
}

// Bare is for graders: it drops what stands beside a value.
func TestBare(t *testing.T) {
	for _, c := range []struct {
		form          synod.Form
		written, want string
	}{
		{synod.Number, "45%", "45"}, {synod.Number, "5 km", "5"}, {synod.Number, "5 cents each year", "5"},
		{synod.Number, "18 dollars per day.", "18"}, {synod.Choice, "A: Paris, in France", "A"},
		{synod.Bool, "Yes, because it opens daily", "true"}, {synod.Bool, "Yes, but no", ""},
	} {
		got, ok := Bare(questionOf(c.form), c.written)
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%q is %q, want %q", c.written, string(got), c.want)
		}
	}
}
