package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
)

// Replicas are the members that keep one log by consensus. At most Faulty of them may be Byzantine.
type Replicas struct {
	Name string   // of the council: two logs of the same replicas have different names
	Keys [][]byte // Ed25519 keys, by replica
	// Least is how many replicas must sign the same record before the log takes it. It must be larger than Faulty.
	// 0: one replica is enough, as in logs that are older than this rule.
	Least int
	Names []string // by replica, the names in their entries; not used if Least is 0
}

// holds reports whether an entry waits until several replicas have signed its record.
func (g *Replicas) holds() bool { return g.Least > 0 }

// Log returns the name of the group's log, which its heads contain: a SHA-256 of Name and Keys, and of Least and Names
// if Least is not 0.
func (g *Replicas) Log() []byte {
	if g.holds() {
		b := canonical.Encode([]any{g.Name, g.Keys, g.Least, g.Names})
		sum := sha256.Sum256(append([]byte("synod/ledger/group/2\x00"), b...))
		return sum[:]
	}
	sum := sha256.Sum256(append([]byte("synod/ledger/group/1\x00"), canonical.Encode([]any{g.Name, g.Keys})...))
	return sum[:]
}

// Faulty returns f, the largest number of Byzantine replicas that n ≥ 3f+1 allows.
func (g *Replicas) Faulty() int { return (len(g.Keys) - 1) / 3 }

// Quorum returns how many replicas must sign a head: any two quorums share an honest replica. With n = 3f+1 it
// is 2f+1.
func (g *Replicas) Quorum() int { return (len(g.Keys)+g.Faulty())/2 + 1 }

// Sign returns a replica's signature under a head of the group's log. Without Least it has an older form, which
// replicas of earlier versions can read.
func (g *Replicas) Sign(secret sign.Secret, size uint64, root []byte) Signature {
	h := Head{Log: g.Log(), Size: size, Root: root}
	if g.holds() {
		return Signature{Key: secret.PublicKey(), Signature: secret.SignNote([]byte(h.Text()))}
	}
	return Signature{Key: secret.PublicKey(), Signature: secret.SignEnvelope(HeadType, canonical.Encode(h))}
}

// VerifyGroup checks that a quorum of a group has signed the head, and that every other listed
// signature is valid. The head of an empty log needs no signature.
func (h *SignedHead) VerifyGroup(g *Replicas) error {
	if !bytes.Equal(h.Head.Log, g.Log()) {
		return fmt.Errorf("ledger: the head is of the log %x, and these replicas keep %x", h.Head.Log, g.Log())
	}
	if err := h.checkGroup(); err != nil || h.empty() {
		return err
	}
	signed := 0
	for _, k := range g.Keys {
		if h.lists(k) {
			signed++
		}
	}
	if signed < g.Quorum() {
		return fmt.Errorf("ledger: %d of %d replicas have signed the head; %d must", signed, len(g.Keys), g.Quorum())
	}
	return nil
}

// Replicated reports whether the head is of a log that replicas keep, so that it has no operator.
func (h *SignedHead) Replicated() bool { return len(h.Operator) == 0 }

// Check checks that the signatures under a head are valid. A head with an operator needs the operator's signature; a
// head of replicas may have the signatures of any keys. Verify and VerifyGroup also check whose log it is.
func (h *SignedHead) Check() error {
	if !h.Replicated() {
		return h.Verify(h.Head.Log)
	}
	return h.checkGroup()
}

// checkGroup checks a head without an operator.
func (h *SignedHead) checkGroup() error {
	switch {
	case !h.Replicated():
		return errors.New("ledger: the head has an operator, and not replicas")
	case len(h.Head.Log) != sha256.Size || len(h.Head.Root) != sha256.Size:
		return errors.New("ledger: the name or the root of the head is not a SHA-256")
	case len(h.Witnesses) == 0 && !h.empty():
		return errors.New("ledger: nobody has signed the head")
	}
	return h.checkWitnesses()
}

// empty reports whether the head is of an empty log.
func (h *SignedHead) empty() bool {
	return h.Head.Size == 0 && bytes.Equal(h.Head.Root, hasher.EmptyRoot())
}

// lists reports whether a key is among those whose signatures the head has.
func (h *SignedHead) lists(key []byte) bool {
	for _, w := range h.Witnesses {
		if bytes.Equal(w.Key, key) {
			return true
		}
	}
	return false
}

// VerifyGroup checks the proof against the replicas of a group, and returns the entry.
func (p *Proof) VerifyGroup(g *Replicas) (*Entry, error) {
	if err := p.Head.VerifyGroup(g); err != nil {
		return nil, err
	}
	return p.entry()
}

// Check checks that the signatures under the proof's head are valid (SignedHead.Check) and that the entry is under this
// head.
func (p *Proof) Check() (*Entry, error) {
	if err := p.Head.Check(); err != nil {
		return nil, err
	}
	return p.entry()
}
