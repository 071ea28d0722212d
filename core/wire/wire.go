// Package wire reads and writes the bodies of messages.
//
// A body begins with a version byte. Numbers are big-endian. A byte string stands
// after its length in four bytes. What a Reader accepts is exactly what the
// functions of this package write, so every value has one encoding.
//
// The package has the lowest rank: the root package encodes its Response with it.
package wire

import (
	"encoding/binary"
	"errors"
)

// ErrMalformed is the error of Reader.End for a body that is not well-formed.
var ErrMalformed = errors.New("malformed message")

// AppendBytes appends the length of s in four bytes, and s.
func AppendBytes[T ~string | ~[]byte](b []byte, s T) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// Reader takes a body apart. After the first part that is missing or out of its
// bounds, every call returns a zero value, and End returns ErrMalformed.
type Reader struct {
	rest []byte
	bad  bool
}

// NewReader returns a Reader of a body that has at most max bytes.
func NewReader(body []byte, max int) *Reader {
	return &Reader{rest: body, bad: len(body) > max}
}

// Version fails unless the next byte is v.
func (r *Reader) Version(v byte) {
	r.Require(r.Uint(1) == uint64(v))
}

// Uint reads an unsigned number of 1 to 8 bytes.
func (r *Reader) Uint(bytes int) (n uint64) {
	b := r.Fixed(bytes)
	if len(b) == 8 {
		return binary.BigEndian.Uint64(b)
	}
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return n
}

// Fixed reads n bytes, where n is not negative. The result shares the body's memory.
func (r *Reader) Fixed(n int) []byte {
	if r.bad = r.bad || n > len(r.rest); r.bad {
		return nil
	}
	s := r.rest[:n:n]
	r.rest = r.rest[n:]
	return s
}

// Bytes reads a byte string of at most max bytes. The result shares the body's memory.
func (r *Reader) Bytes(max int) []byte {
	n := r.Uint(4)
	r.Require(n <= uint64(max))
	if r.bad {
		return nil
	}
	return r.Fixed(int(n))
}

// Rest reads all that is left.
func (r *Reader) Rest() []byte { return r.Fixed(len(r.rest)) }

// Require makes the body malformed unless ok holds.
func (r *Reader) Require(ok bool) { r.bad = r.bad || !ok }

// Bad reports that the body is malformed as far as it was read.
func (r *Reader) Bad() bool { return r.bad }

// Len returns how many bytes are left to read.
func (r *Reader) Len() int { return len(r.rest) }

// End returns ErrMalformed if the body was malformed or if bytes are left.
func (r *Reader) End() error {
	if r.bad || len(r.rest) > 0 {
		return ErrMalformed
	}
	return nil
}
