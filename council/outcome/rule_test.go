package outcome

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
)

// ballot reads "a a b -": final answers, a dash for none; first answers are the
// same unless given.
func newBallot(final, first string) ballot {
	read := func(s string) (out []synod.Answer) {
		for _, w := range strings.Fields(s) {
			if w == "-" {
				w = ""
			}
			out = append(out, synod.Answer(w))
		}
		return out
	}
	b := ballot{final: read(final), first: read(final)}
	if first != "" {
		b.first = read(first)
	}
	for i := range b.final {
		b.seats = append(b.seats, fmt.Sprint("s", i))
	}
	return b
}

func TestRule(t *testing.T) {
	for _, c := range []struct {
		rule         plan.Rule
		final, first string
		status       string
		answer       synod.Answer
		reason       string
	}{
		{plan.Rule{Name: plan.Majority}, "a a a a b b b", "", Agreed, "a", "4 of 7 chose a; 4 needed"},
		{plan.Rule{Name: plan.Majority}, "a a a b b c c", "", Undecided, "", "3 of 7 chose a; 4 needed"},
		{plan.Rule{Name: plan.Majority}, "a a b b", "", Undecided, "", "2 of 4 chose a; 3 needed"},
		{plan.Rule{Name: plan.Majority}, "a a a - - - -", "", Degraded, "", "only 3 of 7 seats have an answer"},
		// half of all seats, not of the live ones
		{plan.Rule{Name: plan.Majority}, "a a a a - - -", "", Agreed, "a", ""},
		{plan.Rule{Name: plan.Majority}, "a a a b - - -", "", Undecided, "", "3 of 7 chose a; 4 needed"},
		{plan.Rule{Name: plan.Majority}, "- - -", "", Degraded, "", "only 0 of 3"},
		{plan.Rule{Name: plan.Plurality}, "a a b c d", "", Agreed, "a", ""},
		{plan.Rule{Name: plan.Plurality}, "a a b b c", "", Undecided, "", "a tie"},
		{plan.Rule{Name: plan.Plurality}, "a - - - -", "", Degraded, "", "only 1 of 5"},
		{plan.Rule{Name: plan.Supermajority}, "a a a a a b b", "", Agreed, "a", ""},
		{plan.Rule{Name: plan.Supermajority}, "a a a a b b b", "", Undecided, "", "4 of 7 chose a; 5 needed"},
		{plan.Rule{Name: plan.Supermajority}, "a a b", "", Agreed, "a", ""}, // two of three is two thirds
		{plan.Rule{Name: plan.Supermajority}, "a a a a - - -", "", Degraded, "", "needs 5"},
		{plan.Rule{Name: plan.Majority, Support: 2}, "a a a", "a b c", Undecided, "",
			"given independently by 1, and support needs 2"},
		{plan.Rule{Name: plan.Majority, Support: 2}, "a a a", "a a c", Agreed, "a", ""},
		{plan.Rule{Name: plan.Majority, Support: 1}, "a a a", "b b c", Undecided, "", "given independently by 0"},
	} {
		v := decide(c.rule, newBallot(c.final, c.first))
		if v.status != c.status || v.answer != c.answer || !strings.Contains(v.reason, c.reason) {
			t.Errorf("%v of %q (first %q): %s %s, %q", c.rule, c.final, c.first, v.status, v.answer, v.reason)
		}
	}
}

// The rule counts seats and nothing else: any order of the same seats decides
// alike, one seat more for the decided answer never undoes it, and two answers
// are never both decided.
func TestRuleProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		final := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "-"}), 1, 9).Draw(t, "final")
		rule := plan.Rule{Name: rapid.SampledFrom([]string{plan.Plurality, plan.Majority, plan.Supermajority}).Draw(t,
			"rule")}
		v := decide(rule, newBallot(strings.Join(final, " "), ""))
		shuffled := rapid.Permutation(final).Draw(t, "shuffled")
		if w := decide(rule, newBallot(strings.Join(shuffled, " "), "")); w.status != v.status || w.answer != v.answer {
			t.Fatalf("%v decides %q, and %v decides %q", final, v.answer, shuffled, w.answer)
		}
		if v.status != Agreed {
			return
		}
		if w := decide(rule, newBallot(strings.Join(append(final, string(v.answer)), " "), "")); w.answer != v.answer {
			t.Fatalf("%v decides %q, and with one seat more for it %q (%s)", final, v.answer, w.answer, w.reason)
		}
	})
}

func TestRuleIsChecked(t *testing.T) {
	for _, r := range []plan.Rule{{Name: "most"}, {Name: plan.Majority, Support: -1}, {Name: plan.Majority,
		Support: 8}} {
		if r.Validate(7) == nil {
			t.Errorf("%+v is let through for seven seats", r)
		}
	}
}
