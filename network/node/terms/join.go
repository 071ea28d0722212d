package terms

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/roster"
)

// Invitation is what somebody who wants to form a council shows to the owners of its seats.
type Invitation struct {
	_       struct{} `cbor:",toarray"`
	Council string   // the council file, in the form of plan.Plan.Record
	Links   string
	Relay   bool
	Callers []roster.Caller // ascending by name
}

// Acceptance is how the owner of a seat accepts an invitation.
type Acceptance struct {
	_          struct{} `cbor:",toarray"`
	Invitation []byte   // SHA-256 of the invitation, or Opening.Sum
	Seat       string
	Key        []byte
	Addresses  []string
	Signature  []byte // by the key, under the rest
}

// AcceptanceType is the type of what the signature of an Acceptance covers.
const AcceptanceType = "application/vnd.synod.acceptance+cbor"

const (
	invitationPEM = "SYNOD INVITATION"
	acceptancePEM = "SYNOD ACCEPTANCE"
)

// Invite returns the invitation to a council.
func Invite(p *plan.Plan, o Options) (*Invitation, error) {
	r, err := Draft(p, o)
	if err != nil {
		return nil, err
	}
	return &Invitation{Council: r.Council, Links: r.Links, Relay: r.Relay, Callers: r.Callers}, nil
}

// File returns the text of the invitation.
func (i *Invitation) File() []byte { return textOf(invitationPEM, i) }

// ParseInvitation reads what File returns.
func ParseInvitation(text []byte) (*Invitation, error) {
	i := new(Invitation)
	return i, parseText(invitationPEM, text, i)
}

// Plan returns the plan of the invitation's council file.
func (i *Invitation) Plan() (*plan.Plan, error) {
	spec, err := plan.ParseRecord([]byte(i.Council))
	if err != nil {
		return nil, err
	}
	return plan.New(spec)
}

// Options returns what the invitation says beyond the council file.
func (i *Invitation) Options() Options {
	return Options{Callers: i.Callers, Links: i.Links, Relay: i.Relay}
}

func (i *Invitation) sum() [sha256.Size]byte { return sha256.Sum256(canonical.Encode(i)) }

// Accept accepts the invitation for a seat.
func (i *Invitation) Accept(seat string, addresses []string, secret sign.Secret) *Acceptance {
	return accept(i.sum(), seat, addresses, secret)
}

func accept(sum [sha256.Size]byte, seat string, addresses []string, secret sign.Secret) *Acceptance {
	a := &Acceptance{Invitation: sum[:], Seat: seat, Key: secret.PublicKey(), Addresses: addresses}
	a.Signature = secret.SignEnvelope(AcceptanceType, canonical.Encode(a))
	return a
}

// File returns the text of the acceptance.
func (a *Acceptance) File() []byte { return textOf(acceptancePEM, a) }

// ParseAcceptance reads what File returns.
func ParseAcceptance(text []byte) (*Acceptance, error) {
	a := new(Acceptance)
	return a, parseText(acceptancePEM, text, a)
}

// Add checks an acceptance of this invitation and adds its member.
func (i *Invitation) Add(members map[string]roster.Member, a *Acceptance) error {
	return add(i.sum(), members, a)
}

func add(sum [sha256.Size]byte, members map[string]roster.Member, a *Acceptance) error {
	unsigned := *a
	unsigned.Signature = nil
	_, twice := members[a.Seat]
	switch {
	case !bytes.Equal(a.Invitation, sum[:]):
		return fmt.Errorf("the acceptance of seat %q is one of another invitation", a.Seat)
	case !sign.VerifyEnvelope(a.Key, AcceptanceType, canonical.Encode(unsigned), a.Signature):
		return fmt.Errorf("the signature of the acceptance of seat %q is not valid", a.Seat)
	case twice:
		return fmt.Errorf("seat %q was accepted twice", a.Seat)
	}
	members[a.Seat] = roster.Member{Key: a.Key, Addresses: a.Addresses}
	return nil
}

func textOf(kind string, v any) []byte {
	return canonical.Text(kind, canonical.Encode(v))
}

func parseText(kind string, text []byte, into any) error {
	content, ok := canonical.FromText(kind, text)
	if !ok {
		return errors.New("the file does not begin with -----BEGIN " + kind + "-----, or has other text beside it")
	}
	return canonical.Decode(content, roster.MaxBytes, into)
}
