package council

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
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
		rule         Rule
		final, first string
		status       string
		answer       synod.Answer
		reason       string
	}{
		{Rule{Name: Majority}, "a a a a b b b", "", Agreed, "a", "4 of 7 chose a; 4 needed"},
		{Rule{Name: Majority}, "a a a b b c c", "", Undecided, "", "3 of 7 chose a; 4 needed"},
		{Rule{Name: Majority}, "a a b b", "", Undecided, "", "2 of 4 chose a; 3 needed"},
		{Rule{Name: Majority}, "a a a - - - -", "", Degraded, "", "only 3 of 7 seats have an answer"},
		{Rule{Name: Majority}, "a a a a - - -", "", Agreed, "a", ""}, // half of all seats, not of the live ones
		{Rule{Name: Majority}, "a a a b - - -", "", Undecided, "", "3 of 7 chose a; 4 needed"},
		{Rule{Name: Majority}, "- - -", "", Degraded, "", "only 0 of 3"},
		{Rule{Name: Plurality}, "a a b c d", "", Agreed, "a", ""},
		{Rule{Name: Plurality}, "a a b b c", "", Undecided, "", "a tie"},
		{Rule{Name: Plurality}, "a - - - -", "", Degraded, "", "only 1 of 5"},
		{Rule{Name: Supermajority}, "a a a a a b b", "", Agreed, "a", ""},
		{Rule{Name: Supermajority}, "a a a a b b b", "", Undecided, "", "4 of 7 chose a; 5 needed"},
		{Rule{Name: Supermajority}, "a a b", "", Agreed, "a", ""}, // two of three is two thirds
		{Rule{Name: Supermajority}, "a a a a - - -", "", Degraded, "", "needs 5"},
		{Rule{Name: Majority, Support: 2}, "a a a", "a b c", Undecided, "",
			"given independently by 1, and support needs 2"},
		{Rule{Name: Majority, Support: 2}, "a a a", "a a c", Agreed, "a", ""},
		{Rule{Name: Majority, Support: 1}, "a a a", "b b c", Undecided, "", "given independently by 0"},
	} {
		v := c.rule.decide(newBallot(c.final, c.first))
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
		rule := Rule{Name: rapid.SampledFrom([]string{Plurality, Majority, Supermajority}).Draw(t, "rule")}
		v := rule.decide(newBallot(strings.Join(final, " "), ""))
		shuffled := rapid.Permutation(final).Draw(t, "shuffled")
		if w := rule.decide(newBallot(strings.Join(shuffled, " "), "")); w.status != v.status || w.answer != v.answer {
			t.Fatalf("%v decides %q, and %v decides %q", final, v.answer, shuffled, w.answer)
		}
		if v.status != Agreed {
			return
		}
		if w := rule.decide(newBallot(strings.Join(append(final, string(v.answer)), " "), "")); w.answer != v.answer {
			t.Fatalf("%v decides %q, and with one seat more for it %q (%s)", final, v.answer, w.answer, w.reason)
		}
	})
}

func TestRuleIsChecked(t *testing.T) {
	for _, r := range []Rule{{Name: "most"}, {Name: Majority, Support: -1}, {Name: Majority, Support: 8}} {
		if r.Validate(7) == nil {
			t.Errorf("%+v is let through for seven seats", r)
		}
	}
}
