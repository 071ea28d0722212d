// Package sign gives every seat its identity: a key to sign with and a seed for
// its randomness, neither of which another seat can derive.
//
// There are two sources of identities. A node of a network has a Secret of its
// own, made by Generate and stored by the node; only its public key is known to
// others, as a part of the Committee. A simulation derives the secrets of all
// seats from one seed (Derive): the seats of one process are kept apart by the
// program and not by secrecy, so whoever knows the seed knows all keys.
//
// What is signed is never a bare text. A signature covers, in this order and with
// nothing between:
//
//	"synod/signature/2"   17 bytes
//	SHA-256 of the instance id
//	SHA-256 of the committee's keys, by seat
//	the protocol's data
//
// so a statement of one run or committee is invalid in another [BB-7]; the protocol
// binds itself, its version and its round in its data. All parts but the last have
// a fixed length, so two different statements never have the same bytes.
//
//	instance := sign.NewInstance(planDigest, &question, nonce)
//	keys := sign.Derive(seed, 4)
//	seat.Signer = keys.Signer(seat.Self, instance)
//	…
//	ok := keys.Committee().Verifier(instance).Verify(3, data, sig)
//
// The package has rank 1: it needs only the vocabulary of the root package.
package sign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"synod.dev/synod"
)

// Instance identifies one run: one question put to one council once. Every
// signature is bound to it. NewInstance makes it; tests may use any string.
type Instance string

// NewInstance hashes what makes a run different from all others: the digest of the
// plan (who sits where and plays what), the question, and a nonce that is fresh for
// every run. In a simulation the nonce is the seed.
func NewInstance(plan []byte, q *synod.Question, nonce []byte) Instance {
	question, err := json.Marshal(q)
	if err != nil {
		panic("sign: a question cannot be encoded: " + err.Error()) // it has strings only
	}
	sum := hash("synod/instance/1", plan, question, nonce)
	return Instance(hex.EncodeToString(sum[:]))
}

// Identity is what one seat has of its own in one run.
type Identity struct {
	Seat   synod.NodeID
	Seed   uint64       // of the seat's randomness, never 0
	Salt   synod.Salt   // a secret apart from the seed, of which the seat's model sees parts
	Run    Instance     // "" where one process plays all seats
	Signer synod.Signer // signs as this seat in this run
}

// root is the bytes from which everything of one seat is derived.
type root [sha256.Size]byte

func (r *root) key() ed25519.PrivateKey {
	seed := hash("synod/key/2", r[:])
	return ed25519.NewKeyFromSeed(seed[:])
}

// Secret is the root of one seat's identity in all runs. It must be known to that
// seat only. Printing it does not show it; Reveal does.
//
// The zero Secret is nobody's, and its methods panic.
type Secret struct {
	// A function, of which fmt shows the address only, whatever the verb is and whatever
	// value has the Secret in a field that is not exported.
	own func() *owned
}

// owned is a root with its key, which takes longer to derive than a signature to make.
type owned struct {
	root root
	key  ed25519.PrivateKey
}

func newSecret(r root) Secret {
	o := &owned{r, r.key()}
	return Secret{func() *owned { return o }}
}

// Generate draws a secret from a source of randomness, which must be
// cryptographically secure (crypto/rand.Reader). It fails if the source does.
func Generate(random io.Reader) (Secret, error) {
	var r root
	if _, err := io.ReadFull(random, r[:]); err != nil {
		return Secret{}, fmt.Errorf("sign: generate a secret: %w", err)
	}
	return newSecret(r), nil
}

// secretPrefix begins the text of a secret, so that one can be found where it
// should not be.
const secretPrefix = "synod-secret-"

// ParseSecret reads the text that Reveal or File returns. It ignores white space around it.
// Errors do not repeat the text.
func ParseSecret(text string) (Secret, error) {
	first, public, checked := strings.Cut(strings.TrimSpace(text), "\n")
	digits, ok := strings.CutPrefix(first, secretPrefix)
	if b, err := hex.DecodeString(digits); ok && err == nil && len(b) == len(root{}) {
		s := newSecret(root(b))
		if checked && public != s.public() {
			return Secret{}, errors.New("sign: the secret is not that of its public key: the file was changed or " +
				"damaged; restore it from a copy")
		}
		return s, nil
	}
	return Secret{}, fmt.Errorf("sign: not a secret: it must be %q and %d hexadecimal digits", secretPrefix,
		2*len(root{}))
}

// Reveal returns the secret as text, to be stored where only its owner can read it.
func (s Secret) Reveal() string { return secretPrefix + hex.EncodeToString(s.own().root[:]) }

// File returns the secret as a file keeps it: as Reveal does, and its public key in a second line, by which a changed
// digit is noticed.
func (s Secret) File() string { return s.Reveal() + "\n" + s.public() + "\n" }

func (s Secret) public() string { return "public " + hex.EncodeToString(s.PublicKey()) }

// String returns a placeholder, so that logs and errors do not hold the secret.
func (s Secret) String() string { return "secret" }

// GoString returns a placeholder, like String.
func (s Secret) GoString() string { return "sign.Secret{}" }

// PublicKey returns the Ed25519 public key by which others know the seat.
func (s Secret) PublicKey() []byte { return s.own().key.Public().(ed25519.PublicKey) }

// Identity returns the identity of a seat of the committee in one run. It fails if
// the committee has another key at that seat. The seed is bound to the run: it
// reveals nothing about the secret or about the seat's seeds in other runs.
func (s Secret) Identity(seat synod.NodeID, committee Committee, in Instance) (Identity, error) {
	key := s.own().key
	if seat < 0 || int(seat) >= len(committee) {
		return Identity{}, fmt.Errorf("sign: seat %d is not in the committee, which has %d seats", seat, len(committee))
	}
	if !committee[seat].Equal(key.Public()) {
		return Identity{}, fmt.Errorf("sign: the committee has another public key for seat %d than the one of this "+
			"secret", seat)
	}
	own := &signer{verifier{committee, newScope(in, committee.Digest())}, key}
	root := &s.own().root
	return Identity{seat, seedOf(root, []byte(in)), saltOf(root, []byte(in)), in, own}, nil
}

// saltOf returns the secret that hides a seat's commitment in one run.
func saltOf(r *root, context []byte) synod.Salt { return hash("synod/salt/1", r[:], context) }

// seedOf returns the seed of a seat's randomness in one context.
func seedOf(r *root, context []byte) uint64 {
	sum := hash("synod/seed/2", r[:], context)
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}

// Committee is the public keys of all seats, by NodeID.
type Committee []ed25519.PublicKey

// NewCommittee checks and copies raw public keys, by NodeID. It fails if a key has
// the wrong length, or if two seats have the same key: one key is one vote.
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

// Digest identifies the committee: its keys and their order.
func (c Committee) Digest() [sha256.Size]byte {
	h := sha256.New()
	for _, k := range c {
		h.Write(k)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Verifier checks signatures of one run.
func (c Committee) Verifier(in Instance) synod.Verifier {
	return &verifier{c, newScope(in, c.Digest())}
}

type verifier struct {
	committee Committee
	scope     scope
}

// Verify implements synod.Verifier.
func (v *verifier) Verify(by synod.NodeID, data, sig []byte) bool {
	if by < 0 || int(by) >= len(v.committee) {
		return false
	}
	var buf [256]byte
	return ed25519.Verify(v.committee[by], v.scope.statement(buf[:0], data), sig)
}

type signer struct {
	verifier
	key ed25519.PrivateKey
}

// Sign implements synod.Signer.
func (s *signer) Sign(data []byte) []byte {
	var buf [256]byte
	return ed25519.Sign(s.key, s.scope.statement(buf[:0], data))
}

const domain = "synod/signature/2"

// scope is the part of a signed statement that is the same for a whole run.
type scope [len(domain) + 2*sha256.Size]byte

func newScope(in Instance, committee [sha256.Size]byte) (s scope) {
	id := sha256.Sum256([]byte(in))
	copy(s[:], domain)
	copy(s[len(domain):], id[:])
	copy(s[len(domain)+sha256.Size:], committee[:])
	return s
}

// statement appends all bytes that a signature covers.
func (s *scope) statement(b, data []byte) []byte { return append(append(b, s[:]...), data...) }

// hash returns the SHA-256 of a purpose and some parts, each with its length.
func hash(purpose string, parts ...[]byte) [sha256.Size]byte {
	var buf [256]byte
	b := append(buf[:0], purpose...)
	for _, p := range parts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(p))), p...)
	}
	return sha256.Sum256(b)
}
