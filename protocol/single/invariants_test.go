package single_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod/protocol/single"
	"synod.dev/synod/sim/simtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return single.New() })
}

func TestInvariants(t *testing.T) {
	simtest.Invariants(t, func(*rapid.T) simtest.Protocol {
		p := single.New()
		p.Member = 1
		return p
	})
}
