package sac_test

import (
	"testing"

	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/sac"
)

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return sac.New() })
}
