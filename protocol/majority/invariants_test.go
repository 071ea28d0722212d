package majority_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod/protocol/majority"
	"synod.dev/synod/sim/simtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return majority.New() })
}

func TestInvariants(t *testing.T) {
	simtest.Invariants(t, func(*rapid.T) simtest.Protocol {
		p := majority.New()

		return p
	})
}
