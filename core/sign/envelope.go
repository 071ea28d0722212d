package sign

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"strconv"
)

// preAuth returns the bytes that a signature of a DSSE envelope covers: the
// pre-authentication encoding of DSSE v1. They never begin like the statements of a run,
// so a signature of one kind is no signature of the other.
func preAuth(payloadType string, payload []byte) []byte {
	b := make([]byte, 0, 64+len(payloadType)+len(payload))
	b = append(b, "DSSEv1 "...)
	b = append(strconv.AppendInt(b, int64(len(payloadType)), 10), ' ')
	b = append(append(b, payloadType...), ' ')
	b = append(strconv.AppendInt(b, int64(len(payload)), 10), ' ')
	return append(b, payload...)
}

// SignEnvelope signs the payload of a DSSE envelope with the secret's key.
func (s Secret) SignEnvelope(payloadType string, payload []byte) []byte {
	return ed25519.Sign(s.own().key, preAuth(payloadType, payload))
}

// VerifyEnvelope reports whether the key signed the payload of a DSSE envelope. It refuses
// keys that CheckKey refuses.
func VerifyEnvelope(key []byte, payloadType string, payload, sig []byte) bool {
	return CheckKey(key) && ed25519.Verify(key, preAuth(payloadType, payload), sig)
}

// smallOrder has the y-coordinates of all points of small order, in every encoding that
// ed25519.Verify reads, in hexadecimal. Everybody can sign for such a key.
var smallOrder = map[string]bool{
	"0000000000000000000000000000000000000000000000000000000000000000": true,
	"0100000000000000000000000000000000000000000000000000000000000000": true,
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05": true,
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a": true,
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f": true,
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f": true,
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f": true,
}

// CheckKey reports whether key can be the public key of a signer: 32 bytes, and no point
// of small order, for which everybody can sign (SC-15).
func CheckKey(key []byte) bool {
	if len(key) != ed25519.PublicKeySize {
		return false
	}
	y := [ed25519.PublicKeySize]byte(key)
	y[len(y)-1] &= 0x7f // the sign of x
	return !smallOrder[hex.EncodeToString(y[:])]
}

// LinkKey returns the key with which the owner proves on a connection who it is. TLS and Noise
// sign texts that begin with names of their own, so that no signature on a connection is one under
// an envelope or a statement of a run. It must not be changed.
func (s Secret) LinkKey() ed25519.PrivateKey { return s.own().key }

// SignNote signs the text of a signed note (c2sp.org/signed-note). It panics if the text begins like an envelope or a
// statement of a run: then a signature of one kind would be one of the other.
func (s Secret) SignNote(text []byte) []byte {
	if !isNote(text) {
		panic("sign: the text of a note begins like another kind of what is signed")
	}
	return ed25519.Sign(s.own().key, text)
}

// VerifyNote reports whether the key signed the text of a signed note. It refuses keys that CheckKey refuses.
func VerifyNote(key []byte, text, sig []byte) bool {
	return isNote(text) && CheckKey(key) && len(sig) == ed25519.SignatureSize && ed25519.Verify(key, text, sig)
}

// isNote reports whether a text is that of a note: it ends in a line break, and begins like nothing else that is
// signed.
func isNote(text []byte) bool {
	return bytes.HasSuffix(text, []byte("\n")) && !bytes.HasPrefix(text, []byte("DSSEv1 ")) &&
		!bytes.HasPrefix(text, []byte("synod/signature/")) && !bytes.HasPrefix(text, []byte("    "))
}
