package game

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"

	"synod.dev/synod"
)

var errWord = errors.New("game: malformed word")

// word is what a player tells everybody in a round: a number, or that it abstains,
// and a reason. Its private notes have no place in it (I-GM-6).
type word struct {
	value  *int
	reason string
}

// AppendBinary writes a byte that says whether there is a number, the number in
// eight bytes, and the reason.
func (w word) AppendBinary(b []byte) ([]byte, error) {
	if w.value == nil {
		return append(b, 0), nil
	}
	b = binary.BigEndian.AppendUint64(append(b, 1), uint64(int64(*w.value)))
	return append(b, w.reason...), nil
}

// UnmarshalBinary reads exactly what AppendBinary writes.
func (w *word) UnmarshalBinary(b []byte) error {
	switch {
	case len(b) > synod.MaxBody:
		return errWord
	case len(b) == 1 && b[0] == 0:
		*w = word{}
		return nil
	case len(b) < 9 || b[0] != 1:
		return errWord
	}
	v := int(int64(binary.BigEndian.Uint64(b[1:])))
	*w = word{value: &v, reason: string(b[9:])}
	return nil
}

// digest names what was heard. It is whole: of a part of it a liar could find two words.
func digest(w encoding.BinaryAppender) [sha256.Size]byte {
	b, _ := w.AppendBinary(nil) // never fails
	return sha256.Sum256(b)
}

// echo says what a player heard from whom in a round, ascending.
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

// UnmarshalBinary refuses a list that is not ascending, so that nobody is named twice.
func (e *echo) UnmarshalBinary(b []byte) error {
	const size = 4 + sha256.Size
	if len(b)%size != 0 || len(b) > synod.MaxBody {
		return errWord
	}
	all := make(echo, 0, len(b)/size)
	for ; len(b) > 0; b = b[size:] {
		h := heard{synod.NodeID(int32(binary.BigEndian.Uint32(b))), [sha256.Size]byte(b[4:size])}
		if n := len(all); n > 0 && all[n-1].from >= h.from {
			return errWord
		}
		all = append(all, h)
	}
	*e = all
	return nil
}

// of is what was heard from a player.
func (e echo) of(from synod.NodeID) ([sha256.Size]byte, bool) {
	for _, h := range e {
		if h.from == from {
			return h.digest, true
		}
	}
	return [sha256.Size]byte{}, false
}

// ballot is a vote on its way.
type ballot Vote

func (v ballot) AppendBinary(b []byte) ([]byte, error) { return append(b, v...), nil }

func (v *ballot) UnmarshalBinary(b []byte) error {
	switch Vote(b) {
	case Stop, Continue, Abstain:
		*v = ballot(b)
		return nil
	}
	return errWord
}
