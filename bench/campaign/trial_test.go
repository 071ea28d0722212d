package campaign

import (
	"strings"
	"testing"
	"time"
)

// Every trial checks something, finds no violation, and finds the same for the same number.
func TestTrials(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Claims() {
		seen[c.ID] = true
	}
	for _, c := range Trials() {
		if seen[c.ID] || c.Property == "" || c.Source == "" || c.Model == "" {
			t.Errorf("claim %q is there twice or not described", c.ID)
		}
		seen[c.ID] = true
		began, cases := time.Now(), uint64(0)
		numbers := []uint64{1, 50}
		if c.Cases > 500 {
			numbers = []uint64{0, 9, 73, 74, 74 + 1<<10 - 1, 74 + 0x155} // n = 2 … 5, the complete graph among them
		}
		for _, number := range numbers {
			r := c.Try(number)
			if r.Err != nil || r.Violation != "" {
				t.Errorf("%s, number %d: %s %v", c.ID, number, r.Violation, r.Err)
			}
			if again := c.Try(number); again.Executions != r.Executions || again.Margin != r.Margin {
				t.Errorf("%s, number %d: %d executions with margin %v, and then %d with %v", c.ID, number, r.Executions,
					r.Margin, again.Executions, again.Margin)
			}
			cases += r.Executions
		}
		if cases == 0 {
			t.Errorf("%s checks nothing", c.ID)
		}
		t.Logf("%s: %d executions in %v", c.ID, cases, time.Since(began).Round(time.Millisecond))
	}
}

// A claim that does not hold is a violation, a panic too; a full disk is none.
func TestTrialsFail(t *testing.T) {
	broken := ClaimTrial{Claim: Claim{ID: "broken"}, try: func(t *ClaimTried) {
		t.Check(true, "fine")
		t.Check(t.Number < 2, "number %d", t.Number)
		if t.Number == 3 {
			panic("ouch")
		}
	}}
	for number, want := range []string{"", "", "number 2", "it panics: ouch"} {
		if r := broken.Try(uint64(number)); r.Violation != want || r.Executions != 2 {
			t.Errorf("number %d: %+v", number, r)
		}
	}
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	c, err := TrialOf("LE-4")
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Try(1); r.Err == nil || r.Violation != "" {
		t.Errorf("without a folder for temporary files: %+v", r)
	}
	if _, err := TrialOf("LE-44"); err == nil || !strings.Contains(err.Error(), "LE-4") {
		t.Errorf("an unknown claim: %v", err)
	}
}
