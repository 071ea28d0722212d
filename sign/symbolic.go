package sign

import (
	"crypto/sha256"
	"crypto/subtle"

	"synod.dev/synod"
)

// Symbolic stands for the keys of n seats in a simulation. A signature is a token
// that only Sign of its seat gives out, because nothing outside this package can
// reach another seat's secret. It proves nothing to a third party. Tokens are a
// function of seat and data, not a running number, so that one machine's journal
// can be played again without the others.
type Symbolic struct {
	secrets   [][sha256.Size]byte
	committee [sha256.Size]byte
}

// NewSymbolic makes the secrets of n seats from a seed.
func NewSymbolic(seed uint64, n int) *Symbolic {
	s := &Symbolic{secrets: make([][sha256.Size]byte, n), committee: secret("synod/symbolic/1", seed, n)}
	for i := range s.secrets {
		s.secrets[i] = secret("synod/symbol/1", seed, i)
	}
	return s
}

// Signer signs for one seat in one run.
func (s *Symbolic) Signer(id synod.NodeID, run string) synod.Signer {
	return &symbol{s, scopeOf(run, s.committee), id}
}

// Verifier checks tokens of one run.
func (s *Symbolic) Verifier(run string) synod.Verifier {
	return &symbol{s, scopeOf(run, s.committee), -1}
}

type symbol struct {
	*Symbolic
	scope scope
	self  synod.NodeID
}

// tokenSize is the length of a token in bytes.
const tokenSize = 16

func (s *symbol) token(by synod.NodeID, data []byte) [sha256.Size]byte {
	var room [320]byte
	b := append(room[:0], s.secrets[by][:]...)
	return sha256.Sum256(append(append(b, s.scope[:]...), data...))
}

func (s *symbol) Sign(data []byte) []byte {
	t := s.token(s.self, data)
	return append([]byte(nil), t[:tokenSize]...)
}

func (s *symbol) Verify(by synod.NodeID, data, sig []byte) bool {
	if by < 0 || int(by) >= len(s.secrets) {
		return false
	}
	t := s.token(by, data)
	return subtle.ConstantTimeCompare(t[:tokenSize], sig) == 1
}
