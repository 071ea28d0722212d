package campaign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
)

// Trial checks a claim that needs no run under sim: about a file, a parser, a rule or all small cases of a filter. A
// number determines what is tried.
type Trial struct {
	Claim
	Cases uint64 // how many numbers there are, which are all tried; 0: without end
	try   func(t *Tried)
}

// Tried is what a Trial found for one number.
type Tried struct {
	Number     uint64
	Executions uint64  // cases that were checked
	Margin     float64 // the smallest seen; +Inf: the claim has none
	Violation  string  // how the claim was violated first; "": it held
	Err        error   // why it could not be tried, such as a full disk: no violation

	rand *rand.Rand
}

// Trials returns all trials.
func Trials() []Trial {
	return slices.Concat(smallScope, ruleTrials, grindingTrials, textTrials, certificateTrials, runTrials, budgetTrials,
		ledgerTrials, journalTrials)
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
	t = Tried{Number: number, Margin: math.Inf(1), rand: rand.New(rand.NewPCG(number, hashText(0x7a1, c.ID)))}
	defer func() {
		if p := recover(); p != nil {
			t.Violation = fmt.Sprintf("it panics: %v", p)
		}
	}()
	c.try(&t)
	return t
}

// check counts a case, and says how the claim was violated if it does not hold.
func (t *Tried) check(holds bool, format string, args ...any) {
	t.Executions++
	if !holds && t.Violation == "" {
		t.Violation = fmt.Sprintf(format, args...)
	}
}

// margin notes by how much the claim held.
func (t *Tried) margin(m float64) { t.Margin = min(t.Margin, m) }

// need ends the trial if it cannot go on.
func (t *Tried) need(err error) bool {
	if t.Err == nil {
		t.Err = err
	}
	return err == nil
}
