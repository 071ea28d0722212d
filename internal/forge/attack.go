package forge

import (
	"bytes"
	"slices"

	"synod.dev/synod/certificate"
	"synod.dev/synod/roster"
)

// Attack is what a hostile caller got from the seats of one run.
type Attack struct {
	*Council
	Files  [][]byte       // every certificate that could be put together
	signed map[int][]byte // by honest seat: the answer that it has signed
}

// Run has a hostile caller, with up to F hostile voters and any other hostile seats, ask for certificates of all
// answers in many ways. Honest seats sign what certificate.Statement.Approve allows, and one answer of a run.
func (c *Council) Run(tries int) (*Attack, error) {
	a := &Attack{Council: c, signed: map[int][]byte{}}
	for range tries {
		of := c.lie()
		shown := c.show()
		s, err := c.About(Answer(c.rand.IntN(3)), of, func(i int) Ballot { return shown[i] })
		if err != nil {
			continue // no roster of this form can be encoded
		}
		if err := a.collect(s); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// show draws how the caller shows the votes of all seats.
func (c *Council) show() (all []Ballot) {
	for i := range c.Secrets {
		b := Ballot{Hidden: c.rand.IntN(4) == 0}
		if c.Hostile[i] || c.rand.IntN(8) == 0 {
			b.Other = Answer(c.rand.IntN(3))
		}
		all = append(all, b)
	}
	return all
}

// lie returns the roster, or one in which something that the caller would like is different.
func (c *Council) lie() *roster.Roster {
	r := *c.Roster
	r.Members = slices.Clone(r.Members)
	switch m := &r.Members[c.rand.IntN(len(r.Members))]; c.rand.IntN(8) {
	case 0:
		m.Voter = !m.Voter
	case 1:
		m.Kind, m.Adversary = "endpoint", ""
	case 2:
		r.F = 0
	case 3:
		r.Rule = roster.Rule{Name: "protocol"}
	case 4:
		r.Guarantee = "agreement"
	}
	return &r
}

// collect asks all seats for their signature under a statement, and puts certificates together from subsets of them.
func (a *Attack) collect(s *certificate.Statement) error {
	payload, err := s.Payload()
	if err != nil {
		return nil // it cannot be encoded, so nobody can be asked
	}
	b, err := s.Encode()
	if err != nil {
		return err
	}
	var signatures []certificate.Signature
	for i, secret := range a.Secrets {
		if a.Hostile[i] || a.signs(i, b) {
			signatures = append(signatures, certificate.Signature{Key: secret.PublicKey(),
				Signature: secret.SignEnvelope(certificate.PayloadType, payload)})
		}
	}
	for _, some := range [][]certificate.Signature{signatures, a.voters(s, signatures)} {
		c := &certificate.Certificate{Statement: s, Payload: payload, Signatures: some}
		file, err := c.File()
		if err != nil {
			return err
		}
		a.Files = append(a.Files, file)
	}
	return nil
}

// voters returns the signatures of those who may sign.
func (a *Attack) voters(s *certificate.Statement, all []certificate.Signature) (some []certificate.Signature) {
	for _, sig := range all {
		if at, ok := a.Roster.Seat(sig.Key); ok && s.MaySign(int(at)) {
			some = append(some, sig)
		}
	}
	return some
}

// signs asks an honest seat.
func (a *Attack) signs(seat int, encoded []byte) bool {
	s, err := certificate.DecodeStatement(encoded)
	if err != nil {
		return false
	}
	hash := a.Roster.Hash()
	vote, err := a.vote(seat, a.Roster, a.Instance, a.Question, a.First[seat], a.Final[seat])
	if err != nil || !bytes.Equal(s.Question, a.Question) {
		return false
	}
	own := certificate.VoteBytes(hash[:], a.Question, a.First[seat], a.Final[seat])
	if s.Approve(seat, certificate.CouncilOf(a.Roster), a.Instance, own, vote) != nil {
		return false
	}
	if before := a.signed[seat]; before != nil && !bytes.Equal(before, s.Answer) {
		return false
	}
	a.signed[seat] = s.Answer
	return true
}
