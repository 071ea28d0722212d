package synod

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Slot is the place in a protocol that a message fills. A sender fills a slot
// once: receivers keep its first word and drop the rest.
type Slot struct {
	Name  string `json:"name"`
	Round int    `json:"round"`
}

// Message is one sender's word for one slot. Whoever delivers it sets From; a
// sender cannot choose it.
type Message struct {
	From NodeID
	Slot Slot
	Body []byte
}

// MaxBody is the longest body, in bytes, that is read; longer is unreadable.
const MaxBody = 64 << 10

// Respond is the slot name under which members exchange a Response.
const Respond = "respond"

// Response is the body that members exchange in answer-sharing protocols.
// Confidence is the sender's own claim about itself: SAC never looks at it.
type Response struct {
	Answer     Answer
	Rationale  string  // bounded by the protocol that uses it
	Confidence float64 // in [0,1]
}

var errBody = errors.New("synod: malformed response")

// AppendBinary writes a version byte, the confidence, and the two strings with
// their lengths.
func (r Response) AppendBinary(b []byte) ([]byte, error) {
	b = append(slices.Grow(b, 1+8+4+len(r.Answer)+4+len(r.Rationale)), 1)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Confidence))
	b = appendString(b, string(r.Answer))
	return appendString(b, r.Rationale), nil
}

// UnmarshalBinary reads exactly what AppendBinary writes and nothing else.
func (r *Response) UnmarshalBinary(b []byte) error {
	if len(b) > MaxBody {
		return fmt.Errorf("%w: %d bytes", errBody, len(b))
	}
	if len(b) < 9 || b[0] != 1 {
		return errBody
	}
	c := math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
	if !(c >= 0 && c <= 1) { // NaN too
		return fmt.Errorf("%w: confidence outside [0,1]", errBody)
	}
	answer, rest, ok := cutString(b[9:])
	if !ok {
		return errBody
	}
	rationale, rest, ok := cutString(rest)
	if !ok || len(rest) != 0 {
		return errBody
	}
	*r = Response{Answer: Answer(answer), Rationale: rationale, Confidence: c}
	return nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

func cutString(b []byte) (s string, rest []byte, ok bool) {
	if len(b) < 4 {
		return "", nil, false
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	if uint64(n) > uint64(len(b)) {
		return "", nil, false
	}
	return string(b[:n]), b[n:], true
}
