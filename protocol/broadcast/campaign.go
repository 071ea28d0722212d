package broadcast

import (
	"bytes"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// Framed checks that evidence stands, and that it is against Byzantine members only.
func Framed(t *check.Trace, claim string, id synod.NodeID, proofs [][]byte) {
	t.Applies(claim)
	for _, b := range proofs {
		var e Evidence
		ok := e.UnmarshalBinary(b) == nil && e.Verify(t.Verifier)
		t.Claim(claim, ok, "the evidence of n%d does not stand", id)
		t.Claim(claim, !ok || !t.Honest(e.Sender), "honest n%d is accused by n%d", e.Sender, id)
	}
	t.State("evidence", len(proofs) > 0)
}

// Again plays a member's side of a broadcast again by the reference, from what the member was sent until all its
// messages of the last round were there, and what it then had heard when a later tick came; 0: there is none. mine is
// its own value. It is not ok if the member's diary does not tell, and fails the claim if a round does not end when
// it must.
func Again(t *check.Trace, claim string, g *Group, self synod.NodeID, mine []byte,
	later synod.Tick) (b *reference.Broadcast,
	ok bool) {
	r := &reference.Group{Protocol: g.Protocol, Name: g.Name, Members: g.Members, Senders: g.Senders, F: g.F,
		MaxValue: g.MaxValue}
	if t.Diaries == nil || t.Flooded(int(self)) {
		return nil, false
	}
	b, taken := reference.NewBroadcast(r, self, mine, t.Verifier), 0
	for k := 1; k <= r.LastRound(); k++ {
		m, ok := t.At(int(self), g.Start+synod.Tick(k)*g.Within)
		if !ok {
			t.Fail(claim, "round %d of %s does not end at tick %d for n%d", k, g.Name,
				g.Start+synod.Tick(k)*g.Within, self)
			return nil, false
		}
		for part := range g.parts() {
			for _, m := range t.First(int(self), synod.Slot{Name: g.Name, Round: g.slot(k, part)}, m.Heard) {
				b.Take(parcelOf(m, k, false))
			}
		}
		taken = takeLate(t, b, g, k, taken, m.Heard)
	}
	if later > 0 {
		m, ok := t.At(int(self), later)
		if !ok {
			return nil, false
		}
		takeLate(t, b, g, r.LastRound()+1, taken, m.Heard)
	}
	return b, true
}

func parcelOf(m *synod.Message, round int, late bool) reference.Parcel {
	chains, _ := reference.ReadChains(m.Body)
	return reference.Parcel{Round: round, Late: late, Chains: chains}
}

// takeLate gives the reference the messages that came after the end of their round, of those that came between two
// others, and returns the number of the last one.
func takeLate(t *check.Trace, b *reference.Broadcast, g *Group, round, from, to int) int {
	peers := t.Peers[b.Self]
	for k, m := range t.Diaries[b.Self].Heard[from:to] {
		of := m.Slot.Round/g.parts() + 1
		if m.Slot.Name != g.Name || m.Slot.Round < 0 || of > g.rounds() || !has(peers, m.From) {
			continue
		}
		if end, ok := t.At(int(b.Self), g.end(of)); ok && from+k >= end.Heard {
			b.Take(parcelOf(m.Message, round, true))
		}
	}
	return to
}

// Delivers compares what a member delivers with the reference.
func Delivers(t *check.Trace, claim string, b *reference.Broadcast, all []Delivery) {
	t.Claim(claim, len(all) == len(b.All), "n%d has %d deliveries of %d senders", b.Self, len(all), len(b.All))
	for i := range min(len(all), len(b.All)) {
		d, want := &all[i], &b.All[i]
		given := d.Signed != nil
		same := given == want.Given && (!given || bytes.Equal(d.Signed.Value, want.Value)) &&
			(d.Evidence != nil) == want.Two && d.Unsafe == want.Unsafe && d.Equivocated == want.Twice
		t.Claim(claim, same, "n%d delivers of n%d: %+v; the reference: %+v", b.Self, d.Sender, d, want)
		if given {
			t.Claim(claim, t.Verifier.Verify(d.Sender, b.Statement(d.Sender, 1, d.Signed.Value), d.Signed.Signature),
				"n%d delivers a value that n%d has not signed", b.Self, d.Sender)
		}
	}
}

// Relays compares what a member passes on with the reference: each chain that it extracts, with its own signature at
// the end, at the beginning of the next round, to all other members.
func Relays(t *check.Trace, claim string, g *Group, b *reference.Broadcast) {
	others := without(g.Members, b.Self)
	for k := 1; k <= b.LastRound(); k++ {
		var want []reference.Relay
		for _, r := range b.Relays {
			if r.Round == k {
				want = append(want, r)
			}
		}
		slices.SortStableFunc(want, func(a, b reference.Relay) int { return int(a.Sender - b.Sender) })
		var got []reference.Chain
		for part := range g.parts() {
			s := t.SentIn(int(b.Self), synod.Slot{Name: g.Name, Round: g.slot(k, part)})
			if s == nil {
				continue
			}
			chains, ok := reference.ReadChains(s.Body)
			t.Claim(claim, ok && slices.Equal(s.To, others), "n%d sends %v to %v in round %d", b.Self, chains, s.To, k)
			got = append(got, chains...)
		}
		t.Claim(claim, slices.EqualFunc(got, want, func(c reference.Chain, r reference.Relay) bool {
			return passesOn(t, b, &c, &r.Chain)
		}), "n%d passes on %v in round %d, and the reference %v", b.Self, got, k, want)
	}
}

// passesOn reports whether a chain is another one with one more signature.
func passesOn(t *check.Trace, b *reference.Broadcast, c, r *reference.Chain) bool {
	n := len(r.Signers)
	return c.Sender == r.Sender && bytes.Equal(c.Value, r.Value) && len(c.Signers) == n+1 &&
		slices.Equal(c.Signers[:n], r.Signers) && c.Signers[n] == b.Self &&
		slices.EqualFunc(c.Signatures[:n], r.Signatures, bytes.Equal) &&
		t.Verifier.Verify(b.Self, b.Statement(c.Sender, n+1, c.Value), c.Signatures[n])
}

// Said returns the value that a member sent as its own in the first round of a broadcast; nil: none.
func Said(t *check.Trace, g *Group, self synod.NodeID) []byte {
	for part := range g.parts() {
		if s := t.SentIn(int(self), synod.Slot{Name: g.Name, Round: part}); s != nil {
			chains, _ := reference.ReadChains(s.Body)
			for _, c := range chains {
				if c.Sender == self && len(c.Signers) == 1 {
					return c.Value
				}
			}
		}
	}
	return nil
}

// TryGroup checks which groups are accepted: those with ascending parties, a bound that leaves an honest member, and
// values whose chains fit into the messages of a round. It encodes the largest messages.
func TryGroup(t *check.Tried) {
	g := Group{Protocol: "trial/1", Name: "values", F: t.Rand.IntN(4) - 1, Start: synod.Tick(t.Rand.IntN(3) - 1),
		Within: synod.Tick(1 + t.Rand.IntN(3)), MaxValue: check.Among(t, 0, 1, 64, 1000, 4000, 1<<14, 1<<15, 1<<16)}
	for i := range t.Rand.IntN(check.Among(t, 5, 131)) {
		g.Members = append(g.Members, synod.NodeID(2*i))
	}
	for i := range t.Rand.IntN(check.Among(t, 5, 131)) {
		g.Senders = append(g.Senders, synod.NodeID(3*i))
	}
	ordered := len(g.Members) > 0 && len(g.Senders) > 0
	if ids := check.Among(t, g.Members, g.Senders); ordered && t.Rand.IntN(6) == 0 {
		ids[t.Rand.IntN(len(ids))] = synod.NodeID(check.Among(t, -1, 3))
		ordered = slices.IsSorted(ids) && ids[0] >= 0 && len(slices.Compact(slices.Clone(ids))) == len(ids)
	}
	size := func(senders int) int { // of a message with the chains of so many senders
		var p parcel
		for range 2 * senders {
			c := chain{value: make([]byte, g.MaxValue)}
			for range len(g.Members) + 1 {
				c.links = append(c.links, link{sig: make([]byte, synod.MaxSignature)})
			}
			p = append(p, c)
		}
		b, _ := p.AppendBinary(nil) // never fails
		return len(b)
	}
	most := g.share()
	t.Check(size(most) <= synod.MaxBody, "chains of %d senders are said to fit, and have %d bytes", most, size(most))
	t.Check(size(most+1)+2*parcelHeader*(most+1) > synod.MaxBody, "chains of %d senders have only %d bytes", most+1,
		size(most+1))
	messages := 0
	for left := len(g.Senders); most > 0 && left > 0; left -= most {
		messages++
	}
	fits := ordered && 0 <= g.F && g.F < len(g.Members) && g.Start >= 0 && g.Within > 1 && g.MaxValue > 0 &&
		most > 0 && messages <= maxParts
	err := g.Validate()
	t.Check((err == nil) == fits, "%d members, %d senders, f = %d, from %d with rounds of %d, values of %d bytes, "+
		"%d messages, in order %v: %v", len(g.Members), len(g.Senders), g.F, g.Start, g.Within, g.MaxValue, messages,
		ordered, err)
}
