package sign

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"

	"synod.dev/synod"
)

// Derived is the identities of all seats of one simulated run. They are derived
// from one seed with SHA-256: the seed gives a master secret, and the master secret
// gives the secret of each seat, so the secret of one seat does not give away the
// master secret or the secret of another seat. A seed is only 64 bits and is often
// a small number that can be guessed: use Generate where seats do not trust one
// another.
//
// The seeds of the seats do not depend on the instance: two runs of one seed have
// the same randomness, even if their protocols differ.
type Derived struct {
	roots []root // by seat

	// With real keys.
	keys      []ed25519.PrivateKey
	committee Committee

	// With symbolic signatures.
	tokens [][sha256.Size]byte

	digest [sha256.Size]byte // of the committee
}

// Derive derives the secrets and real Ed25519 key pairs of n seats from a seed.
func Derive(seed uint64, n int) *Derived {
	d := derive(seed, n)
	d.keys, d.committee = make([]ed25519.PrivateKey, n), make(Committee, n)
	for i := range d.roots {
		d.keys[i] = d.roots[i].key()
		d.committee[i] = d.keys[i].Public().(ed25519.PublicKey)
	}
	d.digest = d.committee.Digest()
	return d
}

// DeriveSymbolic derives the secrets of n seats from a seed, with symbolic
// signatures in place of real ones: 16 bytes which only Sign of the signer's seat
// gives out, because nothing outside this package can reach the secret of another
// seat. They are as unforgeable as real ones for machines of the same process, some
// hundred times as fast, and prove nothing to a third party. A signature is a
// function of seat and data and not a running number, so the journal of one machine
// can be replayed without the others.
func DeriveSymbolic(seed uint64, n int) *Derived {
	d := derive(seed, n)
	d.tokens = make([][sha256.Size]byte, n)
	for i := range d.roots {
		d.tokens[i] = hash("synod/symbol/2", d.roots[i][:])
	}
	master := masterOf(seed)
	d.digest = hash("synod/symbolic/2", master[:], binary.BigEndian.AppendUint32(nil, uint32(n)))
	return d
}

// DeriveUnsigned derives the secrets of n seats from a seed, for a protocol that signs
// nothing: identities have no Signer. Their seeds are those of Derive.
func DeriveUnsigned(seed uint64, n int) *Derived { return derive(seed, n) }

func derive(seed uint64, n int) *Derived {
	d, master := &Derived{roots: make([]root, n)}, masterOf(seed)
	for i := range d.roots {
		var seat [4]byte
		binary.BigEndian.PutUint32(seat[:], uint32(i))
		d.roots[i] = hash("synod/secret/2", master[:], seat[:])
	}
	return d
}

func masterOf(seed uint64) [sha256.Size]byte {
	return hash("synod/master/2", binary.BigEndian.AppendUint64(nil, seed))
}

// Identity returns the identity of a seat in one run. It panics if there is no such
// seat.
func (d *Derived) Identity(seat synod.NodeID, in Instance) Identity {
	root := &d.roots[seat]
	return Identity{Seat: seat, Seed: seedOf(root, nil), Salt: saltOf(root, nil), Signer: d.Signer(seat, in)}
}

// Signer signs for one seat in one run. It panics if there is no such seat. It is nil
// after DeriveUnsigned.
func (d *Derived) Signer(seat synod.NodeID, in Instance) synod.Signer {
	if d.tokens == nil && d.keys == nil {
		return nil
	}
	if d.tokens != nil {
		return &symbol{d, newScope(in, d.digest), seat}
	}
	return &signer{verifier{d.committee, newScope(in, d.digest)}, d.keys[seat]}
}

// Verifier checks signatures of one run. After DeriveUnsigned it refuses all.
func (d *Derived) Verifier(in Instance) synod.Verifier {
	if d.tokens != nil {
		return &symbol{d, newScope(in, d.digest), -1}
	}
	return &verifier{d.committee, newScope(in, d.digest)}
}

// Committee returns the public keys; nil with symbolic signatures.
func (d *Derived) Committee() Committee { return d.committee }

// symbol signs and verifies symbolic signatures.
type symbol struct {
	all   *Derived
	scope scope
	self  synod.NodeID // who signs; -1: it only verifies
}

// symbolSize is the length of a symbolic signature in bytes.
const symbolSize = 16

func (s *symbol) token(by synod.NodeID, data []byte) [sha256.Size]byte {
	var buf [320]byte
	b := append(buf[:0], s.all.tokens[by][:]...)
	return sha256.Sum256(s.scope.statement(b, data))
}

// Sign implements synod.Signer.
func (s *symbol) Sign(data []byte) []byte {
	t := s.token(s.self, data)
	return append([]byte(nil), t[:symbolSize]...)
}

// Verify implements synod.Verifier.
func (s *symbol) Verify(by synod.NodeID, data, sig []byte) bool {
	if by < 0 || int(by) >= len(s.all.tokens) {
		return false
	}
	t := s.token(by, data)
	return subtle.ConstantTimeCompare(t[:symbolSize], sig) == 1
}
