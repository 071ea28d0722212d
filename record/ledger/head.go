package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"synod.dev/synod/internal/canonical"
)

// HeadType is the type of what signatures of heads cover that were made before heads were checkpoints: the encoding of
// a Head.
const HeadType = "application/vnd.synod.head+cbor"

// Head says how many entries a log has, and what they are.
type Head struct {
	_    struct{} `cbor:",toarray"`
	Log  []byte   // names the log: the operator's Ed25519 key, or Replicas.Log
	Size uint64
	Root []byte // SHA-256: the root of the Merkle tree
}

// Signature is a signature of a key under a head.
type Signature struct {
	_         struct{} `cbor:",toarray"`
	Key       []byte
	Signature []byte
}

// SignedHead is a head with the operator's signature and those of witnesses. If replicas keep the log it has
// no operator, and theirs are among the signatures of the witnesses.
type SignedHead struct {
	_         struct{} `cbor:",toarray"`
	Head      Head
	Operator  []byte      // signature; empty: replicas keep the log
	Witnesses []Signature // ascending by key, each key once
}

// Verify checks the operator's signature and that of every listed witness. log is the key of
// the log that is expected.
func (h *SignedHead) Verify(log []byte) error {
	switch {
	case !bytes.Equal(h.Head.Log, log):
		return fmt.Errorf("ledger: the head is of the log %x", h.Head.Log)
	case len(h.Head.Root) != sha256.Size:
		return errors.New("ledger: the root of the head is not a SHA-256")
	case !verifyHead(log, &h.Head, h.Operator):
		return errors.New("ledger: the operator's signature under the head is not valid")
	}
	return h.checkWitnesses()
}

// checkWitnesses checks the signatures that are listed.
func (h *SignedHead) checkWitnesses() error {
	for i, w := range h.Witnesses {
		if i > 0 && bytes.Compare(h.Witnesses[i-1].Key, w.Key) >= 0 {
			return errors.New("ledger: the witnesses of the head are not each once and ascending")
		}
		if !verifyHead(w.Key, &h.Head, w.Signature) {
			return fmt.Errorf("ledger: the signature of the witness %x under the head is not valid", w.Key)
		}
	}
	return nil
}

// Witnessed reports whether a witness has signed the head.
func (h *SignedHead) Witnessed(key []byte) bool {
	for _, w := range h.Witnesses {
		if bytes.Equal(w.Key, key) && verifyHead(key, &h.Head, w.Signature) {
			return true
		}
	}
	return false
}

// Proof shows that an entry is in a log.
type Proof struct {
	_     struct{} `cbor:",toarray"`
	Head  SignedHead
	Index uint64
	Entry []byte   // as Entry.Encode returns it
	Path  [][]byte // from the entry to the root
}

var hasher = rfc6962.DefaultHasher

// Verify checks the proof against the key of a log, and returns the entry.
func (p *Proof) Verify(log []byte) (*Entry, error) {
	if err := p.Head.Verify(log); err != nil {
		return nil, err
	}
	return p.entry()
}

// entry checks that the entry is under the head, and returns it.
func (p *Proof) entry() (*Entry, error) {
	leaf := hasher.HashLeaf(p.Entry)
	if err := proof.VerifyInclusion(hasher, p.Index, p.Head.Head.Size, leaf, p.Path, p.Head.Head.Root); err != nil {
		return nil, fmt.Errorf("ledger: the entry is not under the head: %w", err)
	}
	return DecodeEntry(p.Entry)
}

// Extends checks that a later head extends an earlier one of the same log.
func Extends(earlier, later *Head, path [][]byte) error {
	if !bytes.Equal(earlier.Log, later.Log) {
		return errors.New("ledger: the heads are of two logs")
	}
	if err := proof.VerifyConsistency(hasher, earlier.Size, later.Size, path, earlier.Root, later.Root); err != nil {
		return fmt.Errorf("ledger: the later head does not extend the earlier one: %w", err)
	}
	return nil
}

const (
	proofType = "SYNOD LEDGER PROOF"
	headType  = "SYNOD LEDGER HEAD"
	maxFile   = 16 << 20
)

// File returns the proof as text: PEM.
func (p *Proof) File() []byte { return toPEM(proofType, p) }

// File returns the head as text: PEM.
func (h *SignedHead) File() []byte { return toPEM(headType, h) }

// ParseProof reads exactly what Proof.File returns.
func ParseProof(text []byte) (*Proof, error) {
	p := new(Proof)
	return p, fromPEM(proofType, text, p)
}

// ParseHead reads exactly what SignedHead.File returns.
func ParseHead(text []byte) (*SignedHead, error) {
	h := new(SignedHead)
	return h, fromPEM(headType, text, h)
}

func toPEM(kind string, v any) []byte {
	return canonical.Text(kind, canonical.Encode(v))
}

func fromPEM(kind string, text []byte, into any) error {
	if len(text) > maxFile {
		return fmt.Errorf("ledger: the file has over %d bytes", maxFile)
	}
	content, ok := canonical.FromText(kind, text)
	if !ok {
		return fmt.Errorf("ledger: the file must begin with -----BEGIN %s-----, and be unchanged", kind)
	}
	if err := canonical.Decode(content, maxFile, into); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}
