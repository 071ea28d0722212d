// Package sign makes the Signers of councils.
//
// Keys are real: Ed25519, one pair a seat, derived from a seed where a council
// lives in one process. A Committee is their public half, and all that a third
// party needs to check a signature later. Symbolic signatures are for simulation:
// as unforgeable for machines that have only their seat's Signer, and some
// hundred times as fast.
//
// What is signed is never a bare text. A signature covers, in this order and
// with nothing between:
//
//	"synod/signature/1"   17 bytes
//	SHA-256 of the run's id
//	SHA-256 of the committee's keys, by seat
//	the protocol's data
//
// so a word of one run or committee says nothing in another [BB-7]; the protocol
// binds itself, its version, instance and round in its data. All parts but the
// last have a fixed length: two different statements never have the same bytes.
//
//	keys := sign.Derive(seed, 4)
//	seat.Signer = keys.Signer(seat.Self, "run 7")
//	…
//	ok := keys.Committee().Verifier("run 7").Verify(3, data, sig)
package sign

import "crypto/sha256"

const domain = "synod/signature/1"

// scope is the fixed part of what is signed.
type scope [len(domain) + 2*sha256.Size]byte

func scopeOf(run string, committee [sha256.Size]byte) (s scope) {
	id := sha256.Sum256([]byte(run))
	copy(s[:], domain)
	copy(s[len(domain):], id[:])
	copy(s[len(domain)+sha256.Size:], committee[:])
	return s
}

// over is the whole of what is signed, in b's room.
func (s *scope) over(b, data []byte) []byte { return append(append(b[:0], s[:]...), data...) }
