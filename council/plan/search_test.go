package plan_test

import (
	"context"
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

const searchFile = `
graph: {family: random, p: 0.6, seed: %d}
f: 1
models: {d: {provider: simulated, ability: %v}}
seats: [{id: a, model: d, count: 9}]
limits: {calls: 0, tokens: 0, deadline: 0s}
`

func parse(t *testing.T, text string) plan.Spec {
	t.Helper()
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// The robustness search runs once per graph: not again for the next question, the next
// council of the same spec, or an estimate, whose council has other models.
func TestSearchRunsOnce(t *testing.T) {
	before := plan.Searches()
	spec := parse(t, fmt.Sprintf(searchFile, 4711, 0.9))
	for range 2 {
		c, err := council.Convene(spec, llm.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			if _, err := c.Decide(context.Background(),
				council.Ask{Question: synod.Question{Text: "What is 17 + 25?", Form: synod.Number},
					Seed: seed}); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
	}
	estimate, err := plan.New(parse(t, fmt.Sprintf(searchFile, 4711, 0.5)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	if estimate == again || estimate.Bound() != again.Bound() {
		t.Errorf("bounds %+v and %+v", estimate.Bound(), again.Bound())
	}
	if n := plan.Searches() - before; n != 1 {
		t.Errorf("the robustness of one graph was searched %d times", n)
	}
	if other, err := plan.New(parse(t, fmt.Sprintf(searchFile, 4712, 0.9))); err != nil ||
		other.Bound() == (plan.Bound{}) ||
		plan.Searches()-before != 2 {
		t.Errorf("another graph needs a search of its own: %v, %d searches", err, plan.Searches()-before)
	}
}
