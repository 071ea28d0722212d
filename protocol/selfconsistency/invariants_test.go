package selfconsistency_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod/protocol/selfconsistency"
	"synod.dev/synod/sim/simtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return selfconsistency.New() })
}

func TestInvariants(t *testing.T) {
	simtest.Invariants(t, func(t *rapid.T) simtest.Protocol {
		p := selfconsistency.New()
		p.Samples = rapid.IntRange(1, 6).Draw(t, "samples")
		if rapid.Bool().Draw(t, "sac") {
			p.Budget, p.Rounds = selfconsistency.SAC, rapid.IntRange(0, 3).Draw(t, "rounds")
		}
		return p
	})
}
