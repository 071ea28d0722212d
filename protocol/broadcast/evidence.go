package broadcast

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/wire"
)

// Signed is a sender's value with its signature. It proves, to everyone with the
// committee's keys, that the sender broadcast this value.
type Signed struct {
	Group     [sha256.Size]byte // identifies protocol, version, name, members, senders and F
	Sender    synod.NodeID
	Value     []byte
	Signature []byte
}

// Verify reports that Sender signed Value. The verifier is bound to a run.
func (s *Signed) Verify(v synod.Verifier) bool {
	return v.Verify(s.Sender, statement(s.Group, s.Sender, 1, sha256.Sum256(s.Value)), s.Signature)
}

// Sign returns a sender's signed value in g, for a protocol that sends it without Run and
// needs the same evidence of equivocation. The signer must be the sender's own.
func (g *Group) Sign(signer synod.Signer, sender synod.NodeID, value []byte) *Signed {
	d := g.digest()
	return &Signed{d, sender, value, signer.Sign(statement(d, sender, 1, sha256.Sum256(value)))}
}

// Digest identifies protocol, version, name, members, senders and F.
func (g *Group) Digest() [sha256.Size]byte { return g.digest() }

// statement returns what the signer at a position of a chain signs: round k, where 1 is
// the sender's. All its parts have a fixed length.
func statement(group [sha256.Size]byte, sender synod.NodeID, place int, value [sha256.Size]byte) []byte {
	b := make([]byte, 0, 128)
	b = append(append(b, domain...), group[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(sender))
	b = binary.BigEndian.AppendUint32(b, uint32(place))
	return append(b, value[:]...)
}

// Evidence has two values that one sender signed in one broadcast. It proves equivocation
// without trust in any member. An honest sender signs one value, so there is none against
// it [BB-5].
type Evidence struct {
	Group      [sha256.Size]byte
	Sender     synod.NodeID
	Values     [2][]byte
	Signatures [2][]byte
}

// Verify reports that the sender signed both values, and that they differ.
func (e *Evidence) Verify(v synod.Verifier) bool {
	for i := range e.Values {
		if s := (Signed{e.Group, e.Sender, e.Values[i], e.Signatures[i]}); !s.Verify(v) {
			return false
		}
	}
	return !bytes.Equal(e.Values[0], e.Values[1])
}

// Proofs returns the evidence in deliveries, each in its encoding.
func Proofs(deliveries []Delivery) (proofs [][]byte) {
	for _, d := range deliveries {
		if d.Evidence != nil {
			proof, _ := d.Evidence.AppendBinary(nil) // never fails
			proofs = append(proofs, proof)
		}
	}
	return proofs
}

const evidenceVersion = 1

// AppendBinary writes a version byte, group, sender, and values and signatures
// with their lengths.
func (e Evidence) AppendBinary(b []byte) ([]byte, error) {
	b = append(append(b, evidenceVersion), e.Group[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(e.Sender))
	for i := range e.Values {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(e.Values[i]))), e.Values[i]...)
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(e.Signatures[i]))), e.Signatures[i]...)
	}
	return b, nil
}

// UnmarshalBinary reads exactly what AppendBinary writes.
func (e *Evidence) UnmarshalBinary(b []byte) error {
	r := wire.NewReader(b, len(b))
	r.Version(evidenceVersion)
	var in Evidence
	copy(in.Group[:], r.Fixed(sha256.Size))
	in.Sender = readID(r)
	for i := range in.Values {
		in.Values[i], in.Signatures[i] = bytes.Clone(r.Bytes(synod.MaxBody)), bytes.Clone(readSignature(r))
	}
	if err := r.End(); err != nil {
		return fmt.Errorf("broadcast: evidence: %w", err)
	}
	*e = in
	return nil
}
