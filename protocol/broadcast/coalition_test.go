package broadcast

import (
	"crypto/sha256"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
)

// coalition is the shared state of all adversaries of a trial: their own keys, and every
// signature that one of them received.
type coalition struct {
	*trial
	g       *Group
	group   [sha256.Size]byte
	signers []synod.Signer
	known   map[position][]byte
	seen    []chain // as received, in order
	short   bool    // a chain too short for its round was sent
	r       *rand.Rand
	sends   map[synod.NodeID][]synod.Effect
}

// position is a place in a chain, and the member that signs there.
type position struct {
	sender synod.NodeID
	value  string
	place  int
	by     synod.NodeID
}

// adversary is one seat of the coalition. The first of them chooses the messages of all, and
// each of them may send a chain that others signed.
type adversary struct {
	self      synod.NodeID
	peers     []synod.NodeID
	coalition *coalition
}

func (l *adversary) Step(_ synod.Tick, e synod.Event) []synod.Effect {
	c := l.coalition
	switch e := e.(type) {
	case synod.Begin:
		var alarms []synod.Effect
		for k := 1; k <= c.g.rounds()+1; k++ {
			alarms = append(alarms, synod.Alarm{ID: synod.AlarmID(k), At: c.g.end(k-1) + rush})
		}
		return alarms
	case synod.Heard:
		c.learn(e.Message)
	case synod.Expired:
		if c.act != nil && l.self == c.adversaries()[0] {
			clear(c.sends)
			c.act(c, int(e.ID))
		}
		return c.sends[l.self]
	}
	return nil
}

func (c *coalition) learn(m *synod.Message) {
	var p parcel
	if p.UnmarshalBinary(m.Body) != nil {
		return
	}
	for _, chains := range p {
		c.seen = append(c.seen, chains)
		for k, l := range chains.links {
			c.known[position{chains.sender, string(chains.value), k + 1, l.by}] = l.sig
		}
	}
}

// sig returns the signature at a position of a chain; nil if the coalition cannot have it.
func (c *coalition) sig(m position) []byte {
	if c.byzantine[m.by] {
		return c.signers[m.by].Sign(statement(c.group, m.sender, m.place, sha256.Sum256([]byte(m.value))))
	}
	return c.known[m]
}

// longest returns the longest valid chain that the coalition can make: signatures of honest
// members where they signed, and its own at all other positions.
func (c *coalition) longest(sender synod.NodeID, value string) chain {
	out := chain{sender: sender, value: []byte(value)}
	used := map[synod.NodeID]bool{sender: true}
	if s := c.sig(position{sender, value, 1, sender}); s != nil {
		out.links = append(out.links, link{sender, s})
	}
	for place := 2; len(out.links) == place-1; place++ {
		for _, honest := range []bool{true, false} {
			for _, by := range c.g.Members {
				if used[by] || c.byzantine[by] == honest || len(out.links) == place {
					continue
				}
				if s := c.sig(position{sender, value, place, by}); s != nil {
					out.links, used[by] = append(out.links, link{by, s}), true
				}
			}
		}
	}
	return out
}

// send sends chains from one adversary to one receiver as a message of round k.
func (c *coalition) send(from, to synod.NodeID, k int, chains parcel) {
	if len(chains) == 0 {
		return
	}
	slices.SortStableFunc(chains, func(a, b chain) int { return int(a.sender - b.sender) })
	body, err := chains.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	c.sends[from] = append(c.sends[from], synod.Send{To: []synod.NodeID{to},
		Message: &synod.Message{From: from, Slot: synod.Slot{Name: c.g.Name, Round: c.g.slot(k, 0)}, Body: body}})
}

// adversaries returns the seats of the coalition.
func (c *coalition) adversaries() (ids []synod.NodeID) {
	for i, b := range c.byzantine {
		if b && c.faulty[synod.NodeID(i)] == nil {
			ids = append(ids, synod.NodeID(i))
		}
	}
	return ids
}

// honest returns the members that are not Byzantine.
func (c *coalition) honest() (ids []synod.NodeID) {
	for _, id := range c.g.Members {
		if !c.byzantine[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// scripted returns an attack that is encoded in bits: for each round, honest member and one of
// two values, whether the longest chain is sent.
func scripted(bits int) func(c *coalition, k int) {
	return func(c *coalition, k int) {
		sender, speaker := c.g.Senders[0], c.adversaries()[0]
		for h, to := range c.honest() {
			var chains parcel
			for v, value := range []string{"a", "b"} {
				if bits>>(((k-1)*len(c.honest())+h)*2+v)&1 == 0 {
					continue
				}
				if x := c.longest(sender, value); len(x.links) >= k {
					chains = append(chains, x)
				}
			}
			c.send(speaker, to, k, chains)
		}
	}
}

// randomAttack returns a random attack that prefers what is likely to do damage: the longest
// chains, sent to few members, in late rounds, and sometimes an invalid chain.
func randomAttack(seed uint64) func(c *coalition, k int) {
	plan := rand.New(rand.NewPCG(seed, 7))
	quiet, reveal, wrong := plan.Float64(), plan.IntN(5), plan.Float64()*0.3
	return func(c *coalition, k int) {
		for _, from := range c.adversaries() {
			for _, to := range c.honest() {
				if c.r.Float64() < quiet && k != reveal {
					continue
				}
				var chains parcel
				for _, sender := range c.g.Senders {
					for _, v := range c.r.Perm(3)[:c.r.IntN(3)] {
						x := c.longest(sender, c.forgedValue(sender, v))
						if c.r.Float64() < wrong {
							c.damage(&x)
						} else if len(x.links) > k && c.r.IntN(2) == 0 {
							x.links = x.links[:k+c.r.IntN(len(x.links)-k)]
						}
						c.short = c.short || len(x.links) < k
						if len(x.links) > 0 {
							chains = append(chains, x)
						}
					}
				}
				c.send(from, to, k, chains)
			}
		}
	}
}

// forgedValue returns one of three values; value 0 is the one of an honest sender.
func (c *coalition) forgedValue(sender synod.NodeID, v int) string {
	if v == 0 {
		return string(value(sender))
	}
	return string(rune('a' + v))
}

// damage makes a chain invalid: it changes the value, the order, a signature, a signer, the
// length or the sender, or signs for a wrong position.
func (c *coalition) damage(x *chain) {
	c.short = true
	if len(x.links) == 0 {
		return
	}
	at := c.r.IntN(len(x.links))
	l := &x.links[at]
	switch c.r.IntN(8) {
	case 0:
		x.value = append(slices.Clone(x.value), '!')
	case 1:
		slices.Reverse(x.links)
	case 2:
		l.sig = slices.Clone(l.sig)
		l.sig[c.r.IntN(len(l.sig))] ^= 1 << c.r.IntN(8)
	case 3:
		l.by = synod.NodeID(c.r.IntN(c.n + c.outside))
	case 4:
		x.links = append(x.links, x.links[at])
	case 5:
		x.links = x.links[:at]
	case 6:
		x.sender = c.g.Senders[c.r.IntN(len(c.g.Senders))]
	case 7:
		l.sig = c.signers[c.adversaries()[0]].Sign(statement(c.group, x.sender, at+2, sha256.Sum256(x.value)))
	}
}
