package form

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// Desk is the founder's side: it takes acceptances and signatures, and gives everybody the state. What it has taken is
// on disk before it replies, so a process that was ended goes on where it was.
type Desk struct {
	opening    *terms.Opening
	invitation *terms.Invitation
	seats      []string
	secret     sign.Secret
	dir        string
	now        func() time.Time

	mu          sync.Mutex
	acceptances []*terms.Acceptance // by time
	signed      *roster.Signed      // nil: not all have accepted
	given       map[string]bool     // keys to which the complete roster was given
	changed     chan struct{}       // closed when the state changes
}

// The files of a desk in its folder. An acceptance is in the file SEAT.join.
const (
	OpeningFile    = "council.link"
	InvitationFile = "council.invitation"
	RosterFile     = "council.roster"
	joinSuffix     = ".join"
)

// OpenDesk opens the desk in a folder: the one that is there, if it is for the same invitation, or a new one whose
// opening open makes.
func OpenDesk(dir string, i *terms.Invitation, secret sign.Secret, open func() (*terms.Opening, error)) (*Desk, error) {
	d := &Desk{dir: dir, secret: secret, now: time.Now, given: map[string]bool{}, changed: make(chan struct{})}
	err := d.load()
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		d.invitation = i
		if d.opening, err = open(); err == nil {
			err = durable.WriteFile(filepath.Join(dir, InvitationFile), i.File())
		}
		if err == nil { // last: from now on the desk is there
			err = durable.WriteFile(filepath.Join(dir, OpeningFile), []byte(d.opening.Text()+"\n"))
		}
	}
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(d.invitation.File(), i.File()) || !bytes.Equal(d.opening.Founder, secret.PublicKey()) {
		return nil, fmt.Errorf("the folder %s has the invitation to another council, or of another founder: remove it "+
			"to begin anew", dir)
	}
	p, err := i.Plan()
	if err != nil {
		return nil, err
	}
	d.seats = seatsOf(p)
	return d, nil
}

func seatsOf(p *plan.Plan) (ids []string) {
	for _, s := range p.Seats() {
		ids = append(ids, s.ID)
	}
	return ids
}

// ReadDesk reads the desk in a folder, to show it.
func ReadDesk(dir string) (*Desk, error) {
	d := &Desk{dir: dir, now: time.Now}
	if err := d.load(); err != nil {
		return nil, err
	}
	p, err := d.invitation.Plan()
	if err != nil {
		return nil, err
	}
	d.seats = seatsOf(p)
	return d, nil
}

// load reads the files. The error is fs.ErrNotExist if there is no desk.
func (d *Desk) load() error {
	text, err := durable.ReadFile(filepath.Join(d.dir, OpeningFile), terms.MaxOpening+1)
	if err != nil {
		return err
	}
	if d.opening, err = terms.ParseOpening(string(text)); err != nil {
		return err
	}
	b, err := durable.ReadFile(filepath.Join(d.dir, InvitationFile), 2*roster.MaxBytes)
	if err != nil {
		return fmt.Errorf("%s: %w", InvitationFile, err)
	}
	if d.invitation, err = terms.ParseInvitation(b); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(d.dir, "*"+joinSuffix))
	if err != nil {
		return err
	}
	for _, file := range files {
		if b, err = durable.ReadFile(file, maxRequest); err != nil {
			return err
		}
		a, err := terms.ParseAcceptance(b)
		if err == nil {
			err = d.opening.Add(d.members(), a)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		d.acceptances = append(d.acceptances, a)
	}
	b, err = durable.ReadFile(filepath.Join(d.dir, RosterFile), 2*roster.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		d.signed, err = roster.Parse(b)
	}
	return err
}

func (d *Desk) members() map[string]roster.Member {
	all := map[string]roster.Member{}
	for _, a := range d.acceptances {
		all[a.Seat] = roster.Member{Key: a.Key, Addresses: a.Addresses}
	}
	return all
}

// Opening returns the opening that owners join with.
func (d *Desk) Opening() *terms.Opening { return d.opening }

// RosterPath returns the path of the roster's file, which is there once all have accepted.
func (d *Desk) RosterPath() string { return filepath.Join(d.dir, RosterFile) }

// Accept takes an acceptance. Once all seats have one the roster is made, which the founder signs. The same acceptance
// twice changes nothing.
func (d *Desk) Accept(a *terms.Acceptance) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, known := range d.acceptances {
		if bytes.Equal(known.File(), a.File()) {
			return nil
		}
		if bytes.Equal(known.Key, a.Key) {
			return fmt.Errorf("the key %s has taken the seat %s", terms.Fingerprint(a.Key), known.Seat)
		}
	}
	switch {
	case !slices.Contains(d.seats, a.Seat):
		return fmt.Errorf("there is no seat %.80q; the seats are %v", a.Seat, d.seats)
	case d.signed != nil || d.members()[a.Seat].Key != nil:
		return fmt.Errorf("the seat %s is taken", a.Seat)
	case !sign.CheckKey(a.Key):
		return errors.New("the key is not a usable Ed25519 public key")
	case len(a.Addresses) == 0:
		return errors.New("the acceptance has no address")
	}
	for _, address := range a.Addresses {
		if err := roster.CheckAddress(address); err != nil {
			return err
		}
	}
	if err := d.opening.Add(d.members(), a); err != nil {
		return err
	}
	path := filepath.Join(d.dir, fmt.Sprintf("%d%s", slices.Index(d.seats, a.Seat), joinSuffix))
	if err := durable.WriteFile(path, a.File()); err != nil {
		return err
	}
	d.acceptances = append(d.acceptances, a)
	return d.complete()
}

// complete makes the roster, if all seats are taken, and signs it. d.mu is held.
func (d *Desk) complete() error {
	defer d.tell()
	if len(d.acceptances) < len(d.seats) || d.signed != nil {
		return nil
	}
	r, err := d.opening.Roster(d.invitation, d.acceptances)
	if err != nil {
		return err
	}
	s := roster.Unsigned(r)
	s.Sign(d.secret)
	return d.write(s)
}

func (d *Desk) write(s *roster.Signed) error {
	if err := durable.WriteFile(d.RosterPath(), s.File()); err != nil {
		return err
	}
	d.signed = s
	return nil
}

// tell wakes who waits for a change. d.mu is held.
func (d *Desk) tell() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// Sign takes the signature of a member under the roster.
func (d *Desk) Sign(hash, key, signature []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.signed == nil {
		return errors.New("not all owners have accepted")
	}
	own := d.signed.Hash()
	_, member := d.signed.Seat(key)
	if !bytes.Equal(hash, own[:]) || !member || !sign.VerifyEnvelope(key, roster.PayloadType, hash, signature) {
		return errors.New("the signature is not one of a member under this roster")
	}
	with := &roster.Signed{Roster: d.signed.Roster,
		Signatures: []roster.Signature{{Key: key, Bytes: signature}}}
	next := &roster.Signed{Roster: d.signed.Roster, Signatures: slices.Clone(d.signed.Signatures)}
	if err := next.Merge(with); err != nil {
		return err
	}
	defer d.tell()
	return d.write(next)
}

// state returns what everybody with the opening may see. d.mu is held.
func (d *Desk) state() JoinState {
	s := JoinState{Invitation: d.invitation.File(), Acceptances: [][]byte{}, Roster: []byte{}}
	for _, a := range d.acceptances {
		s.Acceptances = append(s.Acceptances, a.File())
	}
	if d.signed != nil {
		s.Roster = d.signed.File()
	}
	return s
}

// Serve answers one request on a stream whose hello has the purpose call.ToJoin.
func (d *Desk) Serve(conn *link.Conn) {
	var h call.Hello
	var r JoinRequest
	sum := d.opening.Sum()
	if conn.Receive(call.MaxHello, &h, frameTime) != nil || h.Purpose != call.ToJoin || h.Version != call.Version ||
		!bytes.Equal(h.Roster, sum[:]) || conn.Receive(maxRequest, &r, frameTime) != nil {
		return // it learns nothing
	}
	err := d.do(&r)
	d.mu.Lock()
	s := d.state()
	whole := d.signed != nil && len(d.signed.Missing()) == 0
	d.mu.Unlock()
	if err != nil {
		s.Refused = err.Error()
	}
	if conn.Send(s, frameTime) == nil && whole && len(r.Key) > 0 {
		d.mu.Lock()
		d.given[string(r.Key)] = true
		d.tell()
		d.mu.Unlock()
	}
}

func (d *Desk) do(r *JoinRequest) error {
	if err := d.opening.Check(d.invitation, d.now()); err != nil {
		return err
	}
	if len(r.Acceptance) > 0 {
		a, err := terms.ParseAcceptance(r.Acceptance)
		if err != nil {
			return err
		}
		if err := d.Accept(a); err != nil {
			return err
		}
	}
	if len(r.Roster) > 0 {
		return d.Sign(r.Roster, r.Key, r.Signature)
	}
	return nil
}

// Wait waits until all members have signed the roster and, if all is true, have got it. It calls changed after each
// change. It fails when the opening expires.
func (d *Desk) Wait(ctx context.Context, all bool, changed func()) (*roster.Signed, error) {
	ctx, cancel := context.WithDeadline(ctx, time.Unix(d.opening.Expires, 0))
	defer cancel()
	for {
		d.mu.Lock()
		s, next, given := d.signed, d.changed, len(d.given)
		d.mu.Unlock()
		if s != nil && len(s.Missing()) == 0 && (!all || given >= len(s.Members)-1) {
			return s, s.Verify()
		}
		select {
		case <-next:
			changed()
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, errors.New("the invitation has ended before all owners had joined; remove the folder " +
					d.dir +
					" and start again")
			}
			return nil, ctx.Err()
		}
	}
}

// SeatState says how far the owner of a seat has come.
type SeatState struct {
	Seat      string   `json:"seat"`
	Key       string   `json:"key,omitempty"` // its beginning; "": the seat is free
	Addresses []string `json:"addresses,omitempty"`
	Signed    bool     `json:"signed"`
}

// Seats returns the state of every seat.
func (d *Desk) Seats() (all []SeatState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	members := d.members()
	for _, id := range d.seats {
		s := SeatState{Seat: id}
		if m, ok := members[id]; ok {
			s.Key, s.Addresses = terms.Fingerprint(m.Key), m.Addresses
			s.Signed = d.signed != nil && d.signed.SignedBy(m.Key)
		}
		all = append(all, s)
	}
	return all
}
