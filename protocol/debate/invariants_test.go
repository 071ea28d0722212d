package debate_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod/protocol/debate"
	"synod.dev/synod/sim/simtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return debate.New() })
}

func TestInvariants(t *testing.T) {
	simtest.Invariants(t, func(t *rapid.T) simtest.Protocol {
		p := debate.New()
		p.Rounds = rapid.IntRange(0, 4).Draw(t, "rounds")
		p.Rationale = rapid.SampledFrom([]int{0, 20}).Draw(t, "rationale")
		if rapid.Bool().Draw(t, "exact") {
			p.Paper()
		}
		return p
	})
}
