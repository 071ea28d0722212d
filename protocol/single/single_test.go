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

// Only the member that answers has a vote.
func TestVotes(t *testing.T) {
	p := single.New()
	p.Member = 2
	for seat := range synod.NodeID(4) {
		if p.Votes(seat, nil) != (seat == 2) {
			t.Errorf("seat %d votes: %v", seat, p.Votes(seat, nil))
		}
	}
}
