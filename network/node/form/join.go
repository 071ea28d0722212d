package form

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// Joining is an owner's side.
type Joining struct {
	Opening *terms.Opening
	dial    *link.TLS
}

// Join returns an owner's side of an opening.
func Join(o *terms.Opening) (*Joining, error) {
	t, err := link.NewTLS(o.Guest())
	return &Joining{Opening: o, dial: t}, err
}

// Close ends it.
func (j *Joining) Close() error { return j.dial.Close() }

// unreached is the error of a founder's process that does not answer: it may be started again.
type unreached struct{ error }

// ask sends one request to the founder's process.
func (j *Joining) ask(ctx context.Context, r JoinRequest) (p parsed, err error) {
	within, cancel := context.WithTimeout(ctx, frameTime)
	defer cancel()
	s, err := j.dial.Dial(within, j.Opening.Founder, j.Opening.Addresses)
	if err != nil {
		return p, unreached{fmt.Errorf("the founder's node cannot be reached at %v: %w", j.Opening.Addresses, err)}
	}
	conn := link.NewConn(s)
	defer conn.Close()
	defer context.AfterFunc(within, func() { conn.Close() })()
	sum := j.Opening.Sum()
	hello := call.Hello{Version: call.Version, Purpose: call.ToJoin, Roster: sum[:], Clock: time.Now().UnixMicro()}
	var state JoinState
	if err = conn.Send(hello, frameTime); err == nil {
		err = conn.Send(r, frameTime)
	}
	if err == nil {
		err = conn.Receive(maxState, &state, frameTime)
	}
	if err != nil {
		return p, unreached{fmt.Errorf("the founder's node does not answer: %w", err)}
	}
	return state.parse(j.Opening, time.Now())
}

// Look returns the invitation, after its hash was checked, the seats that are free, and the one that a key has
// accepted;
// "": none. It waits for the founder's process, and calls progress with why, once.
func (j *Joining) Look(ctx context.Context, key []byte, progress func(string)) (i *terms.Invitation, free []string,
	mine string, err error) {
	state, err := j.ask(ctx, JoinRequest{})
	for waits := false; errors.As(err, new(unreached)); waits = true {
		if !waits {
			progress(err.Error() + "; it is tried again")
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return nil, nil, "", ctx.Err()
		}
		state, err = j.ask(ctx, JoinRequest{})
	}
	if err != nil {
		return nil, nil, "", err
	}
	p, err := state.invitation.Plan()
	if err != nil {
		return nil, nil, "", err
	}
	for _, id := range seatsOf(p) {
		at := slices.IndexFunc(state.acceptances, func(a *terms.Acceptance) bool { return a.Seat == id })
		if at < 0 {
			free = append(free, id)
		} else if bytes.Equal(state.acceptances[at].Key, key) {
			mine = id
		}
	}
	return state.invitation, free, mine, nil
}

// retry is how often the founder's process is asked for a change.
const retry = time.Second

// Accept accepts a seat, waits until all others have accepted, signs the roster, and waits until all others have signed
// it. The roster has this acceptance and those that the others have signed, and nothing else. progress is called with
// what the owner waits for when that changes.
func (j *Joining) Accept(ctx context.Context, seat string, addresses []string, secret sign.Secret,
	progress func(string)) (*roster.Signed, error) {
	a := j.Opening.Accept(seat, addresses, secret)
	r, last := JoinRequest{Acceptance: a.File(), Key: secret.PublicKey()}, ""
	say := func(text string) {
		if text != last {
			progress(text)
		}
		last = text
	}
	for ctx.Err() == nil {
		state, err := j.ask(ctx, r)
		switch {
		case errors.As(err, new(unreached)):
			say(err.Error() + "; it is tried again")
		case err != nil:
			return nil, err
		case state.signed == nil:
			say(fmt.Sprintf("%d owners have accepted", len(state.acceptances)))
		case len(state.signed.Missing()) == 0:
			return state.signed, errors.Join(holds(state.signed, a), state.signed.Verify())
		case r.Roster == nil:
			if err := holds(state.signed, a); err != nil {
				return nil, err
			}
			hash := state.signed.Hash()
			r = JoinRequest{Roster: hash[:], Key: secret.PublicKey(),
				Signature: secret.SignEnvelope(roster.PayloadType, hash[:])}
			continue
		default:
			say(fmt.Sprintf("%d owners have not signed the roster", len(state.signed.Missing())))
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
		}
	}
	return nil, ctx.Err()
}

// holds fails unless a roster has what was accepted.
func holds(s *roster.Signed, a *terms.Acceptance) error {
	seat, ok := s.Seat(a.Key)
	if !ok || s.Members[seat].ID != a.Seat || !slices.Equal(s.Members[seat].Addresses, a.Addresses) {
		return errors.New("the founder's roster does not have this node's seat and addresses as they were accepted")
	}
	return nil
}
