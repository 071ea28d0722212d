package sign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"synod.dev/synod"
)

// Keys are the key pairs of all seats of a council in one process.
type Keys struct {
	private   []ed25519.PrivateKey
	committee Committee
}

// Derive makes n key pairs from a seed. Whoever knows the seed knows the keys:
// they keep members of one process apart, not strangers out.
func Derive(seed uint64, n int) *Keys {
	k := &Keys{private: make([]ed25519.PrivateKey, n), committee: make(Committee, n)}
	for i := range k.private {
		s := secret("synod/key/1", seed, i)
		k.private[i] = ed25519.NewKeyFromSeed(s[:])
		k.committee[i] = k.private[i].Public().(ed25519.PublicKey)
	}
	return k
}

// secret is seat i's own 32 bytes of a seed.
func secret(what string, seed uint64, i int) [sha256.Size]byte {
	b := binary.BigEndian.AppendUint64([]byte(what), seed)
	return sha256.Sum256(binary.BigEndian.AppendUint32(b, uint32(i)))
}

// Committee returns the public keys.
func (k *Keys) Committee() Committee { return k.committee }

// Signer signs for one seat in one run.
func (k *Keys) Signer(id synod.NodeID, run string) synod.Signer {
	return &signer{verifier{k.committee, scopeOf(run, k.committee.Digest())}, k.private[id]}
}

// Committee is the public keys of all seats, by NodeID.
type Committee []ed25519.PublicKey

// NewCommittee takes raw public keys, by NodeID. One key is one vote, so no two
// may be equal.
func NewCommittee(keys [][]byte) (Committee, error) {
	c := make(Committee, len(keys))
	for i, k := range keys {
		if len(k) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("sign: key %d has %d bytes; an Ed25519 key has %d", i, len(k), ed25519.PublicKeySize)
		}
		for j := range i {
			if bytes.Equal(k, keys[j]) {
				return nil, fmt.Errorf("sign: seats %d and %d have the same key", j, i)
			}
		}
		c[i] = bytes.Clone(k)
	}
	return c, nil
}

// Digest identifies the committee: keys and their order.
func (c Committee) Digest() [sha256.Size]byte {
	h := sha256.New()
	for _, k := range c {
		h.Write(k)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Verifier checks signatures of one run.
func (c Committee) Verifier(run string) synod.Verifier {
	return &verifier{c, scopeOf(run, c.Digest())}
}

type verifier struct {
	committee Committee
	scope     scope
}

func (v *verifier) Verify(by synod.NodeID, data, sig []byte) bool {
	if by < 0 || int(by) >= len(v.committee) {
		return false
	}
	var room [256]byte
	return ed25519.Verify(v.committee[by], v.scope.over(room[:], data), sig)
}

type signer struct {
	verifier
	key ed25519.PrivateKey
}

func (s *signer) Sign(data []byte) []byte {
	var room [256]byte
	return ed25519.Sign(s.key, s.scope.over(room[:], data))
}
