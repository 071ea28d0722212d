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
		claims: claimsOf(forge.Exclusive, forge.OneAnswer),
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
