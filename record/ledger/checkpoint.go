package ledger

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
)

// A head is signed as a checkpoint: a signed note (c2sp.org/signed-note) with the text of c2sp.org/tlog-checkpoint. So
// public witnesses can cosign it (c2sp.org/tlog-cosignature). Heads of before are signed as envelopes with HeadType,
// and still verify.

// The names of keys begin with these. The key of a log has the name of the log's origin.
const (
	originPrefix  = "synod.dev/ledger/"
	witnessPrefix = "synod.dev/witness/"
)

// The algorithms of keys in signed notes.
const (
	algEd25519     = 1
	algCosignature = 4
)

// stampSize is how many bytes of time precede the signature of a cosignature.
const stampSize = 8

// Origin returns the first line of the log's checkpoints, which names the log.
func (h *Head) Origin() string { return originPrefix + hex.EncodeToString(h.Log) }

// Text returns the text of the head's checkpoint: origin, size and root, each in a line. This is what is signed.
func (h *Head) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", h.Origin(), h.Size, base64.StdEncoding.EncodeToString(h.Root))
}

// parseText reads what Text returns.
func parseText(text string) (h Head, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 {
		return h, errors.New("ledger: a checkpoint of a ledger has three lines: origin, size and root")
	}
	log, named := strings.CutPrefix(lines[0], originPrefix)
	if h.Log, err = hex.DecodeString(log); err != nil || !named {
		return h, fmt.Errorf("ledger: the checkpoint is of %.80q, which is no ledger", lines[0])
	}
	if h.Size, err = strconv.ParseUint(lines[1], 10, 64); err != nil {
		return h, fmt.Errorf("ledger: the size of the checkpoint: %w", err)
	}
	if h.Root, err = base64.StdEncoding.DecodeString(lines[2]); err != nil {
		return h, fmt.Errorf("ledger: the root of the checkpoint: %w", err)
	}
	if h.Text() != text {
		return h, errors.New("ledger: the checkpoint is not written in its one form")
	}
	return h, nil
}

// cosigned returns what the cosignature of a checkpoint at a time, in seconds since 1970, covers.
func cosigned(text string, at uint64) []byte {
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, text)
}

// cosign returns a cosignature of a head.
func cosign(secret sign.Secret, h *Head, now time.Time) []byte {
	at := uint64(now.Unix())
	return append(binary.BigEndian.AppendUint64(nil, at), secret.SignNote(cosigned(h.Text(), at))...)
}

// verifyHead reports whether a key has signed or cosigned a head, in the form of today or of before.
func verifyHead(key []byte, h *Head, sig []byte) bool {
	if len(sig) == stampSize+ed25519.SignatureSize {
		text := cosigned(h.Text(), binary.BigEndian.Uint64(sig))
		return sign.VerifyNote(key, text, sig[stampSize:])
	}
	return sign.VerifyNote(key, []byte(h.Text()), sig) || verifyOld(key, h, sig)
}

func verifyOld(key []byte, h *Head, sig []byte) bool {
	return sign.VerifyEnvelope(key, HeadType, canonical.Encode(*h), sig)
}

// Old reports whether those who keep the log have signed the head in the form of before checkpoints. Public witnesses
// cannot cosign such a head.
func (h *SignedHead) Old() bool {
	if !h.Replicated() {
		return verifyOld(h.Head.Log, &h.Head, h.Operator)
	}
	for _, w := range h.Witnesses {
		if verifyOld(w.Key, &h.Head, w.Signature) {
			return true
		}
	}
	return false
}

// Checkpoint returns the head as a signed note: the signatures of the operator or the replicas, then the cosignatures
// of the log's own witnesses. It fails if the head is Old.
func (h *SignedHead) Checkpoint() ([]byte, error) {
	if h.Old() {
		return nil, errors.New("ledger: the head was signed before ledgers had checkpoints: the next entry of an " +
			"operator's ledger renews it, and a new roster begins a ledger of replicas that has them")
	}
	text := h.Head.Text()
	b := []byte(text + "\n")
	if !h.Replicated() {
		b = appendLine(b, h.Head.Origin(), algEd25519, h.Head.Log, h.Operator)
	}
	for _, w := range h.Witnesses {
		if len(w.Signature) == stampSize+ed25519.SignatureSize {
			name := witnessPrefix + hex.EncodeToString(w.Key)
			b = appendLine(b, name, algCosignature, w.Key, w.Signature)
		} else if sign.VerifyNote(w.Key, []byte(text), w.Signature) {
			b = appendLine(b, h.Head.Origin(), algEd25519, w.Key, w.Signature)
		}
	}
	return b, nil
}

// keyID returns what names a key in signature lines.
func keyID(name string, alg byte, key []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), append([]byte{alg}, key...)...))
	return binary.BigEndian.Uint32(sum[:])
}

// appendLine appends a signature line of a note.
func appendLine(b []byte, name string, alg byte, key, sig []byte) []byte {
	id := binary.BigEndian.AppendUint32(nil, keyID(name, alg, key))
	return fmt.Appendf(b, "— %s %s\n", name, base64.StdEncoding.EncodeToString(append(id, sig...)))
}

// VerifierKey returns the key of a log as signed notes name it: NAME+ID+KEY. A witness needs it: of the operator, or of
// any replica.
func VerifierKey(h *Head, key []byte) string { return verifierKey(h.Origin(), algEd25519, key) }

// WitnessKey returns the key of a witness that signs with synod, as VerifierKey does for logs.
func WitnessKey(key []byte) string {
	return verifierKey(witnessPrefix+hex.EncodeToString(key), algCosignature, key)
}

func verifierKey(name string, alg byte, key []byte) string {
	data := base64.StdEncoding.EncodeToString(append([]byte{alg}, key...))
	return fmt.Sprintf("%s+%08x+%s", name, keyID(name, alg, key), data)
}

// Cosigner is a public witness: a name and an Ed25519 key. It implements note.Verifier for its cosignatures.
type Cosigner struct {
	name string
	key  []byte
}

// ParseCosigner reads the key of a witness: NAME+ID+KEY, where KEY begins with the byte 4 (c2sp.org/tlog-cosignature).
func ParseCosigner(vkey string) (*Cosigner, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	id, data, found := strings.Cut(rest, "+")
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !found || len(b) != 1+ed25519.PublicKeySize || b[0] != algCosignature || !sign.CheckKey(b[1:]) {
		return nil, fmt.Errorf("ledger: %.200q is no key of a witness: NAME+ID+KEY, where KEY is an Ed25519 key for "+
			"cosignatures in base64", vkey)
	}
	c := &Cosigner{name, b[1:]}
	if id != fmt.Sprintf("%08x", c.KeyHash()) || name == "" || strings.ContainsAny(name, " \t\r\n") {
		return nil, fmt.Errorf("ledger: the key of the witness %.80q does not have the ID %.20q", name, id)
	}
	return c, nil
}

// Name implements note.Verifier.
func (c *Cosigner) Name() string { return c.name }

// KeyHash implements note.Verifier.
func (c *Cosigner) KeyHash() uint32 { return keyID(c.name, algCosignature, c.key) }

// Verify implements note.Verifier.
func (c *Cosigner) Verify(msg, sig []byte) bool {
	return len(sig) == stampSize+ed25519.SignatureSize &&
		sign.VerifyNote(c.key, cosigned(string(msg), binary.BigEndian.Uint64(sig)), sig[stampSize:])
}

// noteKey is the key of a log. It implements note.Verifier.
type noteKey struct {
	name string
	key  []byte
}

func (k noteKey) Name() string                { return k.name }
func (k noteKey) KeyHash() uint32             { return keyID(k.name, algEd25519, k.key) }
func (k noteKey) Verify(msg, sig []byte) bool { return sign.VerifyNote(k.key, msg, sig) }

// Cosignatures returns the head of a checkpoint, and when each of some witnesses has cosigned it; a witness that has
// not is not in the list. log is the key that must have signed the checkpoint: of the operator, or of one replica.
func Cosignatures(checkpoint, log []byte, witnesses ...*Cosigner) (h Head, at map[string]time.Time, err error) {
	text, _, _ := bytes.Cut(checkpoint, []byte("\n\n"))
	if h, err = parseText(string(text) + "\n"); err != nil {
		return h, nil, err
	}
	known := []note.Verifier{noteKey{h.Origin(), log}}
	for _, w := range witnesses {
		known = append(known, w)
	}
	n, err := note.Open(checkpoint, note.VerifierList(known...))
	if err != nil {
		return h, nil, fmt.Errorf("ledger: the checkpoint: %w", err)
	}
	at, signed := map[string]time.Time{}, false
	for _, s := range n.Sigs {
		if s.Name == h.Origin() {
			signed = true
			continue
		}
		b, err := base64.StdEncoding.DecodeString(s.Base64)
		if err != nil || len(b) < 4+stampSize {
			return h, nil, fmt.Errorf("ledger: the cosignature of %.80q is damaged", s.Name)
		}
		at[s.Name] = time.Unix(int64(binary.BigEndian.Uint64(b[4:])), 0).UTC()
	}
	if !signed {
		return h, nil, errors.New("ledger: the log itself has not signed the checkpoint")
	}
	return h, at, nil
}
