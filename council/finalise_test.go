package council

import (
	"cmp"
	"context"
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// hijack is a runner whose machines decide whatever a model might want the group to.
type hijack struct{}

func (hijack) Play(ctx context.Context, p *plan.Plan, run Run, models Models) (Played, error) {
	played, err := SimRunner{}.Play(ctx, p, run, models)
	for i := range played.Records {
		a := synod.Answer("666")
		played.Records[i].Decided = &a
	}
	return played, err
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

// GR-3: the last step is always code. Under every protocol there is, the decision
// is what the rule, or the protocol's own last step, makes of the members' final
// answers; the decision that a machine reports changes nothing.
func TestFinalisationIsCode(t *testing.T) {
	decided := 0
	for _, e := range catalog.Protocols.All() {
		q := suited(e)
		rules := []string{plan.Plurality, plan.Majority, plan.Supermajority}
		_, concludes := e.New().(protocol.Concluding)
		if _, replies := e.New().(protocol.Accepting); concludes || replies {
			rules = append(rules, plan.ByProtocol)
		}
		if _, staged := e.New().(protocol.Staged); staged {
			rules = []string{plan.ByProtocol}
		}
		for _, rule := range rules {
			for seed := range uint64(5) {
				spec := smallest(t, e)
				spec.Rule.Name = rule
				honest, hijacked := finish(t, spec, q, seed, false), finish(t, spec, q, seed, true)
				if honest.Status != hijacked.Status ||
					fmt.Sprint(text(honest.Answer)) != fmt.Sprint(text(hijacked.Answer)) {
					t.Errorf("%s, rule %s, seed %d: %s %v, and %s %v where every machine says 666", e.Name, rule, seed,
						honest.Status, text(honest.Answer), hijacked.Status, text(hijacked.Answer))
				}
				if honest.Answer != nil {
					decided++
				}
			}
		}
	}
	if decided == 0 {
		t.Error("nothing was ever decided: this test shows nothing")
	}
}

func text(a *synod.Answer) synod.Answer {
	if a == nil {
		return synod.None
	}
	return *a
}

// finish puts the question and checks the decision against the votes as they are
// counted from the members' final answers, by a count written apart.
func finish(t *testing.T, spec plan.Spec, q synod.Question, seed uint64, hijacked bool) outcome.Outcome {
	t.Helper()
	c, err := Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if hijacked {
		c.runner = hijack{}
	}
	o, err := c.Decide(context.Background(), Ask{Question: q, Seed: seed + 1})
	if err != nil {
		t.Fatal(err)
	}
	if o.Answer == nil || spec.Rule.Name == plan.ByProtocol {
		return o
	}
	votes, seats := map[synod.Answer]int{}, 0
	for i, m := range o.Members {
		if !c.plan.Seats()[i].NonVoting {
			seats++
			if m.Final != nil {
				votes[*m.Final]++
			}
		}
	}
	n := votes[*o.Answer]
	for a, k := range votes {
		if a != *o.Answer && k >= n {
			t.Errorf("%s: %s was decided with %d votes, and %s has %d", o.Protocol, *o.Answer, n, a, k)
		}
	}
	if spec.Rule.Name == plan.Majority && 2*n <= seats || spec.Rule.Name == plan.Supermajority && 3*n < 2*seats {
		t.Errorf("%s: %s was decided by %s with %d of %d", o.Protocol, *o.Answer, spec.Rule.Name, n, seats)
	}
	return o
}
