package game_test

import (
	"testing"

	"synod.dev/synod/protocol/game"
	"synod.dev/synod/sim/simtest"
)

func TestTranscripts(t *testing.T) {
	simtest.Transcripts(t, func() simtest.Protocol { return game.New() })
}
