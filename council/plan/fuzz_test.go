package plan_test

import (
	"testing"

	"synod.dev/synod/council/plan"
)

// FuzzCouncilFile reads council files. A text that is accepted makes a plan, and is accepted as a record of itself.
func FuzzCouncilFile(f *testing.F) {
	f.Add([]byte(dice))
	f.Add([]byte("protocol: {name: sac, rounds: 3}\ngraph: {edges: [[0,1],[1,2]]}\n" + dice + "limits: {calls: 3}\n"))
	f.Add([]byte("protocol: {name: game}\nrule: {name: protocol}\n" + dice))
	f.Add([]byte("protocol: {name: decentllms}\nmodels: {m: {provider: simulated}}\n" +
		"seats: [{id: w, model: m, count: 4, role: worker}, {id: e, model: m, count: 4, role: evaluator}]\n"))
	f.Add([]byte("[[[[[[[["))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		spec, err := plan.Parse(text)
		if err != nil {
			return
		}
		spec.Starts() // must not panic
		p, err := plan.Read(spec)
		if err != nil {
			return
		}
		if _, err := plan.ParseRecord(text); err != nil && spec.Graph["file"] == nil &&
			spec.Breakers.Escalate.Webhook == "" && len(spec.Breakers.Escalate.Command) == 0 {
			t.Errorf("a council file is accepted and a record of it is not: %v", err)
		}
		p.Seats()
	})
}
