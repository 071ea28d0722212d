package game

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"

	"synod.dev/synod"
	"synod.dev/synod/core/wire"
)

// proposalMessage is a player's message of a round: a number, or that it abstains, and a reason. It does
// not contain the player's private notes (I-GM-6).
type proposalMessage struct {
	value  *int
	reason string
}

// AppendBinary writes a byte that says whether there is a number, the number in eight bytes,
// and the reason.
func (w proposalMessage) AppendBinary(b []byte) ([]byte, error) {
	if w.value == nil {
		return append(b, 0), nil
	}
	b = binary.BigEndian.AppendUint64(append(b, 1), uint64(int64(*w.value)))
	return append(b, w.reason...), nil
}

// UnmarshalBinary reads exactly what AppendBinary writes.
func (w *proposalMessage) UnmarshalBinary(b []byte) error {
	r := wire.NewReader(b, synod.MaxBody)
	var in proposalMessage
	if r.Uint(1) == 1 {
		v := int(int64(r.Uint(8)))
		in = proposalMessage{value: &v, reason: string(r.Rest())}
	} else {
		r.Require(len(b) == 1 && b[0] == 0)
	}
	if err := r.End(); err != nil {
		return err
	}
	*w = in
	return nil
}

// digest returns the digest of a message. It is not shortened, so that a Byzantine player
// cannot find two messages with the same digest.
func digest(w encoding.BinaryAppender) [sha256.Size]byte {
	b, _ := w.AppendBinary(nil) // never fails
	return sha256.Sum256(b)
}

// echo has the digests of what a player received in a round, ascending by sender.
type echo []heard

type heard struct {
	from   synod.NodeID
	digest [sha256.Size]byte
}

func (e echo) AppendBinary(b []byte) ([]byte, error) {
	for _, h := range e {
		b = append(binary.BigEndian.AppendUint32(b, uint32(h.from)), h.digest[:]...)
	}
	return b, nil
}

// UnmarshalBinary rejects a list that is not ascending, so that no sender occurs twice.
func (e *echo) UnmarshalBinary(b []byte) error {
	const size = 4 + sha256.Size
	if len(b)%size != 0 || len(b) > synod.MaxBody {
		return wire.ErrMalformed
	}
	all := make(echo, 0, len(b)/size)
	for ; len(b) > 0; b = b[size:] {
		h := heard{synod.NodeID(int32(binary.BigEndian.Uint32(b))), [sha256.Size]byte(b[4:size])}
		if n := len(all); n > 0 && all[n-1].from >= h.from {
			return wire.ErrMalformed
		}
		all = append(all, h)
	}
	*e = all
	return nil
}

// of returns the digest of what was received from a player.
func (e echo) of(from synod.NodeID) ([sha256.Size]byte, bool) {
	for _, h := range e {
		if h.from == from {
			return h.digest, true
		}
	}
	return [sha256.Size]byte{}, false
}

// word is a vote as a message of the paper's end.
type word Vote

func (v word) AppendBinary(b []byte) ([]byte, error) { return append(b, v...), nil }

func (v *word) UnmarshalBinary(b []byte) error {
	switch Vote(b) {
	case Stop, Continue, Abstain:
		*v = word(b)
		return nil
	}
	return wire.ErrMalformed
}
