package council

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/grade"
)

// sized is a council of so many models behind a stub, with more text of its file. Model m0 writes the best text.
func sized(t *testing.T, n int, grades bool, more string, options ...llmtest.Option) plan.Spec {
	t.Helper()
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if grades && strings.Contains(string(c.Schema)+c.System, grade.Criteria()[0]) {
			if strings.Contains(c.User, "by m0.") {
				return grade.Uniform(19).Text()
			}
			return grade.Uniform(5).Text()
		}
		return "A sentence by " + c.Model + "."
	}, options...)
	file := more + "models:\n"
	seats := "seats:\n"
	for i := range n {
		file += fmt.Sprintf("  m%d: {provider: openai, url: %q, model: m%d, attempts: 1}\n", i, s.URL, i)
		seats += fmt.Sprintf("  - {id: s%d, model: m%d}\n", i, i)
	}
	spec, err := plan.Parse([]byte(file + seats))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// From one member on a question that is guessed to want prose is decided at the default F, whatever protocol the file
// names for answers that are counted, by at most two calls that wait for one another. What is claimed is what holds
// with so many members.
func TestProseAtEverySize(t *testing.T) {
	for _, x := range []struct {
		n, f  int
		more  string
		calls int
		claim string
	}{{1, 0, "", 1, plan.None}, {2, 0, "", 4, plan.None}, {3, 0, "", 9, plan.None}, {4, 1, "", 16, "best-of"},
		{7, 1, "", 49, "best-of"},
		{7, 2, "f: 3\nprotocol: {name: majority}\n", 49, "best-of"}, {5, 1, "protocol: {name: sac}\n", 25, "best-of"},
		{3, 0, "f: 1\nrule: {name: supermajority, support: 2}\n", 9, plan.None}} {
		for _, grades := range []bool{true, false} {
			spec, ok := new(plan.Spec), false
			base := sized(t, x.n, grades, x.more)
			if *spec, ok = base.ForProse(strings.Contains(x.more, "protocol")); !ok {
				t.Fatalf("%+v: no prose", x)
			}
			c, err := Convene(*spec, llm.Env{})
			if err != nil {
				t.Fatal(err)
			}
			q := synod.Question{Text: "Explain tides.", Form: synod.Prose}
			o, err := c.Decide(context.Background(), Ask{Question: q, Seed: 1})
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			claim, calls := x.claim, x.calls
			if !grades { // each member is asked for every mark a second time
				claim, calls = plan.None, 2*x.calls
			}
			if err != nil || !o.Answered() || grades && o.Decision != "A sentence by m0." || o.Bound.F != x.f ||
				o.Calls.Made > calls || o.Bound.Guarantee != claim || len(o.Rounds.All()) > 2 {
				t.Errorf("%+v, grades %v: %v, %s %q, F %d, %d calls, claim %s (%s)", x, grades, err, o.Status,
					o.Decision, o.Bound.F, o.Calls.Made, o.Bound.Guarantee, o.Bound.Note)
			}
		}
	}
}

// One dead member of three does not keep the others from an answer, and two do not keep the last.
func TestProseWithDeadMembers(t *testing.T) {
	for dead := range 4 {
		file := "models:\n"
		live := sized(t, 3, true, "")
		for i := range 3 {
			url := live.Models[fmt.Sprint("m", i)]["url"]
			if i >= 3-dead {
				url = "http://127.0.0.1:1"
			}
			file += fmt.Sprintf("  m%d: {provider: openai, url: %q, model: m%d, attempts: 1}\n", i, url, i)
		}
		spec, err := plan.Parse([]byte(file + "seats: [{id: a, model: m0}, {id: b, model: m1}, {id: c, model: m2}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		spec, ok := spec.ForProse(false)
		c, err := Convene(spec, llm.Env{})
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		o, err := c.Decide(context.Background(), Ask{Question: synod.Question{Text: "Explain.", Form: synod.Prose}})
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if want := dead < 3; err != nil || o.Answered() != want || want && o.Decision != "A sentence by m0." {
			t.Errorf("%d dead: %v %s %q: %s", dead, err, o.Status, o.Decision, o.Reason)
		}
	}
}

// A form that was guessed changes no word of the question: members are asked for their answer and for the value, which
// is counted, and the outcome has the text of a member that gave it.
func TestGuessedForm(t *testing.T) {
	const text = "How many legs has a spider?"
	answers := map[string]string{"m0": "A spider has **eight** legs.\n\nAnswer: 8",
		"m1": "Eight, as all arachnids.\nAnswer: 8", "m2": "Six!\nAnswer: 6"}
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if c.Scoring() || !strings.HasPrefix(c.User, text+"\n") || len(c.Schema) > 0 {
			return llmtest.Fixed("8", 0.9)(c)
		}
		return answers[c.Model]
	})
	file := "protocol: {name: majority}\nmodels:\n"
	for i := range 3 {
		file += fmt.Sprintf("  m%d: {provider: openai, url: %q, model: m%d}\n", i, s.URL, i)
	}
	spec, err := plan.Parse([]byte(file + "seats: [{id: a, model: m0}, {id: b, model: m1}, {id: c, model: m2}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q, err := ReadQuestion(text, "")
	if err != nil || !q.Guessed {
		t.Fatalf("%+v %v", q, err)
	}
	by := map[string]string{}
	for seed := range uint64(4) {
		o, err := c.Decide(context.Background(), Ask{Question: q, Seed: seed})
		if err != nil || o.Decision != "8" || o.Words == nil {
			t.Fatalf("%v %s %s %+v", err, o.Status, o.Reason, o.Words)
		}
		by[o.Words.Member] = o.Words.Text
	}
	if len(by) != 2 || by["a"] != "A spider has **eight** legs." || by["b"] != "Eight, as all arachnids." {
		t.Errorf("%q", by)
	}
	for model, value := range map[string]string{"m0": "8", "m1": "7"} { // all three differ: the guess may be wrong
		answers[model] = "A spider has some legs.\nAnswer: " + value
	}
	o, err := c.Decide(context.Background(), Ask{Question: q})
	if err != nil || o.Status != outcome.Undecided || o.Answer != nil || o.Words == nil {
		t.Errorf("without agreement: %v %s %v %+v", err, o.Status, o.Answer, o.Words)
	}
	q.Guessed = false // the control: somebody has named the form
	if o, err := c.Decide(context.Background(), Ask{Question: q}); err != nil || o.Words != nil {
		t.Errorf("%v %+v", err, o.Words)
	}
}
