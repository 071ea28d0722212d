package ledger

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod/core/sign"
)

// EntryType is the type of what the signature of an entry covers: its encoding without the signature.
const EntryType = "application/vnd.synod.entry+cbor"

// signaturePart begins the name of the last part of an entry that is signed.
const signaturePart = "signature "

// Sign adds the signature of who wrote an entry as its last part.
func (e *Entry) Sign(by string, secret sign.Secret) error {
	b, err := e.Encode()
	if err != nil {
		return err
	}
	e.Parts = append(e.Parts, NewPart(signaturePart+by, secret.SignEnvelope(EntryType, b), true))
	return nil
}

// Claimed returns the name of who is said to have written an entry; "": it is not signed. It checks no signature.
func (e *Entry) Claimed() string {
	if len(e.Parts) == 0 {
		return ""
	}
	by, _ := strings.CutPrefix(e.Parts[len(e.Parts)-1].Name, signaturePart)
	if by == e.Parts[len(e.Parts)-1].Name {
		return ""
	}
	return by
}

// Author returns who has signed an entry. keyOf returns the key of somebody; false: nobody of that name may sign.
func (e *Entry) Author(keyOf func(name string) ([]byte, bool)) (string, error) {
	if len(e.Parts) == 0 {
		return "", errors.New("ledger: the entry is not signed")
	}
	last := &e.Parts[len(e.Parts)-1]
	by, ok := strings.CutPrefix(last.Name, signaturePart)
	key, known := keyOf(by)
	if !ok || !known || len(last.Body) != ed25519.SignatureSize {
		return "", errors.New("ledger: the entry has no signature of somebody who may append")
	}
	unsigned := *e
	unsigned.Parts = slices.Clone(e.Parts[:len(e.Parts)-1])
	b, err := unsigned.Encode()
	if err != nil {
		return "", err
	}
	if !sign.VerifyEnvelope(key, EntryType, b, bytes.Clone(last.Body)) {
		return "", fmt.Errorf("ledger: the signature of %.60q under the entry is not valid", by)
	}
	return by, nil
}
