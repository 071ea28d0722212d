package fixedleader

import (
	"fmt"

	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/leader"
)

// campaign returns how campaigns try the protocol.
func campaign() check.Subject {
	s := leader.Campaign(1.5, func(n int) int { return (n - 1) / 2 },
		func(c check.Chance, _, f int) string {
			return fmt.Sprintf("{leaders: %d, rounds: %d, rationale: 0, propose: %s}", f+1, 1+c.IntN(3),
				[]string{"own", "own", "best", "quorum"}[c.IntN(4)])
		},
		func(t *check.Trace) {
			if t.Synchronous() && !t.Lies {
				leader.SameDecisions(t, "LB-1F")
			}
		})
	s.Place = 5
	s.Claims = append([]check.Claim{{ID: "LB-1F", Property: "with members that are silent at worst there are no two " +
		"decisions",
		Model: check.Sync, Source: "DecentLLMs §II (BlockAgents)"}}, s.Claims...)
	return leader.Elected(s, "I-FL-D", func(t *check.Trace) (reference.Election, leader.Params, string) {
		p := t.Protocol.(*FixedLeader)
		return reference.Election{N: t.Case.N, F: t.Case.F, Rounds: p.Leaders * p.Rounds, Turns: p.Rounds}, p.Params,
			"fixed-leader/1"
	}).Saying("I-FL-T", "DecentLLMs §II", tryTerms)
}
