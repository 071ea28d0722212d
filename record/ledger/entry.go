// Package ledger records decisions so that nobody can change or remove one unnoticed.
//
// A Ledger is a list of entries with a Merkle tree (RFC 6962) over them. Heads say how many
// entries there are and what the root of their tree is. An inclusion proof shows that an entry
// is under a head, a consistency proof that a later head extends an earlier one. There are
// three kinds:
//
//   - Log (Open) has one operator, who signs heads. A Witness remembers the last head that it
//     saw and signs the next only if that extends it, so an operator who shows two readers
//     different logs needs two sets of witnesses. Without witnesses a log that was replaced
//     by an older copy looks valid (LE-6).
//   - package record/ledger/smartbft and package record/ledger/cometbft keep the log on replicas (Replicas), by
//     consensus: a quorum of them signs each head. They are modules of their own; each replica
//     stores its log with OpenReplica.
//
// A decision never waits for a ledger: a Keeper writes it to a queue on disk, and from there to
// the ledger as soon as that takes it.
//
//	log, err := ledger.Open(dir, secret)
//	defer log.Close()
//	at, err := log.Append(ctx, entry)          // on disk when it returns
//	proof, err := log.Prove(at)
//	err = proof.Verify(key)
//
// Entries hold hashes; bodies are kept only if the caller asks for it (SC-32). The tree is
// transparency-dev/merkle. The package has rank 2: it uses sign and internal/canonical.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"synod.dev/synod/internal/canonical"
)

// Format is the version of entries.
const Format = "synod/decision/1"

// Entry is one decision.
type Entry struct {
	_        struct{} `cbor:",toarray"`
	Format   string   // Format
	Instance string   // identifies the run
	Council  []byte   // hash of the roster or the plan
	Parts    []Part   // what was asked, answered, graded and signed
}

// Part is a named text of a decision: its hash, and its body if that is kept.
type Part struct {
	_    struct{} `cbor:",toarray"`
	Name string   // "question", "answer", or "record SEAT"
	Sum  []byte   // SHA-256 of the body
	Body []byte   // empty: only the hash is kept
}

// Limits of entries.
const (
	maxEntry = 8 << 20 // bytes
	maxName  = 512
	maxParts = 4096
)

// NewPart returns a part with its hash, and with its body if keep is set.
func NewPart(name string, body []byte, keep bool) Part {
	sum := sha256.Sum256(body)
	p := Part{Name: name, Sum: sum[:], Body: []byte{}}
	if keep {
		p.Body = bytes.Clone(body)
	}
	return p
}

// Encode checks an entry and returns its one encoding.
func (e *Entry) Encode() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	b := canonical.Encode(e)
	if len(b) > maxEntry {
		return nil, fmt.Errorf("ledger: the entry has %d bytes; at most %d are allowed: keep hashes only", len(b),
			maxEntry)
	}
	return b, nil
}

// DecodeEntry reads what Encode returns.
func DecodeEntry(b []byte) (*Entry, error) {
	e := new(Entry)
	if err := canonical.Decode(b, maxEntry, e); err != nil {
		return nil, fmt.Errorf("ledger: an entry: %w", err)
	}
	return e, e.check()
}

func (e *Entry) check() error {
	switch {
	case e.Format != Format:
		return fmt.Errorf("ledger: the entry begins with %.40q; this program reads %q", e.Format, Format)
	case e.Instance == "" || len(e.Instance) > maxName:
		return errors.New("ledger: the entry names no run, or one with a name of over 512 bytes")
	case len(e.Council) != sha256.Size:
		return errors.New("ledger: the hash of the entry's council is not a SHA-256")
	case len(e.Parts) > maxParts:
		return fmt.Errorf("ledger: the entry has %d parts; at most %d are allowed", len(e.Parts), maxParts)
	}
	for _, p := range e.Parts {
		sum := sha256.Sum256(p.Body)
		switch {
		case len(p.Name) > maxName || len(p.Sum) != sha256.Size:
			return errors.New("ledger: a part of the entry has a long name or no SHA-256")
		case len(p.Body) > 0 && !bytes.Equal(sum[:], p.Sum):
			return fmt.Errorf("ledger: the body of part %.60q does not have its hash", p.Name)
		}
	}
	return nil
}
