package roster

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/sign"
)

// PayloadType is the type of what the signatures of a roster cover: its hash.
const PayloadType = "application/vnd.synod.roster-hash"

// Signed is a roster with its signatures.
type Signed struct {
	*Roster
	Signatures []Signature // ascending by key, each key once
}

// Signature is the signature of the owner of a key under a roster.
type Signature struct {
	_     struct{} `cbor:",toarray"`
	Key   []byte
	Bytes []byte
}

// Unsigned returns a roster without signatures.
func Unsigned(r *Roster) *Signed { return &Signed{Roster: r} }

// Sign adds or replaces the signature of a secret. It does not check that the secret belongs to a
// member: those of the roster before this one sign too.
func (s *Signed) Sign(secret sign.Secret) {
	hash := s.Hash()
	s.add(Signature{Key: secret.PublicKey(), Bytes: secret.SignEnvelope(PayloadType, hash[:])})
}

func (s *Signed) add(sig Signature) {
	at, known := slices.BinarySearchFunc(s.Signatures, sig.Key,
		func(a Signature, key []byte) int { return bytes.Compare(a.Key, key) })
	if known {
		s.Signatures[at] = sig
		return
	}
	s.Signatures = slices.Insert(s.Signatures, at, sig)
}

// Merge adds the signatures of another copy of the same roster. It fails if the other is another
// roster.
func (s *Signed) Merge(other *Signed) error {
	if s.Hash() != other.Hash() {
		return fmt.Errorf("roster: they are two different rosters: %s and %s", s.HexHash(), other.HexHash())
	}
	for _, sig := range other.Signatures {
		s.add(sig)
	}
	return nil
}

// SignedBy reports whether there is a valid signature of a key.
func (s *Signed) SignedBy(key []byte) bool {
	hash := s.Hash()
	return slices.ContainsFunc(s.Signatures, func(sig Signature) bool {
		return bytes.Equal(sig.Key, key) && sign.VerifyEnvelope(key, PayloadType, hash[:], sig.Bytes)
	})
}

// Missing returns the ids of the members who have not signed.
func (s *Signed) Missing() (ids []string) {
	for i := range s.Members {
		if m := &s.Members[i]; !s.SignedBy(m.Key) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Quorum returns how many of n members with bound F must sign a change: any two such sets have a
// member in common that is not Byzantine.
func Quorum(n, f uint64) uint64 { return min(n, (n+f)/2+1) }

// Verify checks the signatures. Every signature must be valid, and of a member of the roster or of
// the previous one. The first roster, with previous nil, must be signed by all its members. A later
// one must be signed by a Quorum of the previous one's members, and by every member whose key the
// previous one does not have.
func (s *Signed) Verify(previous *Roster) error {
	if err := s.follows(previous); err != nil {
		return err
	}
	if err := s.checkSignatures(previous); err != nil {
		return err
	}
	var old uint64
	for i := range s.Members {
		m := &s.Members[i]
		_, known := seatIn(previous, m.Key)
		if !known && !s.SignedBy(m.Key) {
			return fmt.Errorf("roster: member %s has not signed it", m.ID)
		}
	}
	if previous == nil {
		return nil
	}
	for i := range previous.Members {
		if s.SignedBy(previous.Members[i].Key) {
			old++
		}
	}
	if need := Quorum(uint64(len(previous.Members)), previous.F); old < need {
		return fmt.Errorf("roster: %d of the %d members of the previous roster have signed it; %d must", old,
			len(previous.Members), need)
	}
	return nil
}

// follows checks that the roster is the successor of the previous one.
func (s *Signed) follows(previous *Roster) error {
	if previous == nil {
		if s.Serial != 0 {
			return fmt.Errorf("roster: it has serial %d and replaces the roster %x; give that too (--previous FILE)",
				s.Serial, s.Previous)
		}
		return nil
	}
	hash := previous.Hash()
	switch {
	case !bytes.Equal(s.Previous, hash[:]):
		return fmt.Errorf("roster: it replaces the roster %x and not %x", s.Previous, hash)
	case s.Serial != previous.Serial+1:
		return fmt.Errorf("roster: its serial is %d; the previous roster has %d, so it must be %d", s.Serial,
			previous.Serial, previous.Serial+1)
	}
	return nil
}

func (s *Signed) checkSignatures(previous *Roster) error {
	hash := s.Hash()
	for i, sig := range s.Signatures {
		_, now := s.Seat(sig.Key)
		_, before := seatIn(previous, sig.Key)
		switch {
		case i > 0 && bytes.Compare(s.Signatures[i-1].Key, sig.Key) >= 0:
			return errors.New("roster: its signatures are not in ascending order of keys, each once")
		case !now && !before:
			return fmt.Errorf("roster: it is signed with the key %x, which no member has", sig.Key)
		case !sign.VerifyEnvelope(sig.Key, PayloadType, hash[:], sig.Bytes):
			return fmt.Errorf("roster: the signature of the key %x is not valid", sig.Key)
		}
	}
	return nil
}

func seatIn(r *Roster, key []byte) (seat int, ok bool) {
	if r == nil {
		return 0, false
	}
	id, ok := r.Seat(key)
	return int(id), ok
}

// file is the content of a roster file.
type file struct {
	_          struct{} `cbor:",toarray"`
	Roster     []byte
	Signatures []Signature
}

const pemType = "SYNOD ROSTER"

// File returns the text of a roster file: PEM.
func (s *Signed) File() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: pemType,
		Bytes: canonical.Encode(file{Roster: s.Bytes(), Signatures: s.Signatures})})
}

// Parse reads what File returns. It does not check the signatures (Verify). A roster has one text:
// Parse refuses every other one.
func Parse(text []byte) (*Signed, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType || !bytes.Equal(pem.EncodeToMemory(block), text) {
		return nil, fmt.Errorf("roster: not a roster file: it must begin with -----BEGIN %s----- and end with "+
			"-----END %s-----", pemType, pemType)
	}
	var f file
	if err := canonical.Decode(block.Bytes, MaxBytes+MaxMembers*256, &f); err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	r, err := Decode(f.Roster)
	if err != nil {
		return nil, err
	}
	return &Signed{r, f.Signatures}, nil
}
