package weightedmajority_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod/protocol/weightedmajority"
	"synod.dev/synod/sim/simtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return weightedmajority.New() })
}

func TestInvariants(t *testing.T) {
	simtest.Invariants(t, func(*rapid.T) simtest.Protocol {
		p := weightedmajority.New()

		return p
	})
}
