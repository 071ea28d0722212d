package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/check"
)

// Trials returns all trials, each with the protocols that rely on its claim.
func Trials() []ClaimTrial {
	all := slices.Concat(trialsOf(check.SmallCases), quorumTrials, trialsOf(check.Rules), aggregateTrials,
		trialsOf(check.Attacks), textTrials, certificateTrials, runTrials, budgetTrials, ledgerTrials, journalTrials,
		cutTrials, reportTrials, graphTrials)
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

// protocol draws a protocol, as council files have it.
func (t *ClaimTried) protocol() string {
	all := councils()
	return all[t.Rand.IntN(len(all))]
}

// convene convenes a council of n members with one model in which everybody hears everybody. more is the rest of its
// file.
func (t *ClaimTried) convene(protocol string, n int, model, more string, env llm.Env) (*council.Council, bool) {
	spec, err := plan.Parse(fmt.Appendf(nil, "protocol: %s\ngraph: {family: complete}\nf: 1\nmodels: {m: {%s}}\n"+
		"seats: [{id: m, model: m, count: %d}]\n%s\n", protocol, model, n, more))
	if !t.Need(err) {
		return nil, false
	}
	c, err := council.Convene(spec, env)
	return c, t.Need(err)
}
