package campaign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// Trial checks a claim that needs no run under sim: about a file, a parser, a rule or all small cases of a filter. A
// number determines what is tried.
type Trial struct {
	Claim
	Cases uint64 // how many numbers there are, which are all tried; 0: without end
	try   func(t *Tried)
	// councils says that councils are convened, of the protocols that say how (check.Subject.Council)
	councils bool
}

// Tried is what a Trial found for one number.
type Tried struct{ check.Tried }

// Trials returns all trials, each with the protocols that rely on its claim.
func Trials() []Trial {
	all := slices.Concat(trialsOf(check.SmallCases), quorumTrials, trialsOf(check.Rules), aggregateTrials,
		trialsOf(check.Attacks), textTrials, certificateTrials, runTrials, budgetTrials, ledgerTrials, journalTrials)
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
func trialsOf(kind check.TrialKind) (all []Trial) {
	for _, s := range subjects() {
		for _, c := range s.Trials {
			if c.Kind == kind {
				t := Trial{Claim: c.Claim, Cases: c.Cases, try: func(t *Tried) { c.Try(&t.Tried) }}
				t.Protocols = []string{s.Name}
				all = append(all, t)
			}
		}
	}
	return all
}

// councils returns the protocols that councils play in trials, as council files have them, those with the shortest
// text first.
func councils() (all []string) {
	for _, s := range subjects() {
		if s.Council != "" {
			all = append(all, s.Council)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(a) - len(b) })
	return all
}

// TrialOf returns the trial of a claim.
func TrialOf(claim string) (Trial, error) {
	all := Trials()
	ids := make([]string, len(all))
	for i, t := range all {
		if t.ID == claim {
			return t, nil
		}
		ids[i] = t.ID
	}
	return Trial{}, fmt.Errorf("campaign: no claim without runs is called %q%s; there are: %v", claim,
		synod.Hint(claim, ids), ids)
}

// Try checks the claim for one number. A panic is a violation.
func (c Trial) Try(number uint64) (t Tried) {
	t = Tried{check.Tried{Number: number, Margin: math.Inf(1),
		Rand: rand.New(rand.NewPCG(number, hashText(0x7a1, c.ID)))}}
	defer func() {
		if p := recover(); p != nil {
			t.Violation = fmt.Sprintf("it panics: %v", p)
		}
	}()
	c.try(&t)
	return t
}
