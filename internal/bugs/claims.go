package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"synod.dev/synod/bench/campaign"
	"synod.dev/synod/internal/altered"
)

// mostEvents is the longest schedule of faults that a bug found by a campaign may need after shrinking
// (reliability.md 3.4).
const mostEvents = 12

// beside is how much longer a campaign goes on after its first violation, to learn which other claims are violated.
const beside = time.Second

// claim is a claim that a campaign has found violated.
type claim struct {
	Claim      string  `json:"claim"`
	Detail     string  `json:"detail"`
	Executions uint64  `json:"executions"` // until it was found
	Seconds    float64 `json:"seconds"`    // of processor time until then
	Events     int     `json:"events"`     // of the shrunk schedule of faults, if it is the first one
}

// trials is the subject of playCampaign that stands for all claims that need no run of a council.
const trials = "trials"

// player plays an execution, or a case of a claim, and the next one with each call.
type player func() played

// played is what became of an execution, or of a case of a claim.
type played struct {
	violations []campaign.Violation
	shrink     func(claim string) int // returns how many events the shrunk schedule has that violates a claim
	last       bool                   // no other follows
}

// playCampaign plays so many executions of a subject, for some processor time at most (0: no limit), until a claim is
// violated, and a second more, and writes each claim that was violated as JSON when it is found; null if none was. It
// runs in a program that may have a bug, with which it may end at any time.
func playCampaign(w io.Writer, subject string, executions uint64, length time.Duration) error {
	next, out := casesInTurn(), json.NewEncoder(w)
	if subject != trials {
		next = executionsOf(subject)
	}
	seen := map[string]bool{}
	for i, end := uint64(0), length; (len(seen) > 0 || i < executions) && (end == 0 || processorTime() < end); i++ {
		p := next()
		for _, v := range p.violations {
			if seen[v.Claim] {
				continue
			}
			found := claim{Claim: v.Claim, Detail: v.Detail, Executions: i + 1, Seconds: processorTime().Seconds()}
			if len(seen) == 0 {
				found.Events = p.shrink(v.Claim)
				end = processorTime() + beside
			}
			seen[v.Claim] = true
			if err := out.Encode(found); err != nil {
				return err
			}
		}
		if p.last {
			break
		}
	}
	if len(seen) == 0 {
		return out.Encode(nil)
	}
	return nil
}

// executionsOf plays executions of one subject.
func executionsOf(subject string) player {
	p, draws := campaign.NewPlayer(), campaign.NewDraws(subject, 1, 0)
	return func() played {
		x := draws.Next()
		result := p.Play(&x)
		draws.Learn(&x, result)
		shrink := func(claim string) int { return len(p.Shrink(x, claim).Events) }
		return played{violations: result.Violations, shrink: shrink}
	}
}

// casesInTurn tries each claim with the numbers from 0, always that which has had the least processor time, until it is
// violated.
func casesInTurn() player {
	type turn struct {
		campaign.ClaimTrial
		number uint64
		used   time.Duration
	}
	var turns []*turn
	for _, c := range campaign.Trials() {
		turns = append(turns, &turn{ClaimTrial: c})
	}
	return func() (p played) {
		next := slices.MinFunc(turns, func(a, b *turn) int { return cmp.Compare(a.used, b.used) })
		begun := processorTime()
		t := next.Try(next.number)
		if t.Err != nil && t.Violation == "" { // verify-claims fails, too
			t.Violation = "it cannot be tried: " + t.Err.Error()
		}
		if t.Violation != "" {
			p.violations = []campaign.Violation{{Claim: next.ID, Detail: t.Violation}}
			p.shrink = func(string) int { return 0 }
		}
		next.used += processorTime() - begun
		if next.number++; next.number == next.Cases || t.Violation != "" {
			turns = slices.DeleteFunc(turns, func(t *turn) bool { return t == next })
		}
		p.last = len(turns) == 0
		return p
	}
}

// processorTime is what this process has used, so that a busy machine changes nothing in what is found.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// buildCampaign compiles this program with all bugs.
func (t *tester) buildCampaign(root, work, overlay string) (err error) {
	if root, err = filepath.Abs(root); err != nil {
		return err
	}
	t.campaign = filepath.Join(work, "campaign")
	return altered.Go(root, "build", "-overlay", overlay, "-tags", tag, "-o", t.campaign, "./internal/bugs")
}

// tryCampaign plays a campaign with a bug; "": without. It returns the claims that were violated, the first one first.
func (t *tester) tryCampaign(bug, subject string, executions uint64) ([]*claim, altered.Result, error) {
	p := altered.Process{Path: t.campaign, Args: []string{"-campaign", subject, "-executions", fmt.Sprint(executions)},
		Dir: os.TempDir(), Env: []string{variable + "=" + bug}, CPU: processor, Wall: wall, Memory: memory}
	r, err := p.Run()
	violated := altered.Decode[*claim](r.Output)
	switch {
	case len(violated) > 0 && violated[0] != nil:
		return violated, r, nil // also if it ended badly afterwards
	case err != nil:
		return nil, r, err
	case !r.Passed: // it panics
		return []*claim{{Claim: "a panic"}}, r, nil
	case len(violated) == 0:
		return nil, r, fmt.Errorf("a campaign of %s: no result\n%s", subject, r.Output)
	}
	return nil, r, nil
}
