package fixedleader

import (
	"testing"

	"synod.dev/synod/internal/simtest"
)

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return New() })
}
