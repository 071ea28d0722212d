package broadcast

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
)

// party is one node's side of all broadcasts of a group.
type party struct {
	me          *script.Agent
	g           *Group
	self        synod.NodeID
	signer      synod.Signer
	group       [sha256.Size]byte
	others      []synod.NodeID // members without self
	instances   []instance     // by sender, ascending
	late        bool           // this node was late for a round
	lateSigners []synod.NodeID // members that signed late values, ascending
}

// instance is one sender's broadcast.
type instance struct {
	p         *party
	sender    synod.NodeID
	rounds    int
	extracted []chain // at most two, of different values
	relays    []chain // to be sent at the beginning of the next round
	late      []Late
}

func join(me *script.Agent, g *Group, mine []byte) *party {
	seat := me.Seat()
	p := &party{me: me, g: g, self: seat.Self, signer: seat.Signer, others: without(g.Members, seat.Self)}
	if err := p.check(seat, mine); err != nil {
		panic(err)
	}
	p.group = g.digest()
	p.instances = make([]instance, len(g.Senders))
	for i, s := range g.Senders {
		p.instances[i] = instance{p: p, sender: s, rounds: g.Rounds(s)}
	}
	p.late = mine != nil && me.Now() > g.Start
	return p
}

// check returns an error if this seat cannot take part.
func (p *party) check(seat *synod.Seat, mine []byte) error {
	if err := p.g.Validate(); err != nil {
		return err
	}
	member, sender := p.g.member(p.self), has(p.g.Senders, p.self)
	receivesFrom := p.others
	if member {
		receivesFrom = append(without(p.g.Senders, p.self), p.others...)
	}
	for _, id := range receivesFrom {
		if !has(seat.Peers, id) {
			return fmt.Errorf("broadcast: seat %d is not linked with %d; all members and senders must be linked",
				p.self, id)
		}
	}
	switch {
	case seat.Signer == nil:
		return fmt.Errorf("broadcast: seat %d has no signer", p.self)
	case !member && !sender:
		return fmt.Errorf("broadcast: seat %d is neither a member nor a sender", p.self)
	case mine != nil && !sender:
		return fmt.Errorf("broadcast: seat %d has a value and is not a sender", p.self)
	case len(mine) > p.g.MaxValue:
		return fmt.Errorf("broadcast: a value of %d bytes; the maximum is %d", len(mine), p.g.MaxValue)
	}
	return nil
}

func without(ids []synod.NodeID, id synod.NodeID) []synod.NodeID {
	rest := make([]synod.NodeID, 0, len(ids))
	for _, other := range ids {
		if other != id {
			rest = append(rest, other)
		}
	}
	return rest
}

// sendOwn sends the value of a sender in round 1.
func (p *party) sendOwn(mine []byte) {
	if mine == nil {
		return
	}
	at, _ := slices.BinarySearch(p.g.Senders, p.self)
	i := &p.instances[at]
	c := i.signed(chain{sender: p.self, value: mine})
	i.extracted, i.relays = append(i.extracted, c), append(i.relays, c)
	p.relay(1)
}

// relay sends the chains that are to be relayed at the beginning of round k.
func (p *party) relay(k int) {
	for first := 0; first < len(p.instances); first += p.g.share() {
		var out parcel
		for i := range p.instances[first:min(first+p.g.share(), len(p.instances))] {
			in := &p.instances[first+i]
			out = append(out, in.relays...)
			in.relays = in.relays[:0]
		}
		if len(out) > 0 {
			script.TellTo(p.me, p.others, p.g.Name, p.g.slot(k, p.g.part(first)), out)
		}
	}
}

// collect waits for the end of round k and returns what was sent in it.
func (p *party) collect(k int) (received []script.Heard[parcel]) {
	for part := range p.g.parts() {
		more := script.Collect[parcel](p.me, p.g.Name, p.g.slot(k, part), script.Until{At: p.g.end(k)})
		received = append(received, more...)
	}
	p.late = p.late || p.me.Now() > p.g.end(k)
	return received
}

// overdue takes messages that came after their slot was collected. They do not count, but
// valid chains are kept and mark their broadcast as Unsafe [BB-8].
func (p *party) overdue(k int) {
	for _, m := range script.Late(p.me, p.g.Name) {
		var received parcel
		if received.UnmarshalBinary(m.Body) != nil {
			continue
		}
		for _, c := range received {
			p.take(k, m.From, c, true)
		}
	}
}

// take handles a chain that a member receives in round k: it extracts the value of a valid
// chain that is long enough, keeps a valid one that is not, and drops a chain that is
// invalid or has no new value.
func (p *party) take(k int, from synod.NodeID, c chain, late bool) {
	at, known := slices.BinarySearch(p.g.Senders, c.sender)
	if !known || len(c.value) > p.g.MaxValue {
		return
	}
	i := &p.instances[at]
	if len(i.extracted) == 2 || i.holds(c.value) || !i.valid(&c) {
		return
	}
	if late || len(c.links) < k || k > i.rounds {
		i.keep(k, from, &c)
		return
	}
	i.extracted = append(i.extracted, c)
	if k < i.rounds {
		i.relays = append(i.relays, i.signed(c))
	}
}

func (i *instance) holds(value []byte) bool {
	return slices.ContainsFunc(i.extracted, func(c chain) bool { return bytes.Equal(c.value, value) })
}

// valid reports whether a chain is signed by the sender and then by distinct members, each
// at its position. None of them is this node, which signs only what it holds.
func (i *instance) valid(c *chain) bool {
	if len(c.links) == 0 || c.links[0].by != i.sender {
		return false
	}
	for k, l := range c.links[1:] {
		repeated := slices.ContainsFunc(c.links[:k+1], func(before link) bool { return before.by == l.by })
		if repeated || l.by == i.p.self || !i.p.g.member(l.by) {
			return false
		}
	}
	value := sha256.Sum256(c.value)
	for k, l := range c.links {
		if !i.p.signer.Verify(l.by, statement(i.p.group, i.sender, k+1, value), l.sig) {
			return false
		}
	}
	return true
}

// signed returns the chain with this node's signature added.
func (i *instance) signed(c chain) chain {
	sig := i.p.signer.Sign(statement(i.p.group, i.sender, len(c.links)+1, sha256.Sum256(c.value)))
	c.links = append(slices.Clip(c.links), link{i.p.self, sig})
	return c
}

// keep records a chain that came too late for its length, and the members that signed it.
func (i *instance) keep(k int, from synod.NodeID, c *chain) {
	for _, l := range c.links {
		if at, known := slices.BinarySearch(i.p.lateSigners, l.by); !known && i.p.g.member(l.by) {
			i.p.lateSigners = slices.Insert(i.p.lateSigners, at, l.by)
		}
	}
	signed := i.bySender(c)
	if len(i.late) == 2 || slices.ContainsFunc(i.late,
		func(l Late) bool { return bytes.Equal(l.Signed.Value, c.value) }) {
		return
	}
	signers := make([]synod.NodeID, len(c.links))
	for k, l := range c.links {
		signers[k] = l.by
	}
	i.late = append(i.late, Late{From: from, Round: k, Signers: signers, Signed: signed})
}

func (i *instance) bySender(c *chain) Signed {
	return Signed{Group: i.p.group, Sender: i.sender, Value: c.value, Signature: c.links[0].sig}
}

// delivery returns the one value that was extracted, or ⊥.
func (i *instance) delivery() Delivery {
	d := Delivery{Sender: i.sender, Late: i.late, Unsafe: i.p.late || len(i.late) > 0,
		Equivocated: len(i.extracted) == 2}
	var values []Signed
	for _, c := range i.extracted {
		values = append(values, i.bySender(&c))
	}
	if len(values) == 1 {
		d.Signed = &values[0]
	}
	for _, l := range i.late {
		if !i.holds(l.Signed.Value) {
			values = append(values, l.Signed)
		}
	}
	if len(values) > 1 {
		a, b := values[0], values[1]
		d.Evidence = &Evidence{a.Group, a.Sender, [2][]byte{a.Value, b.Value}, [2][]byte{a.Signature, b.Signature}}
	}
	return d
}
