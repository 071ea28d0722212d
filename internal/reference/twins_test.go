package reference_test

import (
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
)

// named is a verifier to whom a name is the signature of everything.
type named struct{}

func (named) Verify(by synod.NodeID, _, sig []byte) bool { return string(sig) == string(rune('a'+by)) }

func chain(value string, signers ...synod.NodeID) reference.Chain {
	c := reference.Chain{Sender: 0, Value: []byte(value), Signers: signers}
	for _, id := range signers {
		c.Signatures = append(c.Signatures, []byte(string(rune('a'+id))))
	}
	return c
}

// A member of a broadcast delivers the one value with a chain that is long enough and in time.
func TestBroadcast(t *testing.T) {
	ids := []synod.NodeID{0, 1, 2, 3}
	for _, c := range []struct {
		name                string
		parcels             []reference.Parcel
		value               string
		two, unsafe, broken bool
	}{
		{"one value", []reference.Parcel{{Round: 1, Chains: []reference.Chain{chain("x", 0)}}}, "x", false, false,
			false},
		{"two values", []reference.Parcel{{Round: 1, Chains: []reference.Chain{chain("x", 0)}},
			{Round: 2, Chains: []reference.Chain{chain("y", 0, 1)}}}, "", true, false, false},
		{"too short", []reference.Parcel{{Round: 2, Chains: []reference.Chain{chain("x", 0)}}}, "", false, true, false},
		{"too late", []reference.Parcel{{Round: 1, Late: true, Chains: []reference.Chain{chain("x", 0, 1)}}}, "",
			false, true,
			true},
		{"repeated signer", []reference.Parcel{{Round: 2, Chains: []reference.Chain{chain("x", 0, 1, 1)}}}, "",
			false, false,
			false},
		{"own signature", []reference.Parcel{{Round: 2, Chains: []reference.Chain{chain("x", 0, 3)}}}, "", false,
			false, false},
		{"stranger", []reference.Parcel{{Round: 2, Chains: []reference.Chain{chain("x", 0, 7)}}}, "", false, false,
			false},
		{"not of its sender", []reference.Parcel{{Round: 1, Chains: []reference.Chain{chain("x", 1)}}}, "", false,
			false, false},
		{"too long", []reference.Parcel{{Round: 1, Chains: []reference.Chain{chain("long value", 0)}}}, "", false,
			false, false},
	} {
		g := &reference.Group{Protocol: "p", Name: "n", Members: ids, Senders: ids[:1], F: 1, MaxValue: 4}
		b := reference.NewBroadcast(g, 3, nil, named{})
		for _, p := range c.parcels {
			b.Take(p)
		}
		d := b.All[0]
		if string(d.Value) != c.value || d.Given != (c.value != "") || d.Two != c.two || d.Unsafe != c.unsafe ||
			b.Broken() != c.broken {
			t.Errorf("%s: %+v, broken %v", c.name, d, b.Broken())
		}
	}
}

// Votes of a quorum lock a member, and only a later lock makes it vote for another answer.
func TestLeaders(t *testing.T) {
	l := &reference.Leaders{Election: &reference.Election{N: 4, F: 1, TwoThirds: true, Rounds: 4, Turns: 1},
		Locks:  true,
		Choice: "best", Self: 3, Own: "1", Verifier: named{}}
	offer := func(a synod.Answer, lock *reference.Certificate) *reference.Offer {
		return &reference.Offer{Value: []byte(a), Signature: []byte("a"), Readable: true, Answer: a, Lock: lock}
	}
	l.Meet(1, []reference.Told{{From: 0, Answer: "2"}})
	l.See(1, offer("2", nil))
	if compares, _ := l.Compares(1); !compares {
		t.Error("it votes without a comparison")
	}
	casts := []reference.Cast{{From: 0, Offer: offer("2", nil), Vote: []byte("a")},
		{From: 1, Offer: offer("2", nil), Vote: []byte("b")}, {From: 2, Offer: offer("2", nil)}}
	l.Count(reference.Prepare, 1, casts, nil)
	if l.Lock != nil || !slices.Equal(l.Refused, []synod.NodeID{2}) {
		t.Errorf("two votes of four are the lock %v; %v refused", l.Lock, l.Refused)
	}
	l.Count(reference.Prepare, 1, casts, &reference.Cast{From: 3, Offer: offer("2", nil), Vote: []byte("d")})
	if l.Lock == nil || l.Lock.Answer != "2" || len(l.Lock.By) != 3 {
		t.Fatalf("three votes of four are the lock %v", l.Lock)
	}
	later := &reference.Certificate{Phase: reference.Prepare, Round: 2, Answer: "3", By: l.Lock.By,
		Signatures: l.Lock.Signatures}
	for _, c := range []struct {
		offer *reference.Offer
		votes bool
	}{{offer("1", nil), false}, {offer("2", nil), true}, {offer("3", later), true}, {offer("4", later), false}} {
		l.Seen = c.offer
		if _, votes := l.Compares(3); votes != c.votes {
			t.Errorf("it votes for %+v: %v", c.offer, votes)
		}
	}
	l.Answers = []synod.Answer{"2", "1", "", "1"}
	if a := l.Proposes(map[synod.Answer]float64{"1": 50, "2": 70}); a != "2" {
		t.Errorf("the best answer is %q", a)
	}
}

// Krum takes the vector in the middle of most, and Bulyan a mean around it (f = 1).
func TestKrum(t *testing.T) {
	row := func(x float64) []float64 { return []float64{x, x, x, x, x} }
	rows := [][]float64{row(4), row(5), row(5), row(6), row(20), row(5), row(4)}
	for name, want := range map[string]float64{"krum": 25, "bulyan": 25} {
		got, within, ok := reference.Total(name, rows, 1)
		if !ok || got < want-within-1e-9 || got > want+within+1e-9 {
			t.Errorf("%s is %v ± %v; want %v", name, got, within, want)
		}
	}
	if _, _, ok := reference.Total("krum", rows[:4], 1); ok {
		t.Error("krum of four vectors tolerates one")
	}
}

// Of reports about messages, two thirds of all must be alike, and more than F others accuse a sender.
func TestCompared(t *testing.T) {
	heard := func(from synod.NodeID, x byte) reference.Heard {
		return reference.Heard{From: from, Digest: [32]byte{x}}
	}
	g := &reference.Game{Players: 4, F: 1}
	mine := []reference.Heard{heard(0, 1), heard(1, 1), heard(2, 1)}
	dropped, suspects := g.Compared(0, mine, [][]reference.Heard{{heard(1, 1), heard(2, 2)}, {heard(1, 1), heard(2,
		2)}})
	if !slices.Equal(dropped, []synod.NodeID{2}) || !slices.Equal(suspects, []synod.NodeID{2}) {
		t.Errorf("it drops %v and suspects %v", dropped, suspects)
	}
}

// The fields of JSON values are settled when more than half of all and F more gave one value.
func TestFields(t *testing.T) {
	c := &reference.Cascade{F: 1, Certain: true, Weights: []float64{1, 1, 1, 1, 1, 1},
		Question: &synod.Question{Text: "What?", Form: synod.JSON}}
	if asked, lacking, _ := c.Fields(answers("aaaaaa"), false); asked != 4 || lacking {
		t.Errorf("it asks %d, lacking %v", asked, lacking)
	}
	if asked, _, _ := c.Fields(answers("aaaaaa"), true); asked != 6 {
		t.Errorf("of means it asks %d", asked)
	}
	if _, lacking, _ := c.Fields(answers("....a."), false); !lacking {
		t.Error("one answer is enough with F = 1")
	}
}
