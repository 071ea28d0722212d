package evidence_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/record/evidence"
)

const members = 4

// panel is four members with their secrets, their committee and their roster.
type panel struct {
	secrets   []sign.Secret
	committee sign.Committee
	roster    *roster.Roster
}

func newPanel(t interface{ Fatal(...any) }, seed uint64) *panel {
	p := &panel{roster: &roster.Roster{Format: roster.Format, Name: "panel", F: 1, R: 2, Exact: true, Guarantee: "none",
		Protocol: "sac", Parameters: "{}", Council: "council: panel", Think: 1, Within: 1, Links: roster.TLS,
		Rule: roster.Rule{Name: "plurality"}, Faults: roster.Local, Ledger: roster.Ledger{Kind: "none"}}}
	var keys [][]byte
	for i := range uint64(members) {
		b := sha256.Sum256(binary.BigEndian.AppendUint64(nil, seed<<8|i))
		s, err := sign.Generate(bytes.NewReader(b[:]))
		if err != nil {
			t.Fatal(err)
		}
		p.secrets, keys = append(p.secrets, s), append(keys, s.PublicKey())
		p.roster.Members = append(p.roster.Members, roster.Member{ID: string(rune('a' + i)), Voter: true,
			Key: s.PublicKey(), Addresses: []string{"127.0.0.1:7001"}})
	}
	p.roster.Edges = [][]uint64{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}
	var err error
	if p.committee, err = sign.NewCommittee(keys); err != nil {
		t.Fatal(err)
	}
	return p
}

func group(name string) *broadcast.Group {
	return &broadcast.Group{Protocol: "test/1", Name: name, Members: []synod.NodeID{0, 1, 2, 3},
		Senders: []synod.NodeID{0, 1, 2, 3}, F: 1, Start: 0, Within: 2, MaxValue: 64}
}

// signed is what a seat signs as its value of a broadcast in a run.
func (p *panel) signed(t interface{ Fatal(...any) }, seat int, run, name, value string) *broadcast.Signed {
	id, err := p.secrets[seat].Identity(synod.NodeID(seat), p.committee, sign.Instance(run))
	if err != nil {
		t.Fatal(err)
	}
	return group(name).Sign(id.Signer, synod.NodeID(seat), []byte(value))
}

func (p *panel) broadcastProof(t interface{ Fatal(...any) }, seat int, run, name, x, y string) *broadcast.Evidence {
	a, b := p.signed(t, seat, run, name, x), p.signed(t, seat, run, name, y)
	return &broadcast.Evidence{Group: a.Group, Sender: a.Sender, Values: [2][]byte{a.Value, b.Value},
		Signatures: [2][]byte{a.Signature, b.Signature}}
}

func (p *panel) slip(seat int, run, slot string, round int, body string) (roster.Slip, []byte) {
	s := p.roster.SlipOf(sign.Instance(run), &synod.Message{From: synod.NodeID(seat),
		Slot: synod.Slot{Name: slot, Round: round}, Body: []byte(body)})
	return s, s.Sign(p.secrets[seat])
}

// all returns a valid file of each kind against seat 2.
func (p *panel) all(t interface{ Fatal(...any) }) map[string]*evidence.Evidence {
	b, err := evidence.OfBroadcast(p.committee, "run", p.broadcastProof(t, 2, "run", "answers", "x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	x, sx := p.slip(2, "run", "respond", 1, "x")
	y, sy := p.slip(2, "run", "respond", 1, "y")
	s, err := evidence.OfSlips(p.roster, x, y, sx, sy)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*evidence.Evidence{"broadcast": b, "slips": s}
}

func judge(text []byte) error {
	e, err := evidence.Parse(text)
	if err != nil {
		return err
	}
	_, err = e.Verify(nil)
	return err
}

// Real evidence verifies; no flip of a bit, truncation or extension of it does.
func TestChanges(t *testing.T) {
	for kind, e := range newPanel(t, 1).all(t) {
		file := e.File()
		if err := judge(file); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		for i := range 8 * len(file) {
			bad := bytes.Clone(file)
			if bad[i/8] ^= 1 << (i % 8); judge(bad) == nil {
				t.Fatalf("%s: the flip of bit %d is accepted", kind, i)
			}
		}
		for i := range file {
			if judge(file[:i]) == nil {
				t.Fatalf("%s: a part of %d bytes is accepted", kind, i)
			}
		}
		if judge(append(bytes.Clone(file), '\n')) == nil {
			t.Errorf("%s: more bytes are accepted", kind)
		}
	}
}

// TestFraming is I BB-5: whatever a coalition of all others makes of what an honest member signed, in
// any run, slot and round, it is no evidence against that member. The coalition has all other keys,
// replays signatures across runs, slots, rounds and kinds, and changes every field of a file.
func TestFraming(t *testing.T) {
	const honest = 0
	rapid.Check(t, func(t *rapid.T) {
		p := newPanel(t, uint64(rapid.IntRange(0, 3).Draw(t, "panel")))
		runs, slots := []string{"run", "other"}, []string{"answers", "marks"}
		text := rapid.SampledFrom([]string{"x", "y", "z"})
		pick := rapid.SampledFrom(runs)
		name := rapid.SampledFrom(slots)
		// What the honest member signs: one value for each slot of each run.
		own := map[string]string{}
		value := func(run, slot string) string {
			if _, ok := own[run+slot]; !ok {
				own[run+slot] = text.Draw(t, "value")
			}
			return own[run+slot]
		}
		sign1 := func(what string) evidence.Statement {
			run, slot := pick.Draw(t, what+" run"), name.Draw(t, what+" slot")
			switch rapid.IntRange(0, 3).Draw(t, what) {
			case 0: // its value of a broadcast
				s := p.signed(t, honest, run, slot, value(run, slot))
				return evidence.Statement{Bytes: s.Value, Signature: s.Signature}
			case 1: // its slip of a slot
				s, sig := p.slip(honest, run, slot, 1, value(run, slot))
				return evidence.Statement{Bytes: s.Bytes(), Signature: sig}
			case 2: // a signature of it under something else
				s, sig := p.slip(honest, run, slot, 1, value(run, slot))
				s.Sum = bytes.Repeat([]byte{7}, 32)
				return evidence.Statement{Bytes: s.Bytes(), Signature: sig}
			default: // a value of a member of the coalition
				s := p.signed(t, 1, run, slot, text.Draw(t, what+" text"))
				return evidence.Statement{Bytes: s.Value, Signature: s.Signature}
			}
		}
		e := &evidence.Evidence{Format: evidence.Format, Kind: rapid.SampledFrom([]string{evidence.Broadcast,
			evidence.Slips}).Draw(t, "kind"), Instance: pick.Draw(t, "run"), Seat: honest, A: sign1("a"), B: sign1("b")}
		if e.Kind == evidence.Slips {
			e.Roster = p.roster.Bytes()
		} else {
			digest := group(name.Draw(t, "group")).Digest()
			e.Group = digest[:]
			for _, k := range p.committee {
				e.Keys = append(e.Keys, k)
			}
			switch rapid.IntRange(0, 2).Draw(t, "keys") {
			case 1: // another committee with the honest key
				e.Keys[1], e.Keys[2] = e.Keys[2], e.Keys[1]
			case 2:
				e.Keys = e.Keys[:2]
			}
		}
		if rapid.Bool().Draw(t, "change") {
			sig := bytes.Clone(e.B.Signature)
			sig[rapid.IntRange(0, 63).Draw(t, "byte")] ^= byte(rapid.IntRange(0, 255).Draw(t, "bits"))
			e.B.Signature = sig
		}
		if _, err := e.Verify(nil); err == nil {
			t.Fatalf("an honest member is framed by %+v", e)
		}
		if judge(e.File()) == nil {
			t.Fatal("an honest member is framed by a file")
		}
	})
}

// A verifier that knows the roster takes no evidence about another one.
func TestRoster(t *testing.T) {
	p := newPanel(t, 1)
	all, own := p.all(t), p.roster.Hash()
	if _, err := all["slips"].Verify(own[:]); err != nil {
		t.Error(err)
	}
	if _, err := all["slips"].Verify(bytes.Repeat([]byte{1}, 32)); err == nil {
		t.Error("another roster is accepted")
	}
	if _, err := all["broadcast"].Verify(own[:]); err == nil {
		t.Error("a broadcast in one process is accepted as one of the roster")
	}
}

func FuzzParse(f *testing.F) {
	for _, e := range newPanel(f, 1).all(f) {
		f.Add(e.File())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := evidence.Parse(text)
		if err != nil {
			return
		}
		if !bytes.Equal(e.File(), text) {
			t.Error("a file that is read is written in other bytes")
		}
		if r, err := e.Verify(nil); err == nil && len(r.Claims) == 0 {
			t.Error("valid evidence claims nothing")
		}
	})
}
