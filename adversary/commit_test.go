package adversary_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
)

// copied is a council of a1 to a4, x and y, of which y is an adversary.
func copied(protocol, adversary, commit string) string {
	return fmt.Sprintf(`protocol: %s
graph: {family: complete}
f: 1
models: {m: {provider: simulated, ability: 0.5, wrong: 20}}
seats:
  - {id: a, model: m, count: 4}
  - {id: x, model: m}
  - {id: y, model: m, adversary: %s}
defences: {commit: %s}
`, protocol, adversary, commit)
}

// Finding 10: a copy counts towards the support of an answer where members tell their first answers at once, and not
// where they commit to them: of a member that waits, and of one that breaks the rules of commitments. Then it earns no
// trust either, and honest first answers count.
func TestCopiesAreNoSupport(t *testing.T) {
	for _, protocol := range []string{
		"{name: cascade, stop: certain}", "{name: weighted-majority}", "{name: debate, rounds: 1}",
		"{name: sac, rounds: 1}", "{name: cp-wbft}", "{name: w-msr, rounds: 3}",
	} {
		counted := copies(t, copied(protocol, "{name: copier, copies: a1}", "off"))
		if counted == 0 {
			t.Errorf("%s: no copy counts without commitments", protocol)
		}
		for _, a := range []string{"{name: copier, copies: a1}", "{name: commitment-breaker, how: late}",
			"{name: commitment-breaker, how: split}", "{name: commitment-breaker, how: replay}",
			"{name: commitment-breaker, how: twice}", "{name: commitment-breaker, how: other}",
			"{name: commitment-breaker, how: withhold}", "{name: commitment-breaker, how: early}"} {
			if n := copies(t, copied(protocol, a, "on")); n > 0 {
				t.Errorf("%s, %s: y's answer counts in %d questions", protocol, a, n)
			}
		}
	}
}

// copies returns the number of questions in which an answer of y counts that y's own model did not give. It fails if
// the answer of an honest member does not count.
func copies(t *testing.T, file string) (n int) {
	t.Helper()
	own := map[string]synod.Answer{}
	honest := regexp.MustCompile(`, adversary: {.*}}`).ReplaceAllString(file, "}")
	play(t, honest, 60, func(o *outcome.Outcome, q *synod.Question, _ synod.Answer) { own[q.ID] = first(o, "y") })
	play(t, file, 60, func(o *outcome.Outcome, q *synod.Question, _ synod.Answer) {
		for _, m := range o.Members {
			switch noted := first(o, m.ID); {
			case m.ID == "y" && slices.Index(o.Asked, "y") > 1: // cascade asked it when others had answered
			case m.ID == "y" && m.First != nil && *m.First != own[q.ID]:
				n++
			case m.ID != "y" && noted != synod.None && (m.First == nil || m.Uncommitted):
				t.Errorf("seed %d: %s gave %s first, and it does not count", o.Seed, m.ID, noted)
			}
		}
	})
	return n
}

// first returns the answer that a member noted in round 0.
func first(o *outcome.Outcome, id string) synod.Answer {
	for _, m := range o.Rounds.All()[0].Members {
		if m.ID == id && m.Answer != nil {
			return *m.Answer
		}
	}
	return synod.None
}
