package sac_test

import (
	"testing"

	"synod.dev/synod/protocol/sac"
	"synod.dev/synod/sim/simtest"
)

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return sac.New() })
}
