package rotatingleader

import (
	"fmt"
	"strings"

	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/leader"
)

// agreement is the protocol's own claim.
var agreement = check.Claim{ID: "I-LB-1", Property: "with f < n/3 there are no two decisions, however long messages " +
	"take", Model: check.Async, Source: "DecentLLMs §II; HotStuff"}

// campaigns are how campaigns try the protocol: in random executions, and in all schedules of Twins.
func campaigns() []check.Subject {
	one := leader.Campaign(2.25, func(n int) int { return (n - 1) / 3 },
		func(c check.Chance, n, f int) string {
			return fmt.Sprintf("{views: %d, rationale: 0, propose: %s%s}", f+2+c.IntN(3), []string{"own", "best",
				"quorum"}[c.IntN(3)], weights(c, n, f))
		},
		func(t *check.Trace) {
			if !t.Above {
				leader.SameDecisions(t, agreement.ID)
			}
		})
	one.Place = 4
	one.Claims = append([]check.Claim{agreement}, one.Claims...)
	return []check.Subject{elected(one).Saying("I-RL-T", "DecentLLMs §II", tryTerms), elected(twins())}
}

// weights are those of some executions. Three seats of five can have more than two thirds of the weight, and are no
// quorum.
func weights(c check.Chance, n, f int) string {
	if c.IntN(3) > 0 {
		return ""
	}
	w := make([]int, n)
	for i := range w {
		w[i] = []int{1, 2, 3, 6, 6}[c.IntN(5)]
	}
	if 3*heaviest(w, f) >= heaviest(w, n) { // any f seats must weigh less than a third
		return ""
	}
	return fmt.Sprintf(", weights: %s", strings.ReplaceAll(fmt.Sprint(w), " ", ", "))
}

// elected adds the claim about the decision.
func elected(s check.Subject) check.Subject {
	return leader.Elected(s, "I-RL-D", func(t *check.Trace) (reference.Election, leader.Params, string) {
		p := t.Protocol.(*RotatingLeader)
		return reference.Election{N: t.Case.N, F: t.Case.F, TwoThirds: true, Weights: p.Weights, Rounds: p.Views,
			Turns: 1}, p.Params, fmt.Sprintf("rotating-leader/1 %v", p.Weights)
	})
}

// twins is the subject of Twins.
func twins() check.Subject {
	s := leader.Campaign(1, nil, nil, func(t *check.Trace) { leader.SameDecisions(t, agreement.ID) })
	s.Name, s.Place, s.Twins, s.Relies = "twins", 11, true, nil
	s.Claims = append([]check.Claim{agreement}, s.Claims...)
	s.Never = []string{check.Replay, check.FailedCalls}
	s.States = []string{"decided", "undecided", "later than the first view"}
	s.Setup = func(_ check.Chance, x *check.Case) {
		x.Params = fmt.Sprintf("{views: %d, rationale: 0, propose: own}", check.TwinViews)
	}
	return s
}
