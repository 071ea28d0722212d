package reference

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"synod.dev/synod"
)

// Group is who broadcasts what to whom: synchronous broadcast with ⊥ and signatures, by Dolev and Strong (1983).
type Group struct {
	Protocol, Name   string
	Members, Senders []synod.NodeID // ascending
	F                int            // at most so many members are Byzantine
	MaxValue         int            // the longest value, in bytes

	digest *[sha256.Size]byte // once it is known
}

// Rounds is F+1, so that some honest party signs in one of them; a sender that F does not count is one more party that
// may be Byzantine.
func (g *Group) Rounds(sender synod.NodeID) int {
	if slices.Contains(g.Members, sender) {
		return g.F + 1
	}
	return g.F + 2
}

// LastRound is the last round of all senders.
func (g *Group) LastRound() (last int) {
	for _, s := range g.Senders {
		last = max(last, g.Rounds(s))
	}
	return last
}

// Digest binds the version of the broadcast, protocol, name, members, senders and F. Before every part stands its
// length in four bytes.
func (g *Group) Digest() [sha256.Size]byte {
	if g.digest != nil {
		return *g.digest
	}
	h := sha256.New()
	number := func(n int) { h.Write(binary.BigEndian.AppendUint32(nil, uint32(n))) }
	for _, s := range []string{"synod/broadcast/1", g.Protocol, g.Name} {
		number(len(s))
		h.Write([]byte(s))
	}
	for _, ids := range [][]synod.NodeID{g.Members, g.Senders, {synod.NodeID(g.F)}} {
		number(len(ids))
		for _, id := range ids {
			number(int(id))
		}
	}
	sum := [sha256.Size]byte(h.Sum(nil))
	g.digest = &sum
	return sum
}

// Statement is what the party at a place of a chain signs, the sender at place 1: the group, the sender, the place and
// the value.
func (g *Group) Statement(sender synod.NodeID, place int, value []byte) []byte {
	group, hash := g.Digest(), sha256.Sum256(value)
	b := append([]byte("synod/broadcast/1"), group[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(sender))
	b = binary.BigEndian.AppendUint32(b, uint32(place))
	return append(b, hash[:]...)
}

// Chain is a value with the signatures of those who passed it on, the sender first.
type Chain struct {
	Sender     synod.NodeID
	Value      []byte
	Signers    []synod.NodeID
	Signatures [][]byte
}

// Parcel is a message of a broadcast as it came to one member.
type Parcel struct {
	Round  int  // in which the member takes it
	Late   bool // the round of its slot was over
	Chains []Chain
}

// ReadChains reads the body of a message: the version 1, the number of chains, and for each the sender, the value after
// its length, the number of signatures, and each signer with its signature after its length. Chains are ascending by
// sender, at most two of each.
func ReadChains(body []byte) (all []Chain, ok bool) {
	r := bytesReader{left: body}
	if r.number(1) != 1 || len(body) > synod.MaxBody {
		return nil, false
	}
	for range r.number(2) {
		c := Chain{Sender: synod.NodeID(int32(r.number(4)))}
		c.Value = r.take(r.number(4))
		for range r.number(2) {
			c.Signers = append(c.Signers, synod.NodeID(int32(r.number(4))))
			n := r.number(2)
			r.bad = r.bad || n > synod.MaxSignature || c.Signers[len(c.Signers)-1] < 0
			c.Signatures = append(c.Signatures, r.take(n))
			if r.bad {
				return nil, false
			}
		}
		n := len(all)
		if r.bad || c.Sender < 0 || n > 0 && all[n-1].Sender > c.Sender || n > 1 && all[n-2].Sender == c.Sender {
			return nil, false
		}
		all = append(all, c)
	}
	if r.bad || len(r.left) > 0 {
		return nil, false // a message counts whole or not at all
	}
	return all, true
}

// bytesReader reads numbers and bytes. After the end it is bad and returns nothing.
type bytesReader struct {
	left []byte
	bad  bool
}

func (r *bytesReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.left) {
		r.bad = true
		return nil
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *bytesReader) number(size int) (n int) {
	for _, b := range r.take(size) {
		n = n<<8 | int(b)
	}
	return n
}

// Delivered is what a member makes of the broadcast of one sender.
type Delivered struct {
	Sender synod.NodeID
	Value  []byte // with Given; else it delivers ⊥
	Given  bool
	Twice  bool // two values were extracted
	Two    bool // two values that the sender signed are known
	Unsafe bool // a valid chain came too late, or was too short when it came

	extracted, late []Chain
}

// Relay is a chain that a member sends on at the beginning of a round, without its own signature.
type Relay struct {
	Round int
	Chain
}

// Broadcast is one member of a broadcast.
type Broadcast struct {
	*Group
	Self        synod.NodeID
	All         []Delivered // ascending by sender
	Relays      []Relay     // in the order in which it extracts them
	LateSigners []synod.NodeID
	verifier    synod.Verifier
}

// NewBroadcast returns a member that begins with its own value; nil: it sends none.
func NewBroadcast(g *Group, self synod.NodeID, mine []byte, v synod.Verifier) *Broadcast {
	b := &Broadcast{Group: g, Self: self, verifier: v}
	for _, s := range g.Senders {
		d := Delivered{Sender: s}
		if s == self && mine != nil {
			d.extracted = []Chain{{Sender: s, Value: mine}}
			b.Relays = append(b.Relays, Relay{1, d.extracted[0]})
		}
		b.All = append(b.All, d)
	}
	b.deliver()
	return b
}

// Take takes a message. A value is extracted by the end of round k if it comes in time with at least k signatures, and
// at most two values of a sender are. A valid chain that comes too late, or is too short, makes the delivery unsafe.
func (b *Broadcast) Take(p Parcel) {
	for _, c := range p.Chains {
		i := slices.Index(b.Senders, c.Sender)
		if i < 0 || len(c.Value) > b.MaxValue {
			continue
		}
		d := &b.All[i]
		if len(d.extracted) == 2 || has(d.extracted, c.Value) || !b.valid(&c) {
			continue
		}
		last := b.Rounds(c.Sender)
		if p.Late || len(c.Signers) < p.Round || p.Round > last {
			b.tooLate(d, &c)
			continue
		}
		d.extracted = append(d.extracted, c)
		if p.Round < last {
			b.Relays = append(b.Relays, Relay{p.Round + 1, c})
		}
	}
	b.deliver()
}

func (b *Broadcast) tooLate(d *Delivered, c *Chain) {
	for _, id := range c.Signers {
		if slices.Contains(b.Members, id) && !slices.Contains(b.LateSigners, id) {
			b.LateSigners = append(b.LateSigners, id)
		}
	}
	if len(d.late) < 2 && !has(d.late, c.Value) {
		d.late = append(d.late, *c)
	}
}

func has(all []Chain, value []byte) bool {
	return slices.ContainsFunc(all, func(c Chain) bool { return bytes.Equal(c.Value, value) })
}

// valid reports whether the sender and then different other members have signed a chain, each at its place.
func (b *Broadcast) valid(c *Chain) bool {
	for k, id := range c.Signers {
		switch {
		case k == 0 && id != c.Sender,
			k > 0 && (!slices.Contains(b.Members, id) || id == b.Self || slices.Contains(c.Signers[:k], id)):
			return false
		}
	}
	for k, id := range c.Signers {
		if !b.verifier.Verify(id, b.Statement(c.Sender, k+1, c.Value), c.Signatures[k]) {
			return false
		}
	}
	return len(c.Signers) > 0
}

// deliver delivers what was extracted if it is one value.
func (b *Broadcast) deliver() {
	for i := range b.All {
		d := &b.All[i]
		if d.Given, d.Value = len(d.extracted) == 1, nil; d.Given {
			d.Value = d.extracted[0].Value
		}
		known := len(d.extracted)
		for _, c := range d.late {
			known += count1(!has(d.extracted, c.Value))
		}
		d.Twice, d.Two, d.Unsafe = len(d.extracted) > 1, known > 1, len(d.late) > 0
	}
}

// Broken reports whether so many members have signed late values that delays are surely longer than a round.
func (b *Broadcast) Broken() bool { return len(b.LateSigners) > b.F }
