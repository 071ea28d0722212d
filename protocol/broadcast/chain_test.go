package broadcast

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/script"
	"synod.dev/synod/sign"
)

// small is a group of four with room for one liar; sender 4 stands outside.
func small() Group {
	return Group{Protocol: "test/1", Name: "words", F: 1, Start: start, Within: within, MaxValue: 100,
		Members: []synod.NodeID{0, 1, 2, 3}, Senders: []synod.NodeID{0, 4}}
}

// signedBy is a chain that these have signed, for g in a run.
func signedBy(g Group, run sign.Instance, sender synod.NodeID, value string, by ...synod.NodeID) chain {
	keys := sign.DeriveSymbolic(1, 5)
	c := chain{sender: sender, value: []byte(value)}
	for k, id := range by {
		c.links = append(c.links, link{id, keys.Signer(id, run).Sign(statement(g.digest(), sender, k+1, sha256.Sum256(c.value)))})
	}
	return c
}

// hear is a word with a chain, sent by node 2 in round k and arriving in round at.
type hear struct {
	k, at int
	chain chain
}

// alone plays member 1 of g by itself, with these words, and rechecks at the end.
func alone(g Group, words ...hear) (out *Outcome) {
	seat := synod.Seat{Self: 1, Peers: []synod.NodeID{0, 2, 3, 4}, F: g.F, Signer: sign.DeriveSymbolic(1, 5).Signer(1, run)}
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
			if a, ok := x.(synod.Alarm); ok {
				alarm = a
			}
		}
		for _, w := range words {
			if w.at == k {
				body, _ := parcel{w.chain}.AppendBinary(nil)
				m.Step(alarm.At-1, synod.Heard{Message: &synod.Message{From: 2, Slot: synod.Slot{Name: g.Name, Round: g.slot(w.k, 0)}, Body: body}})
			}
		}
		if alarm.At == 0 {
			break
		}
		next = m.Step(alarm.At, synod.Expired{ID: alarm.ID})
	}
	m.Step(2000, synod.Halt{})
	return out
}

// [BB-4, BB-8] A chain counts in round k if it has at least k signatures, and is
// kept and marks the delivery if it has fewer or its message came late.
func TestChainAgainstRound(t *testing.T) {
	signers := map[synod.NodeID][]synod.NodeID{0: {0, 2, 3}, 4: {4, 2, 3, 0}}
	g := small()
	for i, sender := range g.Senders {
		for k := 1; k <= 3; k++ {
			for at := k; at <= 4; at++ {
				for n := 1; n <= len(signers[sender]); n++ {
					c := signedBy(g, run, sender, "w", signers[sender][:n]...)
					d := alone(g, hear{k, at, c}).Deliveries[i]
					counts := at == k && n >= k && k <= g.Rounds(sender)
					if (d.Word != nil) != counts || d.Unsafe == counts || len(d.Late) != 0 == counts {
						t.Errorf("sender %d, %d signatures sent in round %d, came in %d: %+v", sender, n, k, at, d)
					}
					if !counts && (d.Late[0].From != 2 || d.Late[0].Round != at || !slices.Equal(d.Late[0].Signers, signers[sender][:n])) {
						t.Errorf("the late word is kept as %+v", d.Late[0])
					}
				}
			}
		}
	}
}

// [BB-7] A signature of another protocol, version, name, group, run, sender or
// round says nothing here.
func TestBB7Domain(t *testing.T) {
	g := small()
	if d := alone(g, hear{1, 1, signedBy(g, run, 0, "w", 0)}).Deliveries[0]; says(d) != `"w"` {
		t.Fatalf("the chain itself gives %s", says(d))
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
		if d := alone(g, hear{1, 1, c}).Deliveries[0]; d.Word != nil || d.Unsafe {
			t.Errorf("another %s: %+v", what, d)
		}
	}
}

// What is not signed by the sender and then by distinct members never counts.
func TestForeignChains(t *testing.T) {
	g := small()
	for what, c := range map[string]chain{
		"no signatures":      {sender: 0, value: []byte("w")},
		"a stranger's":       signedBy(g, run, 3, "w", 3),
		"not the sender":     signedBy(g, run, 0, "w", 2, 0),
		"one signer twice":   signedBy(g, run, 0, "w", 0, 2, 2),
		"the sender twice":   signedBy(g, run, 0, "w", 0, 0),
		"an outside relayer": signedBy(g, run, 0, "w", 0, 4),
		"my own signature":   signedBy(g, run, 0, "w", 0, 1),
		"too long a value":   signedBy(g, run, 0, strings.Repeat("w", 101), 0),
	} {
		for _, d := range alone(g, hear{1, 1, c}).Deliveries {
			if d.Word != nil || d.Unsafe || d.Evidence != nil {
				t.Errorf("%s: %+v", what, d)
			}
		}
	}
}

// ⊥ and the empty value are two things, and a late second value is evidence that
// changes nothing.
func TestDelivery(t *testing.T) {
	g := small()
	out := alone(g, hear{1, 1, signedBy(g, run, 0, "", 0)}, hear{1, 3, signedBy(g, run, 0, "second", 0)})
	if d := out.Deliveries[0]; says(d) != `""` || !d.Unsafe || d.Evidence == nil || !d.Evidence.Verify(sign.DeriveSymbolic(1, 5).Verifier(run)) {
		t.Errorf("%+v", d)
	}
	if d := out.Deliveries[1]; d.Word != nil || d.Unsafe || d.Evidence != nil {
		t.Errorf("a silent sender: %+v", d)
	}
}

// A third party checks evidence with the public keys alone, and refuses every
// changed bit.
func TestEvidenceOffline(t *testing.T) {
	keys, g := sign.Derive(3, 5), small()
	word := func(v string) []byte {
		return keys.Signer(4, run).Sign(statement(g.digest(), 4, 1, sha256.Sum256([]byte(v))))
	}
	e := Evidence{g.digest(), 4, [2][]byte{[]byte("yes"), []byte("no")}, [2][]byte{word("yes"), word("no")}}
	b, err := e.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(b []byte) bool {
		var e Evidence
		return e.UnmarshalBinary(b) == nil && e.Verify(keys.Committee().Verifier(run))
	}
	if !check(b) {
		t.Fatal("good evidence is refused")
	}
	for i := range b {
		for _, flip := range []byte{1, 0x80} {
			bad := bytes.Clone(b)
			if bad[i] ^= flip; check(bad) {
				t.Errorf("byte %d changed by %x is accepted", i, flip)
			}
		}
		if check(b[:i]) {
			t.Errorf("cut at byte %d it is accepted", i)
		}
	}
	same := Evidence{e.Group, 4, [2][]byte{e.Values[0], e.Values[0]}, [2][]byte{e.Signatures[0], e.Signatures[0]}}
	if check(append(b, 0)) || same.Verify(keys.Committee().Verifier(run)) || e.Verify(keys.Committee().Verifier("another")) {
		t.Error("a longer one, one value twice, or another run's is accepted")
	}
}

func TestGroupValidate(t *testing.T) {
	for what, change := range map[string]func(*Group){
		"between 0 and 3":   func(g *Group) { g.F = 4 },
		"f is -1":           func(g *Group) { g.F = -1 },
		"name":              func(g *Group) { g.Name = "" },
		"ascending":         func(g *Group) { g.Members = []synod.NodeID{1, 0} },
		"one or more":       func(g *Group) { g.Senders = nil },
		"at least 2":        func(g *Group) { g.Within = 1 },
		"between 1 and 324": func(g *Group) { g.MaxValue = 40_000 },
		"values of 0 bytes": func(g *Group) { g.MaxValue = 0 },
		"messages a round": func(g *Group) {
			g.MaxValue, g.Senders = 30_000, nil
			for i := range synod.NodeID(40) {
				g.Senders = append(g.Senders, i)
			}
		},
	} {
		g := small()
		if err := g.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&g)
		if err := g.Validate(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Long values travel in several messages, and the longest that a group allows
// still fit when both are relayed by everyone.
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
			for _, d := range h.word {
				if d.Word == nil || len(d.Word.Value) != most || d.Unsafe {
					t.Errorf("values of %d bytes in %d parts: %s", most, g.parts(), says(d)[:10])
				}
			}
		}
	}
}

// FuzzParcel: what is let in is written back as it was.
func FuzzParcel(f *testing.F) {
	for _, p := range []parcel{nil, {signedBy(small(), run, 0, "w", 0, 1)}, {signedBy(small(), run, 0, "", 0), signedBy(small(), run, 4, "v")}} {
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
			t.Fatalf("%x is read as %v, which is written %x", body, p, again)
		}
	})
}

// FuzzEvidence: the same for evidence.
func FuzzEvidence(f *testing.F) {
	b, _ := Evidence{Sender: 3, Values: [2][]byte{[]byte("a"), nil}, Signatures: [2][]byte{{1}, {2}}}.AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, body []byte) {
		var e Evidence
		if e.UnmarshalBinary(body) != nil {
			return
		}
		if again, err := e.AppendBinary(nil); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("%x is read as %+v, which is written %x", body, e, again)
		}
	})
}
