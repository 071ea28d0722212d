package rotatingleader

import (
	"testing"

	"synod.dev/synod/internal/simtest"
)

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return New() })
}

func TestParameters(t *testing.T) {
	simtest.Parameters(t, func() simtest.Protocol { return New() })
}
