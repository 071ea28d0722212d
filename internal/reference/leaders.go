package reference

import (
	"fmt"

	"synod.dev/synod"
)

// Election is what makes votes for a leader's proposal a decision.
type Election struct {
	N, F      int
	TwoThirds bool  // more than (n+F)/2 members with more than two thirds of the weight; else more than half
	Weights   []int // by member; nil: all weigh 1
	Rounds    int   // at most
	Turns     int   // rounds of one leader, one after another

	votes *Group // what votes are bound to, once it is known
}

// SignedVotes is a certificate of a decision.
type SignedVotes struct {
	Protocol   string // what votes are bound to, with its parameters
	Round      int
	Leader     synod.NodeID
	Answer     synod.Answer
	Signers    []synod.NodeID
	Signatures [][]byte
}

// Check returns why a certificate proves no decision; nil if it proves one: different members, enough of them, have
// signed for this answer in the phase that commits, and the round is that of the leader.
func (e *Election) Check(c *SignedVotes, v synod.Verifier) error {
	if c.Round < 1 || c.Round > e.Rounds || c.Leader != e.Leader(c.Round) {
		return fmt.Errorf("n%d does not lead round %d of %d", c.Leader, c.Round, e.Rounds)
	}
	if c.Answer == synod.None || len(c.Signers) != len(c.Signatures) {
		return fmt.Errorf("%d signatures by %d members for %q", len(c.Signatures), len(c.Signers), c.Answer)
	}
	statement := e.VoteStatement(c.Protocol, Commit, c.Round, c.Answer)
	voted := map[synod.NodeID]bool{}
	for i, id := range c.Signers {
		if id < 0 || int(id) >= e.N || !v.Verify(id, statement, c.Signatures[i]) {
			return fmt.Errorf("n%d has not signed to commit to %q in round %d", id, c.Answer, c.Round)
		}
		voted[id] = true
	}
	if !e.enough(voted) {
		return fmt.Errorf("%d different members are too few of %d with F=%d", len(voted), e.N, e.F)
	}
	return nil
}

// Enough reports whether members are a quorum.
func (e *Election) Enough(ids []synod.NodeID) bool {
	voted := map[synod.NodeID]bool{}
	for _, id := range ids {
		voted[id] = true
	}
	return e.enough(voted)
}

// enough reports whether members are a quorum.
func (e *Election) enough(voted map[synod.NodeID]bool) bool {
	if !e.TwoThirds {
		return 2*len(voted) > e.N
	}
	weight, all := 0, 0
	for i := range e.N {
		w := 1
		if e.Weights != nil {
			w = e.Weights[i]
		}
		all += w
		if voted[synod.NodeID(i)] {
			weight += w
		}
	}
	return 2*len(voted) > e.N+e.F && 3*weight > 2*all
}
