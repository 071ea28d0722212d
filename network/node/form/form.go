// Package form forms a council over the network: its founder's process takes the acceptances of the owners of the
// seats, makes the roster of them, and collects the signatures of all. An owner needs the opening (terms.Opening), one
// line of text.
//
// Nobody needs to trust the founder's process more than files that he sends: an owner takes the invitation only if its
// hash is in the opening, which the founder has signed, makes the roster of the acceptances once more before signing
// it, and takes
// a roster that all members have signed.
//
// The package has rank 7, like package node: it needs terms.
package form

import (
	"errors"
	"time"

	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// JoinRequest is what an owner sends on a stream whose hello has the purpose call.ToJoin and the sum of the opening.
// There is one for each stream.
type JoinRequest struct {
	_          struct{} `cbor:",toarray"`
	Acceptance []byte   // file of a terms.Acceptance; empty: none
	Roster     []byte   // hash of the roster that is signed; empty: none
	Signature  []byte   // under Roster, by Key
	Key        []byte   // of the owner; empty: it only looks
}

// JoinState is the reply to a request.
type JoinState struct {
	_           struct{} `cbor:",toarray"`
	Refused     string   // why the request was refused; "": it was not
	Invitation  []byte   // file of the terms.Invitation
	Acceptances [][]byte // files of those that have come
	Roster      []byte   // file of the roster, once all have accepted
}

// The limits of frames, in bytes, and of times.
const (
	maxRequest = 32 << 10
	maxState   = 8 << 20
	frameTime  = 10 * time.Second
)

// parsed is a JoinState that was read.
type parsed struct {
	invitation  *terms.Invitation
	acceptances []*terms.Acceptance
	signed      *roster.Signed // nil: not all have accepted
}

// parse reads a state and checks that it is of an opening.
func (s *JoinState) parse(o *terms.Opening, now time.Time) (p parsed, err error) {
	if s.Refused != "" {
		return p, refusal(s.Refused)
	}
	if p.invitation, err = terms.ParseInvitation(s.Invitation); err != nil {
		return p, err
	}
	if err := o.Check(p.invitation, now); err != nil {
		return p, err
	}
	for _, b := range s.Acceptances {
		a, err := terms.ParseAcceptance(b)
		if err != nil {
			return p, err
		}
		p.acceptances = append(p.acceptances, a)
	}
	if len(s.Roster) == 0 {
		return p, nil
	}
	if p.signed, err = roster.Parse(s.Roster); err != nil {
		return p, err
	}
	own, err := o.Roster(p.invitation, p.acceptances)
	if err != nil {
		return p, err
	}
	if own.Hash() != p.signed.Hash() {
		return p, errors.New("the founder's roster is not the one that follows from the invitation and the acceptances")
	}
	return p, nil
}

// refusal is a founder's reason not to take something. The founder's process has written the text.
type refusal string

func (r refusal) Error() string { return "the founder's node refused: " + string(r) }
