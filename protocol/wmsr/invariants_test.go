package wmsr_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod/protocol/wmsr"
	"synod.dev/synod/sim/simtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return wmsr.New() })
}

func TestInvariants(t *testing.T) {
	simtest.Invariants(t, func(t *rapid.T) simtest.Protocol {
		p := wmsr.New()
		p.Rounds = rapid.IntRange(0, 5).Draw(t, "rounds")
		p.Decimals = rapid.IntRange(0, 4).Draw(t, "decimals")
		return p
	})
}
