package outcome

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/record/evidence"
)

// accusationsOf returns the evidence in all records, one for each member and broadcast, in
// the order of seats and rounds.
func accusationsOf(j *judgment) []Accusation {
	all := []Accusation{}
	accusing, ok := j.plan.Protocol().(protocol.Accusing)
	if !ok {
		return all
	}
	var check synod.Verifier
	for i, r := range j.seats {
		by := j.plan.Seats()[i].ID
		for _, o := range r.Opinions {
			if len(o.Suspects) == 0 {
				continue
			}
			for _, encoded := range accusing.Accusations(o.Opinion) {
				var proof broadcast.Evidence
				if proof.UnmarshalBinary(encoded) != nil {
					continue
				}
				if check == nil {
					check = plan.Verifier(j.plan, j.in)
				}
				if check != nil && proof.Verify(check) {
					all = addAccusation(j, all, by, proof)
				}
			}
		}
	}
	return all
}

// addAccusation adds evidence that a member has, unless it is known. by is the id of that member.
func addAccusation(j *judgment, all []Accusation, by string, proof broadcast.Evidence) []Accusation {
	at := slices.IndexFunc(all, func(a Accusation) bool {
		return a.proof.Sender == proof.Sender && a.proof.Group == proof.Group
	})
	if at < 0 {
		id := j.plan.Name(proof.Sender)
		if id == "" {
			return all
		}
		a := Accusation{ID: id, By: []string{}, proof: proof}
		for k, value := range proof.Values {
			sum := sha256.Sum256(value)
			a.Values[k] = hex.EncodeToString(sum[:])
		}
		all, at = append(all, a), len(all)
	}
	if !slices.Contains(all[at].By, by) {
		all[at].By = append(all[at].By, by)
	}
	return all
}

// ErrSymbolic reports that the members of a run signed with symbols that mean something in its
// process only.
var ErrSymbolic = errors.New("all members are simulated, and their signatures mean nothing outside the process: " +
	"verify the journal instead")

// EvidenceFile returns an accusation of a run of this plan as a file that anybody can verify.
func EvidenceFile(p *plan.Plan, in plan.Instance, a *Accusation) (*evidence.Evidence, error) {
	var committee sign.Committee
	switch {
	case p.Committee() != nil:
		committee = p.Committee()
	case p.Signs():
		committee = plan.Identities(p, in.Seed).Committee()
	}
	if committee == nil {
		return nil, ErrSymbolic
	}
	return evidence.OfBroadcast(committee, p.InstanceID(in), &a.proof)
}
