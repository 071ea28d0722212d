package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/internal/forge"
	"synod.dev/synod/internal/nightly"
)

// Hostile callers find no contradiction, and reach every situation that they should: -executions 1000000 for as many.
// Bugs that are seeded in certificates fail this test (internal/bugs).
func TestHostileCallers(t *testing.T) {
	o := Options{Executions: *executions, Protocols: []string{callersName}, Seed: 1}
	if o.Executions == 0 {
		o.Executions = uint64(nightly.Size(1500, 3000))
	}
	began := time.Now()
	var s *SavedCampaign
	var err error
	if testing.Short() { // the first violation is enough
		s, err = untilViolated(o)
	} else {
		s, err = Run(context.Background(), o, Setup{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Failures {
		t.Errorf("execution %d: %s, in an execution of seed %d with %d members after %d requests", f.Number,
			f.Violation, f.Execution.Seed, f.Execution.N, f.Execution.Operations)
	}
	if zeros := s.Tally.Zeros(); !testing.Short() && len(zeros) > 0 {
		t.Errorf("never tried: %q", zeros)
	}
	sum := s.Tally.Subjects[callersName]
	var lines strings.Builder
	for _, name := range forge.Situations() {
		fmt.Fprintf(&lines, "\n%12d %s", sum.States[name], name)
	}
	t.Logf("seeds 1 to %d: %d executions in %v, %d of them with Ed25519, %d violations; executions with:%s",
		o.Executions, sum.Executions, time.Since(began).Round(time.Millisecond), sum.RealKeys, s.Tally.Violations(),
		&lines)
}

// untilViolated plays executions one after another until a claim is violated.
func untilViolated(o Options) (*SavedCampaign, error) {
	s, p := &SavedCampaign{Tally: NewTally()}, NewPlayer()
	for number := uint64(0); number < min(o.Executions, 1500) && len(s.Failures) == 0; number++ {
		x := DrawAt(callersName, o.Seed, number)
		result := p.Play(&x)
		s.Tally.Add(&x, result)
		for _, v := range slices.Clone(result.Violations) {
			s.Failures = append(s.Failures, FoundViolation{Violation: v, Number: number, Execution: x})
		}
	}
	return s, nil
}
