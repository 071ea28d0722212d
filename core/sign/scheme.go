package sign

import (
	"crypto/ed25519"
	"crypto/sha512"
	"crypto/subtle"

	"synod.dev/synod"
)

// Keys checks signatures under public keys of 32 bytes. Ed25519 does it for the keys of Secrets. Symbols do it in
// simulations that need millions of signatures, where everybody is in one process.
type Keys interface {
	// Envelope reports whether a key signed the payload of a DSSE envelope.
	Envelope(key []byte, payloadType string, payload, sig []byte) bool
	// Run returns what checks signatures of the seats of a committee in one run.
	Run(c Committee, in Instance) synod.Verifier
}

// Ed25519 checks signatures of real keys.
var Ed25519 Keys = realKeys{}

type realKeys struct{}

func (realKeys) Envelope(key []byte, payloadType string, payload, sig []byte) bool {
	return VerifyEnvelope(key, payloadType, payload, sig)
}

func (realKeys) Run(c Committee, in Instance) synod.Verifier { return c.Verifier(in) }

// SignRun signs data as a member of a committee in one run. Unlike the Signer of an Identity it does not check that
// the committee has the key: what hostile members sign can be about any committee.
func (s Secret) SignRun(c Committee, in Instance, data []byte) []byte {
	scope := newScope(in, c.Digest())
	return ed25519.Sign(s.own().key, scope.statement(nil, data))
}

// Symbols are symbolic keys and check their signatures: 64 bytes which only Symbol gives out, because nothing outside
// of this package can reach its secret. They are as unforgeable as real ones for code of one process, a hundred times
// as fast, and prove nothing to anybody else. It is not safe for concurrent use.
type Symbols struct {
	secrets map[string]*Symbol // by public key
}

// NewSymbols returns Symbols that know no key.
func NewSymbols() *Symbols { return &Symbols{map[string]*Symbol{}} }

// Symbol is a symbolic key.
type Symbol struct {
	secret [32]byte
	public [32]byte
}

// Key returns the symbolic key of a seed: the same for the same seed.
func (s *Symbols) Key(seed []byte) *Symbol {
	own := &Symbol{secret: hash("synod/symbol-secret/1", seed)}
	own.public = hash("synod/symbol-public/1", own.secret[:])
	s.secrets[string(own.public[:])] = own
	return own
}

// PublicKey returns the name of the key: 32 bytes.
func (s *Symbol) PublicKey() []byte { return s.public[:] }

// SignEnvelope signs the payload of a DSSE envelope.
func (s *Symbol) SignEnvelope(payloadType string, payload []byte) []byte {
	return s.sign(preAuth(payloadType, payload))
}

// SignRun signs data as a member of a committee in one run.
func (s *Symbol) SignRun(c Committee, in Instance, data []byte) []byte {
	scope := newScope(in, c.Digest())
	return s.sign(scope.statement(nil, data))
}

func (s *Symbol) sign(covered []byte) []byte {
	sum := sha512.Sum512(append(s.secret[:], covered...))
	return sum[:]
}

// Envelope implements Keys.
func (s *Symbols) Envelope(key []byte, payloadType string, payload, sig []byte) bool {
	own := s.secrets[string(key)]
	return own != nil && subtle.ConstantTimeCompare(own.SignEnvelope(payloadType, payload), sig) == 1
}

// Run implements Keys.
func (s *Symbols) Run(c Committee, in Instance) synod.Verifier {
	return &symbolRun{s, c, newScope(in, c.Digest())}
}

// symbolRun checks symbolic signatures of one run.
type symbolRun struct {
	all       *Symbols
	committee Committee
	scope     scope
}

// Verify implements synod.Verifier.
func (v *symbolRun) Verify(by synod.NodeID, data, sig []byte) bool {
	if by < 0 || int(by) >= len(v.committee) {
		return false
	}
	own := v.all.secrets[string(v.committee[by])]
	return own != nil && subtle.ConstantTimeCompare(own.sign(v.scope.statement(nil, data)), sig) == 1
}
