package certificate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/network/roster"
)

// CouncilOf returns what a verifier takes from a roster. It does not check the roster's own
// signatures.
func CouncilOf(r *roster.Roster) *Council {
	hash := r.Hash()
	c := &Council{Hash: hash[:], Three: r.Format == roster.Format, F: r.F, Edges: make([][2]uint64, len(r.Edges)),
		Protocol: r.Protocol, Parameters: r.Parameters}
	for i, e := range r.Edges {
		copy(c.Edges[i][:], e)
	}
	for i := range r.Members {
		c.IDs, c.Keys = append(c.IDs, r.Members[i].ID), append(c.Keys, r.Members[i].Key)
	}
	return c
}

// Own is what a member knows of a run from its own record and folder: what it may sign a statement about.
type Own struct {
	Seat      int
	Council   *Council // its roster
	Instance  string
	Question  []byte // QuestionHash
	Form      string
	Schema    []byte    // of the question
	Vote      []byte    // what it signed about its own answers (VoteBytes)
	Signature []byte    // its signature under Vote
	Keys      sign.Keys // nil: Ed25519
	Answer    string    // that it holds; "": none
	// Checks returns the checks of the question that an answer passes; nil: there are none.
	Checks func(answer string) []Checked
}

// Reason says why a member does not sign a statement.
type Reason string

// The reasons.
const (
	OtherVersion  Reason = "version"  // it is not of version 3 with a roster
	OtherRun      Reason = "run"      // it is about another run
	OtherQuestion Reason = "question" // it is about another question, form, schema or checks
	NoSeat        Reason = "seat"     // it has no such seat
	OtherVote     Reason = "vote"     // it has other answers of the member than it gave, or none
	NotHeld       Reason = "answer"   // the member does not hold the answer, or has no vote
	Malformed     Reason = "form"     // no statement can be like that
	OtherRoster   Reason = "roster"   // it is of another roster
	ForgedVote    Reason = "votes"    // a member did not sign what is said to be its vote
	Miscounted    Reason = "counts"   // the answers do not lead to the answer
	FalseGraph    Reason = "graph"    // the graph does not have the robustness, or the claim does not follow
	SecondAnswer  Reason = "second"   // the member may have signed another answer of the run
)

// Reasons returns all reasons.
func Reasons() []Reason {
	return []Reason{OtherVersion, OtherRun, OtherQuestion, NoSeat, OtherVote, NotHeld, Malformed, OtherRoster,
		ForgedVote, Miscounted, FalseGraph, SecondAnswer}
}

// Refusal is the error of a member that does not sign a statement.
type Refusal struct {
	Reason Reason
	Err    error
}

func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns what is wrong.
func (r *Refusal) Unwrap() error { return r.Err }

func refused(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{reason, fmt.Errorf("certificate: "+format, args...)}
}

// Signer makes signatures under envelopes: a sign.Secret.
type Signer interface {
	SignEnvelope(payloadType string, payload []byte) []byte
}

// Sign returns the member's signature under a statement, if Approve allows it. commit must put the answer's hash on
// disk, and fail if the member may have signed another answer of the run: the signature is made only after it.
func (o *Own) Sign(s *Statement, commit func(answer []byte) error, key Signer) ([]byte, error) {
	if err := o.Approve(s); err != nil {
		return nil, err
	}
	payload, err := s.Payload()
	if err != nil {
		return nil, &Refusal{Malformed, err}
	}
	if err := commit(s.Answer); err != nil {
		return nil, &Refusal{SecondAnswer, err}
	}
	return key.SignEnvelope(PayloadType, payload), nil
}

// Approve returns why the member must not sign a statement, as a Refusal; nil if it may. A member signs only what
// Verify accepts, apart from signatures that are still missing, and only an answer that it holds.
func (o *Own) Approve(s *Statement) error {
	switch {
	case s.terms == nil:
		return refused(OtherVersion, "a member signs only statements of version 3 that have its roster")
	case s.Instance != o.Instance:
		return refused(OtherRun, "the statement is about another run")
	case !bytes.Equal(s.Question, o.Question):
		return refused(OtherQuestion, "the statement is about another question")
	case s.Form != o.Form:
		return refused(OtherQuestion, "the statement has another form than the question")
	case s.Merge != nil && !bytes.Equal(s.Merge.Schema, o.Schema):
		return refused(OtherQuestion, "the statement has another schema than the question")
	case o.Seat < 0 || o.Seat >= len(s.Members):
		return refused(NoSeat, "the statement has no seat %d", o.Seat)
	}
	m := &s.Members[o.Seat]
	vote := VoteBytes(s.Council, s.Question, m.First, m.Final)
	switch {
	case !bytes.Equal(m.Signature, o.Signature) || !bytes.Equal(vote, o.Vote):
		return refused(OtherVote, "the statement has other answers of seat %d than it gave", o.Seat)
	case !s.MaySign(o.Seat):
		return refused(NotHeld, "seat %d does not hold the answer, or has no vote", o.Seat)
	}
	return o.follows(s)
}

// follows checks what everybody can check, the cheap things first.
func (o *Own) follows(s *Statement) error {
	keys, ignored := o.Keys, Report{}
	if keys == nil {
		keys = sign.Ed25519
	}
	for _, step := range []struct {
		reason Reason
		check  func() error
	}{
		{Malformed, s.check},
		{OtherRoster, func() error { return s.matches(o.Council) }},
		{Miscounted, func() error { return s.arithmetic(&ignored) }},
		{FalseGraph, func() error { return s.graphAndClaim(&ignored) }},
		{ForgedVote, func() error { return s.votes(keys, &ignored) }},
	} {
		if err := step.check(); err != nil {
			return &Refusal{step.reason, err}
		}
	}
	return o.passed(s)
}

// passed compares the checks that a statement names with the member's own.
func (o *Own) passed(s *Statement) error {
	if len(s.Checks) == 0 {
		return nil
	}
	answer := o.Answer
	if s.Merge != nil {
		m, err := s.Merged()
		if err != nil {
			return &Refusal{Miscounted, err}
		}
		answer = m.Value.String()
	}
	var own []Checked
	if o.Checks != nil {
		own = o.Checks(answer)
	}
	for _, c := range s.Checks {
		if !slices.ContainsFunc(own, c.is) {
			return refused(OtherQuestion, "the question has no check %q of this kind and definition, or the answer "+
				"does not pass it", c.Name)
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
