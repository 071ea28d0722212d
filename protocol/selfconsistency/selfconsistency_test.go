package selfconsistency_test

import (
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/selfconsistency"
)

func TestProtocol(t *testing.T) {
	simtest.Check(t, selfconsistency.New, func(t *rapid.T, p *selfconsistency.SelfConsistency) {
		p.Samples = rapid.IntRange(1, 6).Draw(t, "samples")
		if rapid.Bool().Draw(t, "sac") {
			p.Budget, p.Rounds = selfconsistency.SAC, rapid.IntRange(0, 3).Draw(t, "rounds")
		}
	})
}
