package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"synod.dev/synod/core/sign"
)

// Witness signs heads of one log that extend all that it has signed before. The caller keeps
// Last on disk and writes it before it hands a signature out.
type Witness struct {
	Secret sign.Secret
	Log    []byte      // names the log: the key of its operator; not read with Replicas
	Group  *Replicas   // the replicas that keep the log; nil: it has an operator
	Last   *SignedHead // the last head that it signed; nil: none yet

	// Now is the clock whose seconds its signatures state; nil: time.Now.
	Now func() time.Time
}

// check checks who has signed a head of the log.
func (w *Witness) check(h *SignedHead) error {
	if w.Group != nil {
		return h.VerifyGroup(w.Group)
	}
	return h.Verify(w.Log)
}

// ForkError reports two heads that the operator of a log, or two quorums of its replicas, have signed
// and of which neither extends the other. Anybody can verify this: the heads are enough if they have
// one size. Two quorums show that more than f replicas are Byzantine.
type ForkError struct {
	Earlier, Later *SignedHead
	Err            error
}

// Error names both heads.
func (e *ForkError) Error() string {
	who := "its operator"
	if e.Earlier.Replicated() {
		who = "quorums of its replicas"
	}
	return fmt.Sprintf("ledger: the log %x is forked: %s signed %d entries with the root %x, and %d with %x: %v",
		e.Earlier.Head.Log, who, e.Earlier.Head.Size, e.Earlier.Head.Root, e.Later.Head.Size, e.Later.Head.Root, e.Err)
}

func (e *ForkError) Unwrap() error { return e.Err }

// File returns both heads as text, which ParseFork reads.
func (e *ForkError) File() []byte { return append(e.Earlier.File(), e.Later.File()...) }

// ParseFork reads two heads as ForkError.File returns them, and checks their signatures (SignedHead.Check). It fails
// unless they are of one log and differ.
func ParseFork(text []byte) (*ForkError, error) {
	at := bytes.Index(text, []byte("-----\n-----BEGIN "))
	if at < 0 {
		return nil, errors.New("ledger: the file does not have two heads")
	}
	one, err := ParseHead(text[:at+len("-----\n")])
	if err != nil {
		return nil, err
	}
	two, err := ParseHead(text[at+len("-----\n"):])
	if err != nil {
		return nil, err
	}
	if err := errors.Join(one.Check(), two.Check()); err != nil {
		return nil, err
	}
	if !bytes.Equal(one.Head.Log, two.Head.Log) || one.Replicated() != two.Replicated() {
		return nil, errors.New("ledger: the heads are of two logs")
	}
	if one.Head.Text() == two.Head.Text() {
		return nil, errors.New("ledger: the two heads are one")
	}
	return &ForkError{one, two, nil}, nil
}

// Proved reports whether the two heads alone prove that their signers forked the log: they have one size, and so two
// roots. With two sizes, who has the entries of one of them can find out whether it extends the other.
func (e *ForkError) Proved() bool { return e.Earlier.Head.Size == e.Later.Head.Size }

// Sign returns the witness's signature under a head, with the proof that it extends the last
// one. A head that is older than the last one, or does not extend it, is a *ForkError: the
// log was forked, or replaced by an older copy.
func (w *Witness) Sign(h *SignedHead, path [][]byte) (Signature, error) {
	if err := w.check(h); err != nil {
		return Signature{}, err
	}
	if w.Last != nil {
		if h.Head.Size < w.Last.Head.Size {
			return Signature{}, &ForkError{w.Last, h, fmt.Errorf("the log was longer")}
		}
		if err := Extends(&w.Last.Head, &h.Head, path); err != nil {
			return Signature{}, &ForkError{w.Last, h, err}
		}
	}
	last, now := *h, time.Now
	if w.Now != nil {
		now = w.Now
	}
	w.Last = &last
	return Signature{Key: w.Secret.PublicKey(), Signature: cosign(w.Secret, &h.Head, now())}, nil
}

// Add adds a witness's signature to a head, if it is valid.
func (h *SignedHead) Add(s Signature) error {
	if !verifyHead(s.Key, &h.Head, s.Signature) {
		return fmt.Errorf("ledger: the signature of the witness %x is not valid", s.Key)
	}
	at, known := slices.BinarySearchFunc(h.Witnesses, s.Key,
		func(a Signature, key []byte) int { return bytes.Compare(a.Key, key) })
	if known && verifyOld(s.Key, &h.Head, h.Witnesses[at].Signature) {
		h.Witnesses[at] = s // public witnesses read it, and not the one of before
	}
	if !known {
		h.Witnesses = slices.Insert(h.Witnesses, at, s)
	}
	return nil
}
