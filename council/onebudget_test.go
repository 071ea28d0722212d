package council_test

import (
	"fmt"
	"testing"

	"synod.dev/synod/council"
	"synod.dev/synod/internal/llmtest"
)

// One budget counts every request of a question that may cost something: first answers, retries, second chances, and
// the members that a cascade asks for an audit alone. The check of models before it sends none that does. So the
// requests that arrive are those of the outcome, and never more than the limit, whatever it is.
func TestOneBudget(t *testing.T) {
	for _, protocol := range []string{"{name: cascade, audit: 1}", "{name: majority}", "{name: sac, rounds: 2}"} {
		least := map[bool]int{}
		for _, limit := range []int{1, 2, 3, 5, 8, 24} {
			s := llmtest.Start(t, hesitant, llmtest.With(llmtest.Every(3, llmtest.Status(500))))
			c := convene(t, panelOf(s.URL, protocol, "late42", "42", "42"), "f=0", "reread=once",
				fmt.Sprint("limits.calls=", limit))
			c.Preflight(t.Context())
			paid := s.Count() // it does not count requests for lists of models
			o := decide(t, c, council.Ask{})
			if s.Count() != o.Calls.Made || s.Count() > limit || paid > 0 {
				t.Errorf("%s, limit %d: %d requests, %d before the question, %d in the outcome", protocol, limit,
					s.Count(), paid, o.Calls.Made)
			}
			least[o.Answer != nil] = s.Count()
		}
		if least[true] <= 3 || least[false] == 0 {
			t.Errorf("%s: the limits cut nothing off, or nothing was asked twice: %v", protocol, least)
		}
	}
}
