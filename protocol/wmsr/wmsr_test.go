package wmsr_test

import (
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/wmsr"
)

func TestProtocol(t *testing.T) {
	simtest.Check(t, wmsr.New, func(t *rapid.T, p *wmsr.WMSR) {
		p.Rounds, p.Decimals = rapid.IntRange(0, 5).Draw(t, "rounds"), rapid.IntRange(0, 4).Draw(t, "decimals")
	})
}
