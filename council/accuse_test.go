package council_test

import (
	"testing"

	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// An equivocating member is accused in every protocol that signs, and no other member ever is
// (BB-5). Evidence in a record that does not verify accuses nobody.
func TestAccusations(t *testing.T) {
	found := map[string]int{}
	for _, c := range []struct{ name, protocol, honest, bad string }{
		{"decentllms", "{name: decentllms}", "role: worker", "role: worker"},
		{"rotating-leader", "{name: rotating-leader}", "", ""},
		{"fixed-leader", "{name: fixed-leader}", "", ""},
		{"game", "{name: game, end: agreed-end}", "", ""},
	} {
		seats := "  - {id: x, model: dice, adversary: {name: equivocator}}\n  - {id: m, model: dice, count: 6}\n"
		if c.honest != "" {
			seats = "  - {id: x, model: dice, role: worker, adversary: {name: equivocator}}\n" +
				"  - {id: w, model: dice, role: worker, count: 3}\n  - {id: e, model: dice, role: evaluator, count: " +
				"4}\n"
		}
		spec, err := plan.Parse([]byte("council: c\nprotocol: " + c.protocol +
			"\nf: 1\nmodels:\n  dice: {provider: " +
			"simulated, ability: 0.9}\nseats:\n" + seats))
		if err != nil {
			t.Fatal(c.name, err)
		}
		members, err := council.Convene(spec, llm.Env{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		for seed := range uint64(20) {
			o, err := members.Decide(t.Context(), council.Ask{Question: sum, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range o.Evidence {
				if a.ID != "x" {
					t.Errorf("%s, seed %d: evidence against %s, which is honest", c.name, seed, a.ID)
				}
				found[c.name]++
			}
		}
		if err := members.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"decentllms", "rotating-leader", "fixed-leader", "game"} {
		if found[name] == 0 {
			t.Errorf("%s: the equivocator was never found", name)
		}
	}
}
