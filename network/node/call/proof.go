package call

import (
	"context"

	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/record/certificate"
)

// Proof is what the members signed in a run. It is an outcome.Proof.
type Proof struct {
	Client *Client // asks them to sign a certificate
	Result *Result
}

// Missing says, by seat, why its node returned no record.
func (p *Proof) Missing() map[int]string { return p.Result.Missing }

// Equivocations returns the members that signed two messages for one slot, with the evidence.
func (p *Proof) Equivocations() []outcome.Equivocated {
	var all []outcome.Equivocated
	for i := range p.Result.Proofs {
		e := &p.Result.Proofs[i]
		said := outcome.Equivocated{Seat: int(e.A.From), Slot: e.A.Slot, Round: e.A.Round,
			Sums: [2][]byte{e.A.Sum, e.B.Sum}}
		said.Evidence, said.Err = e.Evidence(p.Client.Roster)
		all = append(all, said)
	}
	return all
}

// Certify asks the members that hold the answer to sign a statement about the outcome of the run.
func (p *Proof) Certify(ctx context.Context, made *plan.Plan, o *outcome.Outcome) (*certificate.Certificate, error) {
	s, err := p.Result.Statement(p.Client.Roster, made, p.Result.Question, o)
	if err != nil {
		return nil, err
	}
	return p.Client.Certify(ctx, &s)
}
