package leader

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/wire"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/broadcast"
)

// The phases of a vote. With one phase there is Commit only.
const (
	Prepare = 1
	Commit  = 2
)

// Certificate is the votes of a quorum for an answer in one phase of one round.
type Certificate struct {
	Phase  int
	Round  int
	Answer synod.Answer // canonical
	Votes  []Vote       // ascending by member
}

// Vote is a member's signature of VoteBytes.
type Vote struct {
	By        synod.NodeID
	Signature string // bytes; a string, so that a vote can be a key
}

// VoteGroup returns the digest that all votes of members with one protocol, its parameters
// and one f are bound to.
func VoteGroup(protocol string, members []synod.NodeID, f int) [sha256.Size]byte {
	g := broadcast.Group{Protocol: protocol, Name: "votes", Members: members, Senders: members, F: f}
	return g.Digest()
}

const domain = "synod/leader/1"

// VoteBytes returns what a member signs to vote. All parts have a fixed length.
func VoteBytes(group [sha256.Size]byte, phase, round int, a synod.Answer) []byte {
	b := make([]byte, 0, 128)
	b = append(append(b, domain...), group[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(phase))
	b = binary.BigEndian.AppendUint32(b, uint32(round))
	sum := sha256.Sum256([]byte(a))
	return append(b, sum[:]...)
}

// Verify reports whether a quorum has signed: members, ascending, each once.
func (c *Certificate) Verify(v synod.Verifier, group [sha256.Size]byte, enough func([]synod.NodeID) bool) bool {
	data := VoteBytes(group, c.Phase, c.Round, c.Answer)
	for i, x := range c.Votes {
		if i > 0 && x.By <= c.Votes[i-1].By || !v.Verify(x.By, data, []byte(x.Signature)) {
			return false
		}
	}
	return c.Answer != synod.None && enough(c.Signers())
}

// Signers returns the members that voted, ascending.
func (c *Certificate) Signers() []synod.NodeID {
	ids := make([]synod.NodeID, len(c.Votes))
	for i, x := range c.Votes {
		ids[i] = x.By
	}
	return ids
}

// append writes a certificate, or a 0 for nil.
func (c *Certificate) append(b []byte) []byte {
	if c == nil {
		return append(b, 0)
	}
	b = append(b, byte(c.Phase))
	b = binary.BigEndian.AppendUint32(b, uint32(c.Round))
	b = wire.AppendBytes(b, c.Answer)
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.Votes)))
	for _, v := range c.Votes {
		b = wire.AppendBytes(binary.BigEndian.AppendUint32(b, uint32(v.By)), v.Signature)
	}
	return b
}

// certificate reads a certificate; nil if there is none.
func (r reader) certificate() *Certificate {
	c := &Certificate{Phase: int(r.Uint(1))}
	if c.Phase == 0 {
		return nil
	}
	c.Round, c.Answer = int(r.Uint(4)), synod.Answer(r.Bytes(synod.MaxBody))
	n := r.Uint(2)
	if r.Require(c.Phase <= Commit && n <= MaxMembers); r.Bad() {
		return nil
	}
	c.Votes = make([]Vote, n)
	for i := range c.Votes {
		by := r.Uint(4)
		r.Require(by < MaxMembers)
		c.Votes[i] = Vote{synod.NodeID(by), string(r.Bytes(synod.MaxSignature))}
	}
	return c
}

// Verify checks the record of an opinion: the signatures of its Certificate, and the
// Evidence against each of the opinion's Suspects.
func (r *Rules) Verify(in protocol.VerifyInput) (*protocol.Verified, error) {
	record, err := synod.RecordOf[Record](in.Opinion)
	if record == nil {
		return nil, err
	}
	if len(record.Evidence) != len(in.Opinion.Suspects) {
		return nil, fmt.Errorf("leader: %s suspects %d members and has evidence against %d", in.Name(in.Self),
			len(in.Opinion.Suspects), len(record.Evidence))
	}
	var v protocol.Verified
	for i, by := range in.Opinion.Suspects {
		var e broadcast.Evidence
		if e.UnmarshalBinary(record.Evidence[i]) != nil || e.Sender != by || !e.Verify(in.Check) {
			return nil, fmt.Errorf("leader: %s has no valid evidence against %s", in.Name(in.Self), in.Name(by))
		}
		v.Claims = append(v.Claims, fmt.Sprintf("%s signed two proposals of one round", in.Name(by)))
	}
	if c := record.Certificate; c != nil {
		if !r.Proves(c, in.Opinion.Answer, in.N, in.F, in.Check) {
			return nil, fmt.Errorf("leader: the certificate of %s does not prove that a quorum voted for %s",
				in.Name(in.Self), in.Opinion.Answer)
		}
		v.Claims = append(v.Claims, fmt.Sprintf("%d of %d members signed votes for %s, which the leader of round %d, "+
			"%s, proposed", len(c.Signers), in.N, in.Opinion.Answer, c.Round, in.Name(c.Leader)))
		v.NotProved = append(v.NotProved,
			"that the answer is right, or the best that a member had",
			fmt.Sprintf("that no other answer was decided: that needs the bound F=%d on Byzantine members", in.F))
	}
	return &v, nil
}

// Proves reports whether a certificate proves that a quorum of n members voted for an
// answer in the last phase.
func (r *Rules) Proves(c *SignedDecision, a synod.Answer, n, f int, v synod.Verifier) bool {
	members := make([]synod.NodeID, n)
	for i := range members {
		members[i] = synod.NodeID(i)
	}
	if c == nil || len(c.Signers) != len(c.Signatures) {
		return false
	}
	x := Certificate{Phase: Commit, Round: c.Round, Answer: a}
	for i, by := range c.Signers {
		if int(by) < 0 || int(by) >= n {
			return false
		}
		x.Votes = append(x.Votes, Vote{by, string(c.Signatures[i])})
	}
	return c.Round >= 1 && c.Round <= r.Rounds && members[(c.Round-1)/r.Turns%n] == c.Leader &&
		x.Verify(v, VoteGroup(r.Protocol, members, f), r.Enough)
}
