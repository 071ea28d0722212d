package certificate

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"synod.dev/synod/core/sign"
)

// PayloadType is the type of what a certificate's signatures cover.
const PayloadType = "application/vnd.in-toto+json"

// The in-toto names of a Statement: of versions 1 and 2, without and with a Merge, and of version 3.
const (
	predicatePlain  = "https://synod.dev/certificate/v1"
	predicateMerged = "https://synod.dev/certificate/v2"
	predicateThree  = "https://synod.dev/certificate/v3"
)

func (s *Statement) predicateType() string {
	if s.three() {
		return predicateThree
	}
	if s.Merge != nil {
		return predicateMerged
	}
	return predicatePlain
}

// Certificate is a statement and the signatures under it. Its file is a DSSE envelope
// with an in-toto statement, in one spelling: Parse refuses every other.
type Certificate struct {
	Statement  *Statement
	Payload    []byte // what is signed: the in-toto statement
	Signatures []Signature
}

// Signature is one signer's under the payload. Signers stand in the order of their seats.
type Signature struct {
	Key       []byte
	Signature []byte
}

// envelope is the JSON of DSSE.
type envelope struct {
	PayloadType string        `json:"payloadType"`
	Payload     string        `json:"payload"`
	Signatures  []envelopeSig `json:"signatures"`
}

type envelopeSig struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// inToto is the JSON of an in-toto statement. Its subject is the decision (Statement.subject); in versions 1 and 2 it
// was the answer alone.
type inToto struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string `json:"name"`
	Digest digest `json:"digest"`
}

type digest struct {
	SHA256 string `json:"sha256"`
}

type predicate struct {
	CBOR string `json:"cbor"` // the Statement in base64
}

// Payload returns the bytes that signers of the statement sign.
func (s *Statement) Payload() ([]byte, error) {
	b, err := s.Encode()
	if err != nil {
		return nil, err
	}
	return s.payloadOf(b)
}

// payloadOf returns the payload of the statement, of which b is the encoding.
func (s *Statement) payloadOf(b []byte) ([]byte, error) {
	of := subject{"answer", digest{hex.EncodeToString(s.Answer)}}
	if s.three() {
		sum := s.subject()
		of = subject{"decision", digest{hex.EncodeToString(sum[:])}}
	}
	return json.Marshal(inToto{
		Type:          "https://in-toto.io/Statement/v1",
		Subject:       []subject{of},
		PredicateType: s.predicateType(),
		Predicate:     predicate{base64.StdEncoding.EncodeToString(b)},
	})
}

const keyPrefix = "ed25519:"

// File returns the certificate as a file. It does not check the signatures.
func (c *Certificate) File() ([]byte, error) {
	e := envelope{PayloadType, base64.StdEncoding.EncodeToString(c.Payload), []envelopeSig{}}
	for _, s := range c.Signatures {
		e.Signatures = append(e.Signatures, envelopeSig{keyPrefix + hex.EncodeToString(s.Key),
			base64.StdEncoding.EncodeToString(s.Signature)})
	}
	b, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	if b = append(b, '\n'); len(b) > MaxSize {
		return nil, fmt.Errorf("certificate: it has %d bytes; at most %d are allowed", len(b), MaxSize)
	}
	return b, nil
}

// Signed returns the certificate of a statement with one signature.
func Signed(s *Statement, secret sign.Secret) (*Certificate, error) {
	payload, err := s.Payload()
	if err != nil {
		return nil, err
	}
	return &Certificate{s, payload, []Signature{{secret.PublicKey(), secret.SignEnvelope(PayloadType, payload)}}}, nil
}

// errSpelling is the error of a file that says the same in other bytes.
var errSpelling = errors.New("certificate: the file is not in its one allowed spelling; it was changed, or " +
	"written by another program")

// Parse reads exactly what File returns for a statement that Encode accepts. It checks no
// signature: Verify does.
func Parse(file []byte) (*Certificate, error) {
	if len(file) > MaxSize {
		return nil, fmt.Errorf("certificate: it has more than %d bytes", MaxSize)
	}
	var e envelope
	if err := json.Unmarshal(file, &e); err != nil {
		return nil, fmt.Errorf("certificate: it is not a DSSE envelope: %w", err)
	}
	c := new(Certificate)
	var err error
	if c.Payload, err = base64.StdEncoding.Strict().DecodeString(e.Payload); err != nil ||
		e.PayloadType != PayloadType {
		return nil, fmt.Errorf("certificate: the payload is not %s in base64", PayloadType)
	}
	for _, s := range e.Signatures {
		key, err1 := hex.DecodeString(trimPrefix(s.KeyID, keyPrefix))
		sig, err2 := base64.StdEncoding.Strict().DecodeString(s.Sig)
		if err1 != nil || err2 != nil || len(key) != 32 || len(sig) != 64 {
			return nil, errors.New("certificate: a signature is not that of an Ed25519 key")
		}
		c.Signatures = append(c.Signatures, Signature{key, sig})
	}
	if again, err := c.File(); err != nil || !bytes.Equal(again, file) {
		return nil, errSpelling
	}
	return c, c.readPayload()
}

// readPayload decodes the statement in the payload.
func (c *Certificate) readPayload() error {
	var t inToto
	if err := json.Unmarshal(c.Payload, &t); err != nil {
		return fmt.Errorf("certificate: the payload is not an in-toto statement: %w", err)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(t.Predicate.CBOR)
	if err != nil {
		return errors.New("certificate: the predicate is not in base64")
	}
	if c.Statement, err = DecodeStatement(b); err != nil {
		return err
	}
	if again, err := c.Statement.payloadOf(b); err != nil || !bytes.Equal(again, c.Payload) {
		return errSpelling
	}
	return nil
}

// trimPrefix returns "" for a text without the prefix.
func trimPrefix(s, prefix string) string {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return ""
	}
	return s[len(prefix):]
}
