package synod

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod/wire"
)

// Slot identifies a message among those of one sender: a name and a round. A sender
// fills each slot once. Receivers keep the first message of a slot and drop others.
type Slot struct {
	Name  string `json:"name"`
	Round int    `json:"round"`
}

// Message is one sender's message in one slot. The transport sets From; the sender
// cannot choose it.
type Message struct {
	From NodeID
	Slot Slot
	Body []byte
}

// MaxBody is the length in bytes of the longest body that is read. A longer one is
// malformed.
const MaxBody = 64 << 10

// MaxLongBody is the length in bytes of the longest Response that is read: an answer of a form that is
// Long, and the rationale beside it.
const MaxLongBody = MaxLong + MaxBody

// Respond is the name of the slot in which members exchange a Response.
const Respond = "respond"

// Response is the message body of answer-sharing protocols.
type Response struct {
	Answer     Answer
	Rationale  string  // the sender's reasoning; the protocol bounds its length
	Confidence float64 // in [0,1], as the sender states it; SAC ignores it
}

// AppendBinary appends a version byte, the confidence, and the two strings with
// their lengths. It never fails.
func (r Response) AppendBinary(b []byte) ([]byte, error) {
	b = append(slices.Grow(b, 1+8+4+len(r.Answer)+4+len(r.Rationale)), 1)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Confidence))
	b = wire.AppendBytes(b, r.Answer)
	return wire.AppendBytes(b, r.Rationale), nil
}

// UnmarshalBinary reads exactly what AppendBinary writes. It fails if the body is
// longer than MaxLongBody, is malformed, or has a confidence outside [0,1].
func (r *Response) UnmarshalBinary(b []byte) error {
	if len(b) < 1+8 || len(b) > MaxLongBody || b[0] != 1 {
		return errResponse
	}
	confidence := math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
	answer, rest, ok := cutBytes(b[1+8:], MaxLong)
	rationale, rest, also := cutBytes(rest, MaxBody)
	if !(confidence >= 0 && confidence <= 1) || !ok || !also || len(rest) > 0 { // NaN too
		return errResponse
	}
	if string(r.Answer) != string(answer) { // a neighbour often repeats its answer: keep that string
		r.Answer = Answer(answer)
	}
	if r.Rationale != string(rationale) {
		r.Rationale = string(rationale)
	}
	r.Confidence = confidence
	return nil
}

var errResponse = fmt.Errorf("synod: response: %w", wire.ErrMalformed)

// briefly is the length in bytes of the longest answer that is its own Brief.
const briefly = 256

// Brief returns the answer, or if it is long, a hash of it.
func (a Answer) Brief() Answer {
	if len(a) <= briefly {
		return a
	}
	return Answer(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(a))))
}

// cutBytes returns a byte string that wire.AppendBytes has written, of at most max bytes, and what
// follows it. A Reader would take twice as long, and a simulation reads millions of responses.
func cutBytes(b []byte, max uint32) (s, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if b = b[4:]; n > max || uint64(n) > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
