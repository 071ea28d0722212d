package debate_test

import (
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/debate"
)

func TestProtocol(t *testing.T) {
	simtest.Check(t, debate.New, func(t *rapid.T, p *debate.Debate) {
		p.Rounds = rapid.IntRange(0, 4).Draw(t, "rounds")
		p.Rationale = rapid.SampledFrom([]int{0, 20}).Draw(t, "rationale")
		if rapid.Bool().Draw(t, "exact") {
			p.Paper()
		}
	})
}
