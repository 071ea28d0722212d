package game_test

import (
	"testing"

	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/game"
)

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return game.New() })
}

func TestParameters(t *testing.T) {
	simtest.Parameters(t, func() simtest.Protocol {
		g := game.New()
		g.Low = -1_000_000 // so that high may have its lowest value
		return g
	})
}
