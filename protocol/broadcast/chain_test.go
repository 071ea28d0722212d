package broadcast

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
)

// small returns a group of four with F = 1; sender 4 is not a member.
func small() Group {
	return Group{Protocol: "test/1", Name: "values", F: 1, Start: start, Within: within, MaxValue: 100,
		Members: []synod.NodeID{0, 1, 2, 3}, Senders: []synod.NodeID{0, 4}}
}

// signedBy returns a chain for g in a run, signed by these nodes in order.
func signedBy(g Group, run sign.Instance, sender synod.NodeID, value string, by ...synod.NodeID) chain {
	keys := sign.DeriveSymbolic(1, 5)
	c := chain{sender: sender, value: []byte(value)}
	for k, id := range by {
		c.links = append(c.links, link{id, keys.Signer(id,
			run).Sign(statement(g.digest(), sender, k+1, sha256.Sum256(c.value)))})
	}
	return c
}

// incoming is a message with a chain, sent by node 2 for round k, that arrives in round at.
type incoming struct {
	k, at int
	chain chain
}

// alone runs member 1 of g by itself with these messages, and calls Recheck at the end.
func alone(g Group, values ...incoming) *Outcome {
	out, _ := aloneSending(g, values...)
	return out
}

// aloneSending is alone, and returns the slots of what the member sent.
func aloneSending(g Group, values ...incoming) (out *Outcome, sent []synod.Slot) {
	seat := synod.Seat{Self: 1, Peers: []synod.NodeID{0, 2, 3, 4}, F: g.F,
		Signer: sign.DeriveSymbolic(1, 5).Signer(1, run)}
	m := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		out = Run(me, g, nil)
		script.Collect[synod.Response](me, "idle", 0, script.Until{At: 1000})
		out.Recheck()
		return ""
	})
	next := m.Step(0, synod.Begin{})
	for k := 1; len(next) > 0; k++ {
		var alarm synod.Alarm
		for _, x := range next {
			switch x := x.(type) {
			case synod.Alarm:
				alarm = x
			case synod.Send:
				sent = append(sent, x.Message.Slot)
			}
		}
		for _, w := range values {
			if w.at == k {
				body, _ := parcel{w.chain}.AppendBinary(nil)
				m.Step(alarm.At-1, synod.Heard{Message: &synod.Message{From: 2,
					Slot: synod.Slot{Name: g.Name, Round: g.slot(w.k, 0)}, Body: body}})
			}
		}
		if alarm.At == 0 {
			break
		}
		next = m.Step(alarm.At, synod.Expired{ID: alarm.ID})
	}
	m.Step(2000, synod.Halt{})
	return out, sent
}

// [BB-6] A member relays a value once, in the next round, and not after the last round of its sender's broadcast. It
// sends nothing else.
func TestRelays(t *testing.T) {
	g := small()
	for _, c := range []struct {
		what   string
		values []incoming
		want   []int // rounds in which it sends
	}{
		{"nothing", nil, nil},
		{"a member's value", []incoming{{1, 1, signedBy(g, run, 0, "w", 0)}}, []int{2}},
		{"a member's value in its last round", []incoming{{2, 2, signedBy(g, run, 0, "w", 0, 2)}}, nil},
		{"an outsider's value", []incoming{{2, 2, signedBy(g, run, 4, "w", 4, 2)}}, []int{3}},
		{"an outsider's value in its last round", []incoming{{3, 3, signedBy(g, run, 4, "w", 4, 2, 3)}}, nil},
	} {
		_, sent := aloneSending(g, c.values...)
		var rounds []int
		for _, s := range sent {
			rounds = append(rounds, s.Round+1) // one part a round
		}
		if !slices.Equal(rounds, c.want) {
			t.Errorf("%s: sends in the rounds %v, want %v", c.what, rounds, c.want)
		}
	}
}

// [BB-4, BB-8] A chain counts in round k if it has at least k signatures. If it has fewer,
// or its message came late, it is kept and marks the delivery as unsafe.
func TestChainAgainstRound(t *testing.T) {
	signers := map[synod.NodeID][]synod.NodeID{0: {0, 2, 3}, 4: {4, 2, 3, 0}}
	g := small()
	for i, sender := range g.Senders {
		for k := 1; k <= 3; k++ {
			for at := k; at <= 4; at++ {
				for n := 1; n <= len(signers[sender]); n++ {
					c := signedBy(g, run, sender, "w", signers[sender][:n]...)
					d := alone(g, incoming{k, at, c}).Deliveries[i]
					counts := at == k && n >= k && k <= g.Rounds(sender)
					if (d.Signed != nil) != counts || d.Unsafe == counts || len(d.Late) != 0 == counts {
						t.Errorf("sender %d, %d signatures sent in round %d, came in %d: %+v", sender, n, k, at, d)
					}
					if !counts && (d.Late[0].From != 2 || d.Late[0].Round != at ||
						!slices.Equal(d.Late[0].Signers, signers[sender][:n])) {
						t.Errorf("the late value is kept as %+v", d.Late[0])
					}
				}
			}
		}
	}
}

// [BB-7] A signature for another protocol, version, name, group, run, sender or round is
// invalid.
func TestBB7Domain(t *testing.T) {
	g := small()
	if d := alone(g, incoming{1, 1, signedBy(g, run, 0, "w", 0)}).Deliveries[0]; show(d) != `"w"` {
		t.Fatalf("the unchanged chain gives %s", show(d))
	}
	other := func(change func(*Group)) Group {
		g := small()
		change(&g)
		return g
	}
	stray := map[string]chain{
		"run":      signedBy(g, "another", 0, "w", 0),
		"protocol": signedBy(other(func(g *Group) { g.Protocol = "rest/1" }), run, 0, "w", 0),
		"version":  signedBy(other(func(g *Group) { g.Protocol = "test/2" }), run, 0, "w", 0),
		"name":     signedBy(other(func(g *Group) { g.Name = "word" }), run, 0, "w", 0),
		"members":  signedBy(other(func(g *Group) { g.Members = g.Members[:3] }), run, 0, "w", 0),
		"senders":  signedBy(other(func(g *Group) { g.Senders = g.Members }), run, 0, "w", 0),
		"f":        signedBy(other(func(g *Group) { g.F = 2 }), run, 0, "w", 0),
		"shifted":  signedBy(other(func(g *Group) { g.Protocol, g.Name = "test/1w", "ords" }), run, 0, "w", 0),
	}
	sender, round := signedBy(g, run, 4, "w", 4), signedBy(g, run, 0, "w", 2, 0)
	sender.sender, sender.links[0].by = 0, 4
	round.links = round.links[1:]
	stray["sender"], stray["round"] = sender, round
	for what, c := range stray {
		if d := alone(g, incoming{1, 1, c}).Deliveries[0]; d.Signed != nil || d.Unsafe {
			t.Errorf("another %s: %+v", what, d)
		}
	}
}

// A chain that is not signed by the sender and then by distinct members never counts.
func TestForeignChains(t *testing.T) {
	g := small()
	for what, c := range map[string]chain{
		"no signatures":      {sender: 0, value: []byte("w")},
		"another member's":   signedBy(g, run, 3, "w", 3),
		"not the sender":     signedBy(g, run, 0, "w", 2, 0),
		"one signer twice":   signedBy(g, run, 0, "w", 0, 2, 2),
		"two in turn":        signedBy(g, run, 0, "w", 0, 2, 3, 2),
		"the sender twice":   signedBy(g, run, 0, "w", 0, 0),
		"an outside relayer": signedBy(g, run, 0, "w", 0, 4),
		"my own signature":   signedBy(g, run, 0, "w", 0, 1),
		"too long a value":   signedBy(g, run, 0, strings.Repeat("w", 101), 0),
	} {
		for _, d := range alone(g, incoming{1, 1, c}).Deliveries {
			if d.Signed != nil || d.Unsafe || d.Evidence != nil {
				t.Errorf("%s: %+v", what, d)
			}
		}
	}
}

// ⊥ and the empty value differ. A late second value is evidence and does not change the
// delivery.
func TestDelivery(t *testing.T) {
	g := small()
	out := alone(g, incoming{1, 1, signedBy(g, run, 0, "", 0)}, incoming{1, 3, signedBy(g, run, 0, "second", 0)})
	if d := out.Deliveries[0]; show(d) != `""` || !d.Unsafe || d.Evidence == nil ||
		!d.Evidence.Verify(sign.DeriveSymbolic(1, 5).Verifier(run)) {
		t.Errorf("%+v", d)
	}
	if d := out.Deliveries[1]; d.Signed != nil || d.Unsafe || d.Evidence != nil {
		t.Errorf("a silent sender: %+v", d)
	}
}

// A third party verifies evidence with the public keys only, and rejects it if any bit has
// changed.
func TestEvidenceOffline(t *testing.T) {
	keys, g := sign.Derive(3, 5), small()
	signature := func(v string) []byte {
		return keys.Signer(4, run).Sign(statement(g.digest(), 4, 1, sha256.Sum256([]byte(v))))
	}
	e := Evidence{g.digest(), 4, [2][]byte{[]byte("yes"), []byte("no")}, [2][]byte{signature("yes"), signature("no")}}
	b, err := e.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(b []byte) bool {
		var e Evidence
		return e.UnmarshalBinary(b) == nil && e.Verify(keys.Committee().Verifier(run))
	}
	if !check(b) {
		t.Fatal("valid evidence is rejected")
	}
	for i := range b {
		for _, flip := range []byte{1, 0x80} {
			bad := bytes.Clone(b)
			if bad[i] ^= flip; check(bad) {
				t.Errorf("byte %d changed by %x is accepted", i, flip)
			}
		}
		if check(b[:i]) {
			t.Errorf("evidence cut at byte %d is accepted", i)
		}
	}
	same := Evidence{e.Group, 4, [2][]byte{e.Values[0], e.Values[0]}, [2][]byte{e.Signatures[0], e.Signatures[0]}}
	if check(append(b, 0)) || same.Verify(keys.Committee().Verifier(run)) ||
		e.Verify(keys.Committee().Verifier("another")) {
		t.Error("evidence with an extra byte, with equal values, or of another run is accepted")
	}
}

// with returns the group small with a change.
func with(change func(*Group)) *Group {
	g := small()
	change(&g)
	return &g
}

// many returns a group of so many senders with values of this length.
func many(senders, longest int) *Group {
	return with(func(g *Group) {
		g.MaxValue, g.Senders = longest, nil
		for i := range synod.NodeID(senders) {
			g.Senders = append(g.Senders, i)
		}
	})
}

func TestGroupValidate(t *testing.T) {
	longest := synod.MaxBody/2 - (&Group{Members: small().Members}).overhead()
	for what, g := range map[string]*Group{
		"between 0 and 3":   with(func(g *Group) { g.F = 4 }),
		"f is -1":           with(func(g *Group) { g.F = -1 }),
		"name":              with(func(g *Group) { g.Name = "" }),
		"ascending":         with(func(g *Group) { g.Members = []synod.NodeID{1, 0} }),
		"each be one":       with(func(g *Group) { g.Members = []synod.NodeID{0, 1, 1, 2} }),
		"one or more":       with(func(g *Group) { g.Senders = nil }),
		"or later":          with(func(g *Group) { g.Start = -1 }),
		"at least 2":        with(func(g *Group) { g.Within = 1 }),
		"between 1 and 324": with(func(g *Group) { g.MaxValue = longest + 1 }),
		"values of 0 bytes": with(func(g *Group) { g.MaxValue = 0 }),
		"messages a round":  many(maxParts+1, 30_000),
	} {
		if err := g.Validate(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, g := range map[string]*Group{
		"the start at 0":    with(func(g *Group) { g.Start = 0 }),
		"two ticks":         with(func(g *Group) { g.Within = 2 }),
		"one byte":          with(func(g *Group) { g.MaxValue = 1 }),
		"the longest value": with(func(g *Group) { g.MaxValue = longest }),
		"the most messages": many(maxParts, 30_000),
	} {
		if err := g.Validate(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The size that is planned for a chain is that of the longest one.
func TestOverhead(t *testing.T) {
	g := small()
	c := chain{value: make([]byte, g.MaxValue)}
	for range len(g.Members) + 1 {
		c.links = append(c.links, link{sig: make([]byte, synod.MaxSignature)})
	}
	if b, _ := (parcel{c}).AppendBinary(nil); len(b) != g.MaxValue+g.overhead() {
		t.Errorf("the longest chain has %d bytes, %d are planned", len(b), g.MaxValue+g.overhead())
	}
}

// Every part of every round has a slot of its own, and every sender a part.
func TestSlots(t *testing.T) {
	for senders, parts := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 3} {
		g := many(senders, 14_000)
		if g.share() != 2 || g.parts() != parts {
			t.Errorf("%d senders, %d in a message: %d messages, want %d", senders, g.share(), g.parts(), parts)
		}
		used, sharing := map[int]bool{}, map[int]int{}
		for k := 1; k <= 3; k++ {
			for part := range g.parts() {
				if slot := g.slot(k, part); slot >= 0 && slot < 3*parts {
					used[slot] = true
				}
			}
		}
		for i := range g.Senders {
			sharing[g.part(i)]++
		}
		if len(used) != 3*parts || len(sharing) != parts || sharing[0] > 2 {
			t.Errorf("%d senders: %d slots of 3 rounds with %d parts, senders by part %v", senders, len(used), parts,
				sharing)
		}
	}
}

// A short message that claims much takes little memory.
func TestClaimsTakeNoMemory(t *testing.T) {
	rest := make([]byte, 6000)
	chains := append(binary.BigEndian.AppendUint16([]byte{parcelVersion}, 0xffff), rest...)
	links := append([]byte{parcelVersion, 0, 1}, make([]byte, chainHeader-2)...)
	links = append(binary.BigEndian.AppendUint16(links, 0x7000), rest...)
	for what, body := range map[string][]byte{"65535 chains": chains, "28672 links": links} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var p parcel
		err := p.UnmarshalBinary(body)
		runtime.ReadMemStats(&after)
		if size := after.TotalAlloc - before.TotalAlloc; err == nil || size > 200_000 {
			t.Errorf("a message of %d bytes that claims %s: %d bytes are allocated, %v", len(body), what, size, err)
		}
	}
}

// Long values are sent in several messages, and two values of the largest size fit into them
// with the signatures of all members.
func TestParts(t *testing.T) {
	for _, most := range []int{100, 4096, 20_000} {
		g := small()
		g.Senders = g.Members
		g.MaxValue = most
		var all parcel
		for _, s := range g.Senders[:min(g.share(), len(g.Senders))] {
			for v := range 2 {
				c := chain{sender: s, value: bytes.Repeat([]byte{byte(v)}, most)}
				for range len(g.Members) + 1 {
					c.links = append(c.links, link{s, make([]byte, synod.MaxSignature)})
				}
				all = append(all, c)
			}
		}
		b, _ := all.AppendBinary(nil)
		if len(b) > synod.MaxBody {
			t.Errorf("values of %d bytes: a message has %d", most, len(b))
		}
		x := &trial{n: 4, f: 1, byzantine: make([]bool, 4), seed: 1, longest: most}
		r := x.run()
		for _, h := range r.held {
			for _, d := range h.deliveries {
				if d.Signed == nil || len(d.Signed.Value) != most || d.Unsafe {
					t.Errorf("values of %d bytes in %d parts: %s", most, g.parts(), show(d)[:10])
				}
			}
		}
	}
}

// FuzzParcel: decoding accepts only what encoding writes.
func FuzzParcel(f *testing.F) {
	for _, p := range []parcel{nil, {signedBy(small(), run, 0, "w", 0, 1)},
		{signedBy(small(), run, 0, "", 0), signedBy(small(), run, 4, "v")}} {
		b, _ := p.AppendBinary(nil)
		f.Add(b)
	}
	f.Add([]byte{1, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, body []byte) {
		var p parcel
		if p.UnmarshalBinary(body) != nil {
			return
		}
		if again, err := p.AppendBinary(nil); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("%x is decoded as %v, which is encoded as %x", body, p, again)
		}
	})
}

// FuzzEvidence does the same for evidence.
func FuzzEvidence(f *testing.F) {
	b, _ := Evidence{Sender: 3, Values: [2][]byte{[]byte("a"), nil}, Signatures: [2][]byte{{1}, {2}}}.AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, body []byte) {
		var e Evidence
		if e.UnmarshalBinary(body) != nil {
			return
		}
		if again, err := e.AppendBinary(nil); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("%x is decoded as %+v, which is encoded as %x", body, e, again)
		}
	})
}

// FuzzChain builds chains whose signatures are right or wrong in one place each, and compares what valid says with what
// was built [BB-4] [BB-7]. Each link takes four bytes: who signed, who is said to have, the place signed for, and
// what is wrong.
func FuzzChain(f *testing.F) {
	f.Add(uint8(0), "v", []byte{0, 0, 1, 0, 2, 2, 2, 0, 3, 3, 3, 0})
	f.Add(uint8(4), "", []byte{4, 4, 1, 0})
	f.Add(uint8(0), "v", []byte{0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3})
	g, keys := small(), sign.DeriveSymbolic(1, 5)
	p := &party{g: &g, self: 1, group: g.digest(), signer: keys.Signer(1, run)}
	others := with(func(g *Group) { g.Protocol = "test/2" }).digest()
	f.Fuzz(func(t *testing.T, sender uint8, value string, links []byte) {
		if len(value) > g.MaxValue || len(links) > 64 {
			return
		}
		in := &instance{p: p, sender: synod.NodeID(sender % 5)}
		c, want := chain{sender: in.sender, value: []byte(value)}, len(links) >= 4
		seen := map[synod.NodeID]bool{}
		for l := range slices.Chunk(links[:len(links)/4*4], 4) {
			by, said, place, wrong := synod.NodeID(l[0]%5), synod.NodeID(l[1]%6), int(l[2]), l[3]%5
			group, of, signed := g.digest(), sign.Instance(run), value
			switch wrong {
			case 1:
				group = others
			case 2:
				of = "another run"
			case 3:
				signed += "x"
			}
			sig := keys.Signer(by, of).Sign(statement(group, in.sender, place, sha256.Sum256([]byte(signed))))
			if wrong == 4 {
				sig[int(l[2])%len(sig)] ^= 1
			}
			c.links = append(c.links, link{said, sig})
			k := len(c.links)
			want = want && wrong == 0 && by == said && place == k && !seen[said] &&
				(k == 1 && said == in.sender || k > 1 && said != 1 && g.member(said))
			seen[said] = true
		}
		if in.valid(&c) != want {
			t.Errorf("a chain of %d from %d: built to be %v", len(c.links), in.sender, want)
		}
	})
}
