package leader

import (
	"bytes"
	"encoding"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
)

// What is read is what would be written, for every word, and nothing panics.
func FuzzWords(f *testing.F) {
	c := &Certificate{Phase: Prepare, Round: 3, Answer: "42", Votes: []Vote{{0, "abc"}, {2, "def"}}}
	for _, w := range []encoding.BinaryAppender{
		meeting{own: synod.Response{Answer: "1", Rationale: "so"}, lock: c}, meeting{done: c},
		offer{[]byte("v"), []byte("s")},
		ballot{offer{(&proposal{surface: "7", lock: c}).encode(), []byte("s")}, []byte("t")}, pledge{"7", []byte("s")},
	} {
		b, err := w.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add((&proposal{surface: "7", rationale: "so", lock: c}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		var m meeting
		var o offer
		var v ballot
		var p pledge
		same := func(err error, w encoding.BinaryAppender) {
			if err != nil {
				return
			}
			if again, _ := w.AppendBinary(nil); !bytes.Equal(again, b) {
				t.Fatalf("%x is read, and written as %x", b, again)
			}
		}
		same(m.UnmarshalBinary(b), &m)
		same(o.UnmarshalBinary(b), &o)
		same(v.UnmarshalBinary(b), &v)
		same(p.UnmarshalBinary(b), &p)
		var q proposal
		if q.decode(b) == nil && !bytes.Equal(q.encode(), b) {
			t.Fatalf("%x is read, and written as %x", b, q.encode())
		}
	})
}

// A vote is for one phase, round, answer, council and run, and for nothing else.
func TestVotesAreBound(t *testing.T) {
	keys := sign.DeriveSymbolic(1, 4)
	members := []synod.NodeID{0, 1, 2, 3}
	group := VoteGroup("p/1", members, 1)
	c := Certificate{Phase: Commit, Round: 2, Answer: "7"}
	for _, id := range members[:3] {
		c.Votes = append(c.Votes, Vote{id, string(keys.Signer(id, "run").Sign(VoteBytes(group, Commit, 2, "7")))})
	}
	three := func(ids []synod.NodeID) bool { return len(ids) >= 3 }
	if !c.Verify(keys.Verifier("run"), group, three) {
		t.Fatal("it does not stand")
	}
	for what, bad := range map[string]bool{
		"run":     c.Verify(keys.Verifier("other"), group, three),
		"f":       c.Verify(keys.Verifier("run"), VoteGroup("p/1", members, 0), three),
		"version": c.Verify(keys.Verifier("run"), VoteGroup("p/2", members, 1), three),
		"phase":   (&Certificate{Prepare, 2, "7", c.Votes}).Verify(keys.Verifier("run"), group, three),
		"round":   (&Certificate{Commit, 3, "7", c.Votes}).Verify(keys.Verifier("run"), group, three),
		"answer":  (&Certificate{Commit, 2, "8", c.Votes}).Verify(keys.Verifier("run"), group, three),
		"twice": (&Certificate{Commit, 2, "7", []Vote{c.Votes[0], c.Votes[0],
			c.Votes[1]}}).Verify(keys.Verifier("run"), group, three),
		"few": (&Certificate{Commit, 2, "7", c.Votes[:2]}).Verify(keys.Verifier("run"), group, three),
	} {
		if bad {
			t.Errorf("another %s, and it stands", what)
		}
	}
}
