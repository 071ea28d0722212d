package roster

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Replaces fails unless a council that plays a roster may go over to s: s is the successor of that roster, a Quorum of
// whose members have signed it, and so has every member whose key that roster does not have.
//
// Verify alone is not enough for a council in operation: a roster that all its members have signed stands by itself,
// and a single member of the roster in force can make one whose other members he has invented.
func (s *Signed) Replaces(inForce *Signed) error {
	next := Signed{Roster: s.Roster, Signatures: s.Signatures, Before: inForce}
	if err := errors.Join(s.Roster.Validate(), next.follows()); err != nil {
		return err
	}
	if err := next.checkSignatures(); err != nil {
		return err
	}
	return next.changed()
}

// Steps returns the rosters by which a council goes from one to s, s last: those that the file of s has. It fails
// if they do not lead back to that roster, or if one of them does not replace the one before it.
func (s *Signed) Steps(from *Signed) ([]*Signed, error) {
	var steps []*Signed
	at := s
	for ; at != nil && at.Hash() != from.Hash(); at = at.Before {
		steps = append(steps, at)
		hash := from.Hash()
		if bytes.Equal(at.Previous, hash[:]) {
			break // its file need not have the roster before it
		}
	}
	if at == nil {
		return nil, fmt.Errorf("roster: the roster %.16s, serial %d, does not follow from %.16s, serial %d",
			s.HexHash(),
			s.Serial, from.HexHash(), from.Serial)
	}
	slices.Reverse(steps)
	for i, before := 0, from; i < len(steps); i, before = i+1, steps[i] {
		if err := steps[i].Replaces(before); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// Both returns the keys that have signed two rosters, ascending. If the two replace the same roster, their owners have
// signed two successors of it, which an honest member never does; and if both have a Quorum, more than F have.
func Both(a, b *Signed) (keys [][]byte) {
	for _, sig := range a.Signatures {
		if a.SignedBy(sig.Key) && b.SignedBy(sig.Key) {
			keys = append(keys, sig.Key)
		}
	}
	return keys
}

// Earlier returns the roster with a hash that the file of s has: s itself, or one before it. Every roster names the
// hash
// of the one that it replaces, so who trusts s knows that these are the rosters that the council has had. It is nil
// if there is none with this hash, or if not enough have signed it.
func (s *Signed) Earlier(hash []byte) *Signed {
	for at := s; at != nil; at = at.Before {
		if own := at.Hash(); bytes.Equal(own[:], hash) {
			if at.Verify() != nil {
				return nil
			}
			return at
		}
		if at.Before != nil && at.follows() != nil {
			return nil
		}
	}
	return nil
}
