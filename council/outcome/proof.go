package outcome

import (
	"context"

	"synod.dev/synod/council/plan"
	"synod.dev/synod/record/certificate"
	"synod.dev/synod/record/evidence"
)

// Proof is what the members of a run have signed. Only a run whose members have keys of their own has one.
type Proof interface {
	// Missing says, by seat, why its member returned no record.
	Missing() map[int]string

	// Equivocations returns the members that signed two messages for one slot.
	Equivocations() []Equivocated

	// Certify asks the members to sign the outcome of the run, and returns their certificate. It fails if no more
	// than F sign.
	Certify(ctx context.Context, p *plan.Plan, o *Outcome) (*certificate.Certificate, error)
}

// Equivocated is a member with two different messages that it signed for one slot.
type Equivocated struct {
	Seat  int
	Slot  string
	Round uint64
	Sums  [2][]byte // SHA-256 of the messages

	// Evidence convinces others, too. Err is why there is none: a signature is not valid.
	Evidence *evidence.Evidence
	Err      error
}
