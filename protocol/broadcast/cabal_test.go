package broadcast

import (
	"crypto/sha256"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
)

// cabal is what all liars of a trial know and do together: they hold their own
// keys, and every signature that any of them has heard.
type cabal struct {
	*trial
	g       *Group
	group   [sha256.Size]byte
	signers []synod.Signer
	known   map[mark][]byte
	seen    []chain // as heard, in order
	short   bool    // a chain too short for its round was sent
	r       *rand.Rand
	speak   map[synod.NodeID][]synod.Effect
}

// mark is one place in a chain.
type mark struct {
	sender synod.NodeID
	value  string
	place  int
	by     synod.NodeID
}

// liar is one seat of the cabal. The first of them decides what all will say; any
// of them may bring a chain that others signed.
type liar struct {
	self  synod.NodeID
	peers []synod.NodeID
	cabal *cabal
}

func (l *liar) Step(_ synod.Tick, e synod.Event) []synod.Effect {
	c := l.cabal
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
		if c.act != nil && l.self == c.liars()[0] {
			clear(c.speak)
			c.act(c, int(e.ID))
		}
		return c.speak[l.self]
	}
	return nil
}

func (c *cabal) learn(m *synod.Message) {
	var p parcel
	if p.UnmarshalBinary(m.Body) != nil {
		return
	}
	for _, said := range p {
		c.seen = append(c.seen, said)
		for k, l := range said.links {
			c.known[mark{said.sender, string(said.value), k + 1, l.by}] = l.sig
		}
	}
}

// sig is by's signature for a place of a chain, nil if the cabal cannot have it.
func (c *cabal) sig(m mark) []byte {
	if c.byzantine[m.by] {
		return c.signers[m.by].Sign(statement(c.group, m.sender, m.place, sha256.Sum256([]byte(m.value))))
	}
	return c.known[m]
}

// longest is as long a valid chain as the cabal can make: the signatures of the
// honest at the places where they signed, its own at all others.
func (c *cabal) longest(sender synod.NodeID, value string) chain {
	out := chain{sender: sender, value: []byte(value)}
	used := map[synod.NodeID]bool{sender: true}
	if s := c.sig(mark{sender, value, 1, sender}); s != nil {
		out.links = append(out.links, link{sender, s})
	}
	for place := 2; len(out.links) == place-1; place++ {
		for _, honest := range []bool{true, false} {
			for _, by := range c.g.Members {
				if used[by] || c.byzantine[by] == honest || len(out.links) == place {
					continue
				}
				if s := c.sig(mark{sender, value, place, by}); s != nil {
					out.links, used[by] = append(out.links, link{by, s}), true
				}
			}
		}
	}
	return out
}

// tell sends chains from one liar to one receiver as a word of round k.
func (c *cabal) tell(from, to synod.NodeID, k int, said parcel) {
	if len(said) == 0 {
		return
	}
	slices.SortStableFunc(said, func(a, b chain) int { return int(a.sender - b.sender) })
	body, err := said.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	c.speak[from] = append(c.speak[from], synod.Send{To: []synod.NodeID{to}, Message: &synod.Message{From: from, Slot: synod.Slot{Name: c.g.Name, Round: c.g.slot(k, 0)}, Body: body}})
}

// liars are the seats of the cabal, honest the members that are none.
func (c *cabal) liars() (ids []synod.NodeID) {
	for i, b := range c.byzantine {
		if b && c.faulty[synod.NodeID(i)] == nil {
			ids = append(ids, synod.NodeID(i))
		}
	}
	return ids
}

func (c *cabal) honest() (ids []synod.NodeID) {
	for _, id := range c.g.Members {
		if !c.byzantine[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// scripted is an attack on sender given by its bits: for each round, honest
// member and one of two values, whether the longest chain is shown.
func scripted(bits int) func(c *cabal, k int) {
	return func(c *cabal, k int) {
		sender, speaker := c.g.Senders[0], c.liars()[0]
		for h, to := range c.honest() {
			var said parcel
			for v, value := range []string{"a", "b"} {
				if bits>>(((k-1)*len(c.honest())+h)*2+v)&1 == 0 {
					continue
				}
				if x := c.longest(sender, value); len(x.links) >= k {
					said = append(said, x)
				}
			}
			c.tell(speaker, to, k, said)
		}
	}
}

// vandal lies by chance, with a taste for what hurts: chains as long as can be,
// shown to few, in late rounds; and now and then one that is wrong in some way.
func vandal(seed uint64) func(c *cabal, k int) {
	plan := rand.New(rand.NewPCG(seed, 7))
	quiet, reveal, wrong := plan.Float64(), plan.IntN(5), plan.Float64()*0.3
	return func(c *cabal, k int) {
		for _, from := range c.liars() {
			for _, to := range c.honest() {
				if c.r.Float64() < quiet && k != reveal {
					continue
				}
				var said parcel
				for _, sender := range c.g.Senders {
					for _, v := range c.r.Perm(3)[:c.r.IntN(3)] {
						x := c.longest(sender, c.lie(sender, v))
						if c.r.Float64() < wrong {
							c.spoil(&x)
						} else if len(x.links) > k && c.r.IntN(2) == 0 {
							x.links = x.links[:k+c.r.IntN(len(x.links)-k)]
						}
						c.short = c.short || len(x.links) < k
						if len(x.links) > 0 {
							said = append(said, x)
						}
					}
				}
				c.tell(from, to, k, said)
			}
		}
	}
}

// lie is one of three values; of an honest sender, also its own.
func (c *cabal) lie(sender synod.NodeID, v int) string {
	if v == 0 {
		return string(value(sender))
	}
	return string(rune('a' + v))
}

// spoil makes a chain wrong: its value, its order, a signature, a signer, its end,
// another run's or another broadcast's signature.
func (c *cabal) spoil(x *chain) {
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
		l.sig = c.signers[c.liars()[0]].Sign(statement(c.group, x.sender, at+2, sha256.Sum256(x.value)))
	}
}
