package certificate_test

import (
	"slices"
	"testing"

	"synod.dev/synod/internal/forge"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// A member signs only a true statement about its own answers, of version 3 and with its own roster (finding 1).
func TestApprove(t *testing.T) {
	c := scene{t, fiveAndTwo(t, "decentllms", 3)}
	known := certificate.CouncilOf(c.Roster)
	approve := func(seat int, s *certificate.Statement, run string) error {
		m := c.statement(0, c.Roster).Members[seat]
		own := certificate.Own{Seat: seat, Council: known, Instance: run, Question: c.Question, Form: "number",
			Vote: certificate.VoteBytes(known.Hash, c.Question, m.First, m.Final), Signature: m.Signature}
		return own.Approve(s)
	}
	if err := approve(3, c.statement(0, c.Roster), c.Instance); err != nil {
		t.Fatal(err)
	}
	if approve(3, c.statement(0, c.Roster), "another run") == nil {
		t.Error("a statement about another run is approved")
	}
	if approve(0, c.statement(0, c.Roster), c.Instance) == nil {
		t.Error("a worker signs a decision")
	}
	if approve(5, c.statement(0, c.Roster), c.Instance) == nil {
		t.Error("a member approves an answer that it does not hold")
	}
	other := c.statement(0, c.Roster)
	other.Members[3].First = forge.Answer(2)
	if approve(3, other, c.Instance) == nil {
		t.Error("other answers than its own are approved")
	}
	if approve(3, c.statement(0, c.Roster, 3), c.Instance) == nil {
		t.Error("a statement without its own vote is approved")
	}
	for name, change := range map[string]func(r *roster.Roster){
		"voters": func(r *roster.Roster) { r.Members[3].Voter, r.Members[0].Voter = true, true },
		"kinds":  func(r *roster.Roster) { r.Members[5].Kind = "invented" },
		"F":      func(r *roster.Roster) { r.F = 0 },
		"rule":   func(r *roster.Roster) { r.Rule.Name = "plurality" },
	} {
		if approve(3, c.statement(0, c.changed(change)), c.Instance) == nil {
			t.Errorf("%s that the caller wrote: approved", name)
		}
	}
	w := newWorld(t, severalOwners(t)) // of version 1: the caller's word
	m := w.s.Members[0]
	vote := certificate.VoteBytes(w.s.Council, w.s.Question, m.First, m.Final)
	own := certificate.Own{Instance: w.s.Instance, Question: w.s.Question, Form: w.s.Form, Vote: vote,
		Signature: m.Signature}
	if own.Approve(&w.s) == nil {
		t.Error("a statement of version 1 is approved")
	}
}

// Wrong and superfluous signatures do not spoil a certificate.
func TestSignedBy(t *testing.T) {
	c := scene{t, fiveAndTwo(t, "rotating-leader", 0)}
	s := c.statement(0, c.Roster)
	made, err := c.Whole(s)
	if err != nil {
		t.Fatal(err)
	}
	all := made.Signatures
	bad := certificate.Signature{Key: all[0].Key, Signature: all[1].Signature}
	stranger := certificate.Signature{Key: c.Secrets[6].PublicKey(), Signature: all[0].Signature}
	mixed := append([]certificate.Signature{bad, stranger, all[1], all[1]}, all...)
	again, err := certificate.SignedBy(s, mixed)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Signatures) != len(all) {
		t.Errorf("%d signatures are left of %d", len(again.Signatures), len(all))
	}
	if _, err := certificate.SignedBy(s, all[:4]); err == nil {
		t.Error("fewer than a quorum are enough")
	}
	if s.Members = slices.Clone(s.Members); len(s.Members) == 7 {
		s.Members[6].Voter, s.Rule.Name, s.Faults.F = false, "plurality", 0 // in memory only: the roster says otherwise
	}
	if _, err := certificate.SignedBy(s, all[:4]); err == nil {
		t.Error("what is in memory counts, and not what is signed")
	}
}

// Any two quorums share more than F voters, so one of them is not Byzantine.
func TestQuorum(t *testing.T) {
	for n := uint64(1); n < 60; n++ {
		for f := uint64(0); f <= n; f++ {
			q := certificate.Quorum(n, f)
			if q <= n && 2*q < n+f+1 || 2*(q-1) >= n+f+1 {
				t.Errorf("n=%d f=%d: quorum %d", n, f, q)
			}
		}
	}
}
