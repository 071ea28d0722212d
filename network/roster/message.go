package roster

import (
	"crypto/sha256"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
)

// MessageType is the type of what the signature of a message covers: the encoding of a Slip.
const MessageType = "application/vnd.synod.message+cbor"

// Slip is what a member signs about one message: that it sent a body with this hash in this slot.
// Two valid signatures of one member under two slips that differ in Sum only prove that it
// equivocated. A slip does not show the body.
type Slip struct {
	_        struct{} `cbor:",toarray"`
	Roster   []byte   // hash of the roster
	Instance string   // of the run
	From     uint64   // the seat
	Slot     string   // the name of the slot
	Round    uint64   // its round
	Sum      []byte   // SHA-256 of the body
}

// SlipOf returns the slip of a message in a run.
func (r *Roster) SlipOf(in sign.Instance, m *synod.Message) Slip {
	hash, sum := r.Hash(), sha256.Sum256(m.Body)
	return Slip{Roster: hash[:], Instance: string(in), From: uint64(m.From), Slot: m.Slot.Name,
		Round: uint64(max(m.Slot.Round, 0)), Sum: sum[:]}
}

// Bytes returns the canonical encoding, which is signed.
func (s *Slip) Bytes() []byte { return canonical.Encode(s) }

// SameSlot reports whether two slips are about one slot of one member in one run.
func (s *Slip) SameSlot(other *Slip) bool {
	a, b := *s, *other
	a.Sum, b.Sum = nil, nil
	return string(a.Bytes()) == string(b.Bytes())
}

// Sign signs the slip.
func (s *Slip) Sign(secret sign.Secret) []byte { return secret.SignEnvelope(MessageType, s.Bytes()) }

// Verify reports whether sig is the signature of the seat's key in the roster. It is false for a
// slip of another roster.
func (s *Slip) Verify(r *Roster, sig []byte) bool {
	hash := r.Hash()
	return s.From < uint64(len(r.Members)) && string(s.Roster) == string(hash[:]) &&
		s.VerifyKey(r.Members[s.From].Key, sig)
}

// VerifyKey is Verify for a caller who has compared Roster and knows the seat's key: it does not hash
// the roster.
func (s *Slip) VerifyKey(key, sig []byte) bool {
	return sign.VerifyEnvelope(key, MessageType, s.Bytes(), sig)
}
