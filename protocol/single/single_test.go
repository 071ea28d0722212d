package single_test

import (
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/single"
)

func TestProtocol(t *testing.T) {
	simtest.Check(t, single.New, func(t *rapid.T, p *single.Single) {
		p.Member = synod.NodeID(rapid.IntRange(0, 2).Draw(t, "member"))
	})
}
