package durable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// ErrDamaged means that a file does not have its checksum.
var ErrDamaged = errors.New("the checksum does not match: the file was changed or damaged")

// Seal adds a checksum to an encoded JSON object that has members: "sum", its last member, is the SHA-256 of the bytes
// of the object without it. The result ends with a newline.
func Seal(object []byte) []byte {
	object = bytes.TrimRight(object, "\n")
	sum := sha256.Sum256(object)
	if inner, indented := bytes.CutSuffix(object, []byte("\n}")); indented {
		return fmt.Appendf(bytes.Clone(inner), ",\n  \"sum\": \"%x\"\n}\n", sum)
	}
	return fmt.Appendf(bytes.Clone(bytes.TrimSuffix(object, []byte("}"))), ",\"sum\":\"%x\"}\n", sum)
}

// EncodeSealed encodes v, which must become an object with members, and seals it.
func EncodeSealed(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Seal(b), nil
}

// seal is the end of a sealed object, indented or not.
var seal = regexp.MustCompile(`(?:,\n  "sum": "([0-9a-f]{64})"(\n)}\n|,"sum":"([0-9a-f]{64})"}\n)$`)

// Unseal returns an object without its checksum. sealed is false for an object without one, which is returned as it is.
// The error is ErrDamaged if the checksum is not that of the object.
func Unseal(b []byte) (object []byte, sealed bool, err error) {
	end := seal.FindSubmatch(b[max(0, len(b)-128):])
	if end == nil {
		return b, false, nil
	}
	object = bytes.Clone(bytes.TrimSuffix(b, end[0]))
	object = append(append(object, end[2]...), '}')
	sum := sha256.Sum256(object)
	if hex.EncodeToString(sum[:]) != string(end[1])+string(end[3]) {
		return nil, true, ErrDamaged
	}
	return object, true, nil
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
