package roster

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
)

// PayloadType is the type of what the signatures of a roster cover: its hash.
const PayloadType = "application/vnd.synod.roster-hash"

// Signed is a roster with its signatures.
type Signed struct {
	*Roster
	Signatures []Signature // ascending by key, each key once
	// Before is the roster that this one replaces; nil: it has to stand by itself (Verify).
	Before *Signed
}

// Signature is the signature of the owner of a key under a roster.
type Signature struct {
	_     struct{} `cbor:",toarray"`
	Key   []byte
	Bytes []byte
}

// Unsigned returns a roster without signatures.
func Unsigned(r *Roster) *Signed { return &Signed{Roster: r} }

// Successor returns the roster that replaces another one, without signatures. Its file has the earlier rosters that
// Verify needs, back to one that all its members have signed.
func Successor(r *Roster, before *Signed) *Signed {
	s := &Signed{Roster: r, Before: before}
	if before != nil && before.whole() {
		s.Before = &Signed{Roster: before.Roster, Signatures: before.Signatures}
	}
	return s
}

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
	if s.Before == nil {
		s.Before = other.Before
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

// maxBefore is how many rosters a file may have before its own.
const maxBefore = 32

// Verify is the one rule, in all programs, for whose signatures make a roster valid. Every signature must be valid, and
// of a member of the roster or of the one before it. A roster stands if all its members have signed it. It stands too
// if the roster that it replaces stands (Before), a Quorum of whose members have signed it, and so has every member
// whose key that one does not have. So nobody is a member who has not signed for it once.
func (s *Signed) Verify() error { return s.verify(maxBefore) }

func (s *Signed) verify(most int) error {
	if err := s.checkSignatures(); err != nil {
		return err
	}
	if s.Before != nil {
		if err := s.follows(); err != nil {
			return err
		}
	}
	if s.whole() {
		return nil
	}
	if s.Before == nil {
		if s.Serial == 0 {
			return fmt.Errorf("roster: member %s has not signed it", s.Missing()[0])
		}
		return fmt.Errorf("roster: %s have not signed it, and the file does not have the roster %x that it "+
			"replaces; give that too (--previous FILE)", strings.Join(s.Missing(), ", "), s.Previous)
	}
	if most == 0 {
		return fmt.Errorf("roster: more than %d rosters are before it; have all members sign one", maxBefore)
	}
	if err := s.Before.verify(most - 1); err != nil {
		return fmt.Errorf("the roster before it: %w", err)
	}
	return s.changed()
}

// follows checks that the roster is the successor of the one before it.
func (s *Signed) follows() error {
	previous := s.Before.Roster
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

// changed checks who has signed the change from the roster before it.
func (s *Signed) changed() error {
	previous := s.Before.Roster
	for i := range s.Members {
		m := &s.Members[i]
		if _, known := previous.Seat(m.Key); !known && !s.SignedBy(m.Key) {
			return fmt.Errorf("roster: member %s has not signed it", m.ID)
		}
	}
	var old uint64
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

// whole reports whether all members have signed.
func (s *Signed) whole() bool { return len(s.Missing()) == 0 }

func (s *Signed) checkSignatures() error {
	hash := s.Hash()
	for i, sig := range s.Signatures {
		_, known := s.Seat(sig.Key)
		if !known && s.Before != nil {
			_, known = s.Before.Seat(sig.Key)
		}
		switch {
		case i > 0 && bytes.Compare(s.Signatures[i-1].Key, sig.Key) >= 0:
			return errors.New("roster: its signatures are not in ascending order of keys, each once")
		case !known:
			return fmt.Errorf("roster: it is signed with the key %x, which no member has", sig.Key)
		case !sign.VerifyEnvelope(sig.Key, PayloadType, hash[:], sig.Bytes):
			return fmt.Errorf("roster: the signature of the key %x is not valid", sig.Key)
		}
	}
	return nil
}

// file is the content of a roster file.
type file struct {
	_          struct{} `cbor:",toarray"`
	Roster     []byte
	Signatures []Signature
}

// later is the content of the file of a roster that replaces another one.
type later struct {
	_          struct{} `cbor:",toarray"`
	Roster     []byte
	Signatures []Signature
	Before     []byte // content of the file of the roster before
}

// beginLater is the first byte of the encoding of later: an array of 3.
const beginLater = 0x83

const pemType = "SYNOD ROSTER"

// MaxFile bounds the content of a roster file, in bytes.
const MaxFile = 4 << 20

// File returns the text of a roster file: PEM.
func (s *Signed) File() []byte {
	return canonical.Text(pemType, s.content())
}

func (s *Signed) content() []byte {
	if s.Before == nil {
		return canonical.Encode(file{Roster: s.Bytes(), Signatures: s.Signatures})
	}
	return canonical.Encode(later{Roster: s.Bytes(), Signatures: s.Signatures, Before: s.Before.content()})
}

// Parse reads what File returns. It does not check the signatures (Verify). A roster has one text:
// Parse refuses every other one.
func Parse(text []byte) (*Signed, error) {
	content, ok := canonical.FromText(pemType, text)
	if !ok {
		return nil, fmt.Errorf("roster: not a roster file: it must begin with -----BEGIN %s----- and end with "+
			"-----END %s-----", pemType, pemType)
	}
	return parse(content, maxBefore)
}

func parse(content []byte, most int) (s *Signed, err error) {
	var l later
	if len(content) > 0 && content[0] == beginLater {
		err = canonical.Decode(content, MaxFile, &l)
	} else {
		var f file
		err = canonical.Decode(content, MaxFile, &f)
		l.Roster, l.Signatures = f.Roster, f.Signatures
	}
	if err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	s = &Signed{Signatures: l.Signatures}
	if s.Roster, err = Decode(l.Roster); err != nil {
		return nil, err
	}
	if content[0] == beginLater {
		if most == 0 {
			return nil, fmt.Errorf("roster: more than %d rosters are before it", maxBefore)
		}
		if s.Before, err = parse(l.Before, most-1); err != nil {
			return nil, fmt.Errorf("the roster before it: %w", err)
		}
	}
	return s, nil
}
