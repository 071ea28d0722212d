package certificate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/internal/order"
	"synod.dev/synod/roster"
	"synod.dev/synod/sign"
)

// CouncilOf returns what a verifier takes from a roster. It does not check the roster's own
// signatures.
func CouncilOf(r *roster.Roster) *Council {
	hash := r.Hash()
	c := &Council{Hash: hash[:], F: r.F, Edges: make([][2]uint64, len(r.Edges)), Protocol: r.Protocol,
		Parameters: r.Parameters}
	for i, e := range r.Edges {
		copy(c.Edges[i][:], e)
	}
	for i := range r.Members {
		c.IDs, c.Keys = append(c.IDs, r.Members[i].ID), append(c.Keys, r.Members[i].Key)
	}
	return c
}

// Approve returns why a member must not sign a statement about a run of its council; nil if
// it may. vote is what this member signed about its own answers in the run (VoteBytes), and
// signature its signature under that. A member signs only what Verify accepts, apart from
// signatures that are still missing, and only an answer that it holds. The caller must
// write the answer's hash to disk before it signs, and refuse a second one for the run.
func (s *Statement) Approve(seat int, council *Council, instance string, vote, signature []byte) error {
	switch {
	case s.terms == nil:
		return errors.New("certificate: a member signs only statements of version 3 that have its roster")
	case s.Instance != instance:
		return errors.New("certificate: the statement is about another run")
	case seat < 0 || seat >= len(s.Members):
		return fmt.Errorf("certificate: the statement has no seat %d", seat)
	}
	m, ignored := &s.Members[seat], Report{}
	switch {
	case !bytes.Equal(m.Signature, signature) || !bytes.Equal(VoteBytes(s.Council, s.Question, m.First, m.Final), vote):
		return fmt.Errorf("certificate: the statement has other answers of seat %d than it gave", seat)
	case !s.MaySign(seat):
		return fmt.Errorf("certificate: seat %d does not hold the answer, or has no vote", seat)
	}
	for _, step := range []func(*Report) error{
		func(*Report) error { return s.check() }, func(*Report) error { return s.matches(council) },
		s.votes, s.arithmetic, s.graphAndClaim,
	} {
		if err := step(&ignored); err != nil {
			return err
		}
	}
	return nil
}

// SignedBy returns the certificate of a statement with signatures of members, in any order.
// Signatures that are not valid or not needed are left out, so that no member can spoil it.
// It fails if too few are left.
func SignedBy(s *Statement, signatures []Signature) (*Certificate, error) {
	payload, err := s.Payload()
	if err != nil {
		return nil, err
	}
	c := &Certificate{Payload: payload}
	if err := c.readPayload(); err != nil { // what is signed, and not what is in memory, is verified
		return nil, err
	}
	s = c.Statement
	seat := func(key []byte) int {
		return slices.IndexFunc(s.Members, func(m Member) bool { return bytes.Equal(m.Key, key) })
	}
	for _, sig := range signatures {
		at := seat(sig.Key)
		if at >= 0 && s.MaySign(at) && sign.VerifyEnvelope(sig.Key, PayloadType, payload, sig.Signature) {
			c.Signatures = append(c.Signatures, sig)
		}
	}
	order.Stable(c.Signatures, func(a, b Signature) int { return cmp.Compare(seat(a.Key), seat(b.Key)) })
	c.Signatures = slices.CompactFunc(c.Signatures, func(a, b Signature) bool { return bytes.Equal(a.Key, b.Key) })
	_, err = Verify(c, nil)
	return c, err
}
