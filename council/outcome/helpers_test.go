package outcome

import (
	"cmp"
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

func parsed(t *testing.T, text string) plan.Spec {
	t.Helper()
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// smallest is a council file of a protocol with simulated members.
func smallest(t *testing.T, e protocol.Entry) plan.Spec {
	t.Helper()
	text := fmt.Sprintf("protocol: {name: %s}\nf: 1\nmodels: {d: {provider: simulated, ability: 0.8}}\nseats:\n",
		e.Name)
	if p, ok := e.New().(protocol.Casting); ok {
		for _, role := range p.Roles() {
			text += fmt.Sprintf("  - {id: %s, model: d, count: 4, role: %s}\n", role, role)
		}
	} else {
		text += "  - {id: a, model: d, count: 5}\n"
	}
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v\n%s", e.Name, err, text)
	}
	return spec
}

// suited returns a question of a form that a protocol decides.
func suited(e protocol.Entry) synod.Question {
	return synod.Question{ID: "q", Text: "What is 17 + 25?", Form: cmp.Or(e.Default, synod.Number)}
}
