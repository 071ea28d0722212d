package certificate_test

import (
	"bytes"
	"testing"

	"synod.dev/synod/certificate"
)

// A member signs only a true statement about its own answers.
func TestApprove(t *testing.T) {
	seed := severalOwners(t)
	council := func(w *world) *certificate.Council {
		k := &certificate.Council{Hash: w.s.Council, F: w.s.Faults.F, Edges: w.s.Graph.Edges, Protocol: w.s.Protocol,
			Parameters: w.s.Parameters}
		for _, m := range w.s.Members {
			k.IDs, k.Keys = append(k.IDs, m.ID), append(k.Keys, m.Key)
		}
		return k
	}
	w := newWorld(t, seed)
	known, m := council(w), w.s.Members[0]
	vote := certificate.VoteBytes(w.s.Council, w.s.Question, m.First, m.Final)
	if err := w.s.Approve(0, known, w.s.Instance, vote, m.Signature); err != nil {
		t.Fatal(err)
	}
	if w.s.Approve(0, known, "another run", vote, m.Signature) == nil {
		t.Error("a statement about another run is approved")
	}
	if w.s.Approve(1, known, w.s.Instance, vote, m.Signature) == nil {
		t.Error("the answers of another seat are approved as one's own")
	}
	last := len(w.s.Members) - 1
	if l := w.s.Members[last]; !bytes.Equal(l.Final, w.s.Answer) {
		v := certificate.VoteBytes(w.s.Council, w.s.Question, l.First, l.Final)
		if w.s.Approve(last, known, w.s.Instance, v, l.Signature) == nil {
			t.Error("a member approves an answer that it does not hold")
		}
	}
	for name, lie := range lies {
		w := newWorld(t, seed)
		if lie(w); w.s.Approve(0, known, w.s.Instance, vote, m.Signature) == nil {
			t.Errorf("%s: approved", name)
		}
	}
}

// Wrong and superfluous signatures do not spoil a certificate.
func TestSignedBy(t *testing.T) {
	w := newWorld(t, severalOwners(t))
	all := w.certificate(t).Signatures
	bad := certificate.Signature{Key: all[0].Key, Signature: all[1].Signature}
	stranger := certificate.Signature{Key: w.owner.PublicKey(), Signature: all[0].Signature}
	mixed := append([]certificate.Signature{bad, stranger, all[1], all[1]}, all...)
	c, err := certificate.SignedBy(&w.s, mixed)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Signatures) != len(all) {
		t.Errorf("%d signatures are left of %d", len(c.Signatures), len(all))
	}
	if _, err := certificate.SignedBy(&w.s, all[:w.s.Faults.F]); err == nil {
		t.Error("F signatures are enough")
	}
}
