// Package canonical encodes values in CBOR so that every value has one encoding: core
// deterministic encoding (RFC 8949, 4.2.1), and structs as arrays in the order of their fields.
// Decode refuses every other encoding of the same value, so what is signed or hashed cannot be
// changed without being noticed.
//
// Its rank is 0: roster and link use it. It uses fxamacker/cbor, the maintained CBOR library that
// has limits against hostile input.
package canonical

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

var encoding = must(func() (cbor.EncMode, error) {
	o := cbor.CoreDetEncOptions()
	o.NilContainers = cbor.NilContainerAsEmpty // nil and empty are one value, so they need one encoding
	o.TagsMd = cbor.TagsForbidden
	return o.EncMode()
})

var decoding = must(func() (cbor.DecMode, error) {
	return cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		MaxNestedLevels: 8, MaxArrayElements: maxElements, MaxMapPairs: 16, UTF8: cbor.UTF8RejectInvalid,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField, FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		NaN: cbor.NaNDecodeForbidden, Inf: cbor.InfDecodeForbidden,
	}.DecMode()
})

// maxElements bounds the elements of one array. CBOR checks it before it allocates.
const maxElements = 1 << 17

func must[T any](make func() (T, error)) T {
	m, err := make()
	if err != nil {
		panic("canonical: " + err.Error()) // the options are constants
	}
	return m
}

// Encode returns the encoding of a value whose structs have the tag `cbor:",toarray"`. It panics
// for types that cannot be encoded, such as channels.
func Encode(v any) []byte {
	b, err := encoding.Marshal(v)
	if err != nil {
		panic("canonical: " + err.Error())
	}
	return b
}

// Decode reads exactly one value of at most max bytes into a pointer, and fails unless b is its
// encoding by Encode.
func Decode(b []byte, max int, into any) error {
	if len(b) > max {
		return fmt.Errorf("it has %d bytes; at most %d are read", len(b), max)
	}
	if err := decoding.Unmarshal(b, into); err != nil {
		return err
	}
	again, err := encoding.Marshal(into)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, b) {
		return errors.New("it is not in canonical form")
	}
	return nil
}
