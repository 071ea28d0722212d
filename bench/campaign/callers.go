package campaign

import (
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/forge"
	"synod.dev/synod/protocol/check"
)

// shareRealCallers is the share of executions with hostile callers that have real keys. They take six times as long.
const shareRealCallers = 0.01

// callersSubject has executions with hostile callers. They have no machines and no faults of the catalogue: package
// forge plays the signing of certificates, with callers that choose every field.
func callersSubject() *subject {
	return &subject{
		Subject: check.Subject{Name: callersName, Share: 1, States: forge.Situations()}, bare: true, disk: playCallers,
		claims: []Claim{
			{ID: forge.Exclusive, Property: "whatever callers, up to F voters and all members without a vote write, " +
				"no " +
				"two valid certificates of a run differ where one says that there is no second, and none is valid " +
				"that " +
				"too few voters, or a member without a vote, signed, or that shows another vote of an honest member " +
				"than " +
				"it gave",
				Model: Async, Source: "an attack on nodes: two valid certificates of one run contradicted each other"},
			{ID: forge.OneAnswer, Property: "a member that is not Byzantine signs at most one answer of a run, and " +
				"only " +
				"one that it ended on, whatever it is asked, killed, or moved to another roster",
				Model: Crash, Source: "own (as CE-5)"},
		},
		setup: func(c chance, x *Execution) {
			x.N, x.Operations = 1+c.IntN(9), 4+c.IntN(9)
			x.RealKeys = c.Float64() < shareRealCallers
		},
		horizon: func(x *Execution) synod.Tick { return synod.Tick(x.Operations) },
	}
}

// playCallers plays an execution with hostile callers.
func playCallers(t *trace) {
	a, err := forge.NewArena(rand.New(rand.NewPCG(t.x.Seed, 0xca11)), t.x.N, !t.x.RealKeys)
	if err != nil {
		panic(err)
	}
	for range t.x.Operations {
		if err := a.Step(); err != nil {
			panic(err)
		}
	}
	a.Judge()
	for _, what := range a.Met {
		t.State(what, true)
	}
	for _, id := range []string{forge.Exclusive, forge.OneAnswer} {
		how, violated := a.Wrong[id]
		applies := id == forge.Exclusive && slices.Contains(a.Met, forge.Certified) ||
			id == forge.OneAnswer && a.Signed > 0
		if applies || violated {
			t.Claim(id, !violated, "%s", how)
		}
	}
}
