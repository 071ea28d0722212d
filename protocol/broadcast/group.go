package broadcast

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
)

// Group says who broadcasts what to whom, and when. All honest parties of a broadcast have
// equal Groups. A Name is used once in an instance of a protocol: a sender of two values
// under one Name has equivocated.
type Group struct {
	Protocol string         // the protocol that the broadcast is part of, and its version: "decentllms/1"
	Name     string         // what is broadcast: "answers"
	Members  []synod.NodeID // the parties that relay and deliver, ascending
	Senders  []synod.NodeID // the parties that broadcast, ascending, members or not
	F        int            // at most so many Members are Byzantine, 0 ≤ F < len(Members)
	Start    synod.Tick     // when round 1 begins
	Within   synod.Tick     // the length of a round, ≥ 2: what is sent at its beginning arrives before its end
	MaxValue int            // the longest value, in bytes; longer ones are never delivered
}

// Rounds returns the number of rounds of a sender's broadcast: one more than the number of
// its parties that may be Byzantine. A sender outside the group is one that F does not count
// (finding F11).
func (g *Group) Rounds(sender synod.NodeID) int {
	if g.member(sender) {
		return g.F + 1
	}
	return g.F + 2
}

// rounds returns the number of rounds of the longest broadcast.
func (g *Group) rounds() (most int) {
	for _, s := range g.Senders {
		most = max(most, g.Rounds(s))
	}
	return most
}

// End returns the tick at which members deliver.
func (g *Group) End() synod.Tick { return g.end(g.rounds()) }

// end returns the tick at which round k ≥ 1 ends.
func (g *Group) end(k int) synod.Tick { return g.Start + synod.Tick(k)*g.Within }

func (g *Group) member(id synod.NodeID) bool { return has(g.Members, id) }

func has(ascending []synod.NodeID, id synod.NodeID) bool {
	_, found := slices.BinarySearch(ascending, id)
	return found
}

// maxParts bounds the number of messages of a party in a round.
const maxParts = 32

// Validate returns an error if the group is inconsistent or would not fit into messages.
func (g *Group) Validate() error {
	switch {
	case g.Protocol == "" || g.Name == "":
		return errors.New("broadcast: a group needs the name of its protocol and its own")
	case !ascend(g.Members) || !ascend(g.Senders):
		return errors.New("broadcast: members and senders must each be one or more, ascending")
	case g.F < 0 || g.F >= len(g.Members):
		return fmt.Errorf("broadcast: f is %d; with %d members it must be between 0 and %d", g.F, len(g.Members),
			len(g.Members)-1)
	case g.Start < 0 || g.Within < 2:
		return fmt.Errorf("broadcast: a round of %d ticks from tick %d; it must have at least 2, and start at 0 or "+
			"later", g.Within, g.Start)
	case g.MaxValue < 1 || g.share() < 1:
		return fmt.Errorf("broadcast: values of %d bytes; they must have between 1 and %d", g.MaxValue,
			synod.MaxBody/2-g.overhead())
	case g.parts() > maxParts:
		return fmt.Errorf("broadcast: %d senders of %d bytes each need %d messages a round; the maximum is %d: make "+
			"the values shorter", len(g.Senders), g.MaxValue, g.parts(), maxParts)
	}
	return nil
}

func ascend(ids []synod.NodeID) bool {
	for i, id := range ids {
		if id < 0 || i > 0 && id <= ids[i-1] {
			return false
		}
	}
	return len(ids) > 0
}

// overhead returns the largest size of a chain without its value, and of a parcel's header.
func (g *Group) overhead() int {
	return parcelHeader + chainHeader + (len(g.Members)+1)*(linkHeader+synod.MaxSignature)
}

// share returns how many senders' chains fit into one message, two chains of each.
func (g *Group) share() int { return synod.MaxBody / (2 * (g.MaxValue + g.overhead())) }

// parts returns how many messages a round may need.
func (g *Group) parts() int { return (len(g.Senders) + g.share() - 1) / g.share() }

// part returns which message of a round contains a sender's chains. sender is an index of
// Senders.
func (g *Group) part(sender int) int { return sender / g.share() }

// slot returns the slot number of a part of round k.
func (g *Group) slot(k, part int) int { return (k-1)*g.parts() + part }

const domain = "synod/broadcast/1"

// digest binds protocol, version, name and committee [BB-7]. Every part follows its length.
func (g *Group) digest() [sha256.Size]byte {
	b := make([]byte, 0, 128)
	for _, s := range []string{domain, g.Protocol, g.Name} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	for _, ids := range [][]synod.NodeID{g.Members, g.Senders, {synod.NodeID(g.F)}} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(ids)))
		for _, id := range ids {
			b = binary.BigEndian.AppendUint32(b, uint32(id))
		}
	}
	return sha256.Sum256(b)
}
