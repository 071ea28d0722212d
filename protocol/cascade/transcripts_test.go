package cascade_test

import (
	"testing"

	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/cascade"
)

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return cascade.New() })
}
