package check

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Trial checks a claim that needs no run of a council: about a rule, or all small cases of a filter. A number
// determines what is tried.
type Trial struct {
	Claim
	Kind  TrialKind
	Cases uint64 // how many numbers there are, which are all tried; 0: without end
	Try   func(t *Tried)
}

// TrialKind says what a trial is about. Reports have them in this order.
type TrialKind int

// The kinds of trials.
const (
	SmallCases TrialKind = iota // all cases up to a size
	Rules                       // a rule, by the letter
	Attacks                     // an attack that must not succeed
)

// Tried is what a Trial found for one number.
type Tried struct {
	Number     uint64
	Executions uint64  // cases that were checked
	Margin     float64 // the smallest seen; +Inf: the claim has none
	Violation  string  // how the claim was violated first; "": it held
	Err        error   // why it could not be tried, such as a full disk: no violation

	Rand *rand.Rand // seeded by the claim and the number
}

// Check counts a case, and says how the claim was violated if it does not hold.
func (t *Tried) Check(holds bool, format string, args ...any) {
	t.Executions++
	if !holds && t.Violation == "" {
		t.Violation = fmt.Sprintf(format, args...)
	}
}

// Spare notes by how much the claim held.
func (t *Tried) Spare(m float64) { t.Margin = min(t.Margin, m) }

// Need ends the trial if it cannot go on.
func (t *Tried) Need(err error) bool {
	if t.Err == nil {
		t.Err = err
	}
	return err == nil
}

// Tolerates checks that a bound on Byzantine seats is refused if it is not between 0 and most, or if the council does
// not fit, and only then. The error for a bound that is too high must name the largest.
func (t *Tried) Tolerates(err error, f, most int, fits bool) {
	t.Check((err == nil) == (fits && 0 <= f && f <= most), "f = %d, of at most %d, and that it fits is %v: %v", f, most,
		fits, err)
	t.Check(!fits || most < 0 || f <= most || err == nil || strings.HasSuffix(err.Error(), fmt.Sprint(" ", most)),
		"f = %d: the error does not name %d: %v", f, most, err)
}

// Says checks a guarantee: its name, and what its sentence must have.
func (t *Tried) Says(name, note, want string, parts ...string) {
	t.Check(name == want, "it guarantees %q, and by the formula %q: %s", name, want, note)
	for _, p := range parts {
		t.Check(strings.Contains(note, p), "the sentence does not say %q: %s", p, note)
	}
}

// Among draws one of several.
func Among[T any](t *Tried, all ...T) T { return all[t.Rand.IntN(len(all))] }
