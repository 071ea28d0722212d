package durable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
)

// ErrDamaged means that a file does not have its checksum.
var ErrDamaged = errors.New("the checksum does not match: the file was changed or damaged")

// Seal adds a checksum to an encoded JSON object that has members: "sum", its first member, is the SHA-256 of the bytes
// of the object without it. It is the first one so that it is still there in an object whose end was lost. The result
// ends with a newline.
func Seal(object []byte) []byte { return AppendSealed(nil, object) }

// AppendSealed appends what Seal returns.
func AppendSealed(b, object []byte) []byte {
	object = bytes.TrimRight(object, "\n")
	sum := sha256.Sum256(object)
	b = slices.Grow(b, len(object)+hex.EncodedLen(len(sum))+len("{\n  \"sum\": \"\",\n  \n"))
	if inner, indented := bytes.CutPrefix(object, []byte("{\n  ")); indented {
		b = hex.AppendEncode(append(b, "{\n  \"sum\": \""...), sum[:])
		return append(append(append(b, "\",\n  "...), inner...), '\n')
	}
	b = hex.AppendEncode(append(b, `{"sum":"`...), sum[:])
	return append(append(append(b, `",`...), bytes.TrimPrefix(object, []byte("{"))...), '\n')
}

// EncodeSealed encodes v, which must become an object with members, and seals it.
func EncodeSealed(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Seal(b), nil
}

// seal is the beginning of a sealed object, indented or not.
var seal = regexp.MustCompile(`^(?:{(\n  )"sum": "([0-9a-f]{64})",\n  |{"sum":"([0-9a-f]{64})",)`)

// Unseal returns an object without its checksum. sealed is false for an object without one, which is returned as it is.
// The error is ErrDamaged if the checksum is not that of the object.
func Unseal(b []byte) (object []byte, sealed bool, err error) {
	start := seal.FindSubmatch(b)
	if start == nil {
		return b, false, nil
	}
	inner, ended := bytes.CutSuffix(b[len(start[0]):], []byte("\n"))
	object = slices.Concat([]byte("{"), start[1], inner)
	sum := sha256.Sum256(object)
	if !ended || hex.EncodeToString(sum[:]) != string(start[2])+string(start[3]) {
		return nil, true, ErrDamaged
	}
	return object, true, nil
}

// Bare returns a sealed object without its checksum, or not sealed at all, as it is.
func Bare(b []byte) []byte {
	if object, _, err := Unseal(b); err == nil {
		return object
	}
	return b
}

// DecodeSealed decodes an object that may be sealed. v must have no member "sum": then a damaged checksum is no
// checksum but an unknown member, and unknown members are errors.
func DecodeSealed(b []byte, v any) (sealed bool, err error) {
	object, sealed, err := Unseal(b)
	if err != nil {
		return sealed, err
	}
	d := json.NewDecoder(bytes.NewReader(object))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return sealed, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return sealed, errors.New("something follows the object")
	}
	return sealed, nil
}
