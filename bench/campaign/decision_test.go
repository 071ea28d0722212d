package campaign

import (
	"strings"
	"testing"

	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// The report of a campaign is red, and names the protocol, if a protocol has no claim about its decision.
func TestNoReferenceIsRed(t *testing.T) {
	s, err := subjectOf("majority")
	if err != nil {
		t.Fatal(err)
	}
	claim := s.Decision
	report := func() string {
		tally := NewTally()
		tally.of(s.Name).Executions = 1
		r := Report{Tally: tally, Zeros: tally.Zeros()}
		return r.Red() + strings.Join(r.Zeros, "\n")
	}
	if why := report(); !strings.Contains(why, "majority: claim "+claim) || strings.Contains(why, "its decision") {
		t.Errorf("with a claim that never applied: %s", why)
	}
	s.Decision = ""
	defer func() { s.Decision = claim }()
	if why := report(); !strings.Contains(why, "majority: its decision, for which it has no reference") {
		t.Errorf("without a claim: %s", why)
	}
}

// A wrong reference is a violation: both the verdict of the council and the step of the protocol are compared.
func TestDecisionIsCompared(t *testing.T) {
	s, err := subjectOf("cp-wbft")
	if err != nil {
		t.Fatal(err)
	}
	right := s.Step
	defer func() { s.Step = right }()
	for name, wrong := range map[string]func(*check.Trace) reference.Step{
		"answer":  func(t *check.Trace) reference.Step { return reference.Step{Decides: true, Answer: "9"} },
		"status":  func(t *check.Trace) reference.Step { return reference.Step{Open: true} },
		"lacking": func(t *check.Trace) reference.Step { return reference.Step{Decides: true, Lacking: true} },
		"voters":  func(t *check.Trace) reference.Step { return reference.Step{Voting: make([]bool, t.Case.N)} },
	} {
		s.Step = wrong
		found := false
		for i := uint64(0); i < 20 && !found; i++ {
			x := DrawAt("cp-wbft", 1, i)
			for _, v := range NewPlayer().Play(&x).Violations {
				found = found || v.Claim == s.Decision
			}
		}
		if !found {
			t.Errorf("%s: no execution shows that the reference is wrong", name)
		}
	}
}

// A council may have the seats and the bound of every execution that is drawn, so each decision is compared.
func TestEveryDrawHasACouncil(t *testing.T) {
	for _, s := range subjects() {
		for i := uint64(0); i < 100 && s.Decision != ""; i++ {
			x := DrawAt(s.Name, 1, i)
			if !x.seatable() {
				t.Fatalf("%s %d: no council has\n%s", s.Name, i, councilFile(s.protocol, &x.Case,
					reference.Rule{Name: "majority"}))
			}
		}
	}
}

// What Shrink makes of an execution can still be played by a council, also if the claim is violated by every execution.
func TestShrinkKeepsACouncil(t *testing.T) {
	for _, s := range subjects() {
		if s.Decision == "" || len(s.claims) == 0 || s.check == nil {
			continue
		}
		before := s.check
		t.Cleanup(func() { s.check = before })
		s.check = func(tr *trace) { tr.Claim(s.claims[0].ID, false, "always") }
		x := DrawAt(s.Name, 1, 3)
		if small := NewPlayer().Shrink(x, s.claims[0].ID); !small.seatable() || small.weight() > x.weight() {
			t.Errorf("%s: no council has\n%s", s.Name, councilFile(s.protocol, &small.Case,
				reference.Rule{Name: "majority"}))
		}
	}
}
