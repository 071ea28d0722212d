package council_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/protocol/sac"
)

// ballot reads "a a b -": final answers, a dash for none; first answers are the
// same unless given.
func ballot(final, first string) council.Ballot {
	read := func(s string) (out []synod.Answer) {
		for _, w := range strings.Fields(s) {
			if w == "-" {
				w = ""
			}
			out = append(out, synod.Answer(w))
		}
		return out
	}
	b := council.Ballot{Final: read(final), First: read(final)}
	if first != "" {
		b.First = read(first)
	}
	for i := range b.Final {
		b.Seats = append(b.Seats, fmt.Sprint("s", i))
	}
	return b
}

func TestRule(t *testing.T) {
	for _, c := range []struct {
		rule         council.Rule
		final, first string
		status       string
		answer       synod.Answer
		reason       string
	}{
		{council.Rule{Name: council.Majority}, "a a a a b b b", "", council.Agreed, "a", "4 of 7 seats"},
		{council.Rule{Name: council.Majority}, "a a a b b c c", "", council.Undecided, "", "no answer has 4 of 7"},
		{council.Rule{Name: council.Majority}, "a a b b", "", council.Undecided, "", "no answer has 3 of 4"},
		{council.Rule{Name: council.Majority}, "a a a - - - -", "", council.Degraded, "", "only 3 of 7 seats have an answer"},
		{council.Rule{Name: council.Majority}, "a a a a - - -", "", council.Agreed, "a", ""}, // half of all seats, not of the live ones
		{council.Rule{Name: council.Majority}, "a a a b - - -", "", council.Undecided, "", "no answer has 4 of 7"},
		{council.Rule{Name: council.Majority}, "- - -", "", council.Degraded, "", "only 0 of 3"},
		{council.Rule{Name: council.Plurality}, "a a b c d", "", council.Agreed, "a", ""},
		{council.Rule{Name: council.Plurality}, "a a b b c", "", council.Undecided, "", "a tie"},
		{council.Rule{Name: council.Plurality}, "a - - - -", "", council.Degraded, "", "only 1 of 5"},
		{council.Rule{Name: council.Supermajority}, "a a a a a b b", "", council.Agreed, "a", ""},
		{council.Rule{Name: council.Supermajority}, "a a a a b b b", "", council.Undecided, "", "no answer has 5 of 7"},
		{council.Rule{Name: council.Supermajority}, "a a b", "", council.Agreed, "a", ""}, // two of three is two thirds
		{council.Rule{Name: council.Supermajority}, "a a a a - - -", "", council.Degraded, "", "takes 5"},
		{council.Rule{Name: council.Majority, Support: 2}, "a a a", "a b c", council.Undecided, "", "given independently by 1, and support takes 2"},
		{council.Rule{Name: council.Majority, Support: 2}, "a a a", "a a c", council.Agreed, "a", ""},
		{council.Rule{Name: council.Majority, Support: 1}, "a a a", "b b c", council.Undecided, "", "given independently by 0"},
	} {
		v := c.rule.Decide(ballot(c.final, c.first))
		if v.Status != c.status || v.Answer != c.answer || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%v of %q (first %q): %s %s, %q", c.rule, c.final, c.first, v.Status, v.Answer, v.Reason)
		}
	}
}

// The rule counts seats and nothing else: any order of the same seats decides
// alike, one seat more for the decided answer never undoes it, and two answers
// are never both decided.
func TestRuleProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		final := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "-"}), 1, 9).Draw(t, "final")
		rule := council.Rule{Name: rapid.SampledFrom([]string{council.Plurality, council.Majority, council.Supermajority}).Draw(t, "rule")}
		v := rule.Decide(ballot(strings.Join(final, " "), ""))
		shuffled := rapid.Permutation(final).Draw(t, "shuffled")
		if w := rule.Decide(ballot(strings.Join(shuffled, " "), "")); w.Status != v.Status || w.Answer != v.Answer {
			t.Fatalf("%v decides %q, and %v decides %q", final, v.Answer, shuffled, w.Answer)
		}
		if v.Status != council.Agreed {
			return
		}
		if w := rule.Decide(ballot(strings.Join(append(final, string(v.Answer)), " "), "")); w.Answer != v.Answer {
			t.Fatalf("%v decides %q, and with one seat more for it %q (%s)", final, v.Answer, w.Answer, w.Reason)
		}
	})
}

func TestRuleIsChecked(t *testing.T) {
	for _, r := range []council.Rule{{Name: "most"}, {Name: council.Majority, Support: -1}, {Name: council.Majority, Support: 8}} {
		if r.Validate(7) == nil {
			t.Errorf("%+v is let through for seven seats", r)
		}
	}
}

// I-SAC-0: before a run r is known, and F ≤ r-1 or the run is labelled.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		graph string
		n, f  int
		r     int
		want  string
	}{
		{"{family: complete}", 7, 3, 4, sac.Weak},
		{"{family: complete}", 7, 1, 4, sac.Strong},
		{"{family: merg}", 7, 3, 4, sac.Weak},
		{"{family: merg}", 8, 3, 4, sac.Weak},
		{"{family: merg}", 7, 4, 4, council.None},
		{"{family: ring}", 7, 0, 1, sac.Strong},
		{"{family: ring}", 7, 1, 1, council.None},
		{"{family: star}", 12, 1, 1, council.None},
		{"{edges: [[0,1],[1,2],[0,2]]}", 3, 1, 2, sac.Weak},
	} {
		b := convene(t, fmt.Sprintf("graph: %s\nf: %d\nmodels: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: %d}]\n", c.graph, c.f, c.n)).Bound()
		if b.R != c.r || !b.Exact || b.Guarantee != c.want {
			t.Errorf("%s n=%d F=%d: r=%d (exact %v), %s; want r=%d, %s", c.graph, c.n, c.f, b.R, b.Exact, b.Guarantee, c.r, c.want)
		}
		if c.want == council.None && !strings.Contains(b.Note, fmt.Sprintf("good for F=%d at most", max(0, c.r-1))) {
			t.Errorf("the largest F must be said: %q", b.Note)
		}
	}
}
