package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// Trials returns all trials, each with the protocols that rely on its claim.
func Trials() []ClaimTrial {
	all := slices.Concat(trialsOf(check.SmallCases), quorumTrials, trialsOf(check.Rules), aggregateTrials,
		trialsOf(check.Attacks), textTrials, certificateTrials, runTrials, budgetTrials, ledgerTrials, journalTrials,
		cutTrials, reportTrials, trustTrials, graphTrials)
	for i := range all {
		var rely []string
		for _, s := range subjects() {
			if slices.Contains(s.Relies, all[i].ID) || all[i].councils && s.Council != "" {
				rely = append(rely, s.Name)
			}
		}
		all[i].Protocols = append(rely, all[i].Protocols...)
	}
	return all
}

// trialsOf returns the trials of protocols that are of a kind.
func trialsOf(kind check.TrialKind) (all []ClaimTrial) {
	for _, s := range subjects() {
		for _, c := range s.Trials {
			if c.Kind == kind {
				t := ClaimTrial{Claim: c.Claim, Cases: c.Cases, try: func(t *ClaimTried) { c.Try(&t.Tried) }}
				t.Protocols = []string{s.Name}
				all = append(all, t)
			}
		}
	}
	return all
}

// TrialOf returns the trial of a claim.
func TrialOf(claim string) (ClaimTrial, error) {
	all := Trials()
	ids := make([]string, len(all))
	for i, t := range all {
		if t.ID == claim {
			return t, nil
		}
		ids[i] = t.ID
	}
	return ClaimTrial{}, fmt.Errorf("campaign: no claim without runs is called %q%s; there are: %v", claim,
		synod.Hint(claim, ids), ids)
}
