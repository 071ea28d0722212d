package main

import (
	"cmp"
	"encoding/json"
	"errors"
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

// claim is the first violation that a campaign has found.
type claim struct {
	Claim      string `json:"claim"`
	Detail     string `json:"detail"`
	Executions uint64 `json:"executions"` // until it was found
	Events     int    `json:"events"`     // of the shrunk schedule of faults
}

// trials is the subject of playCampaign that stands for all claims that need no run of a council.
const trials = "trials"

// playCampaign plays so many executions of a subject, for some processor time at most (0: no limit), until a claim is
// violated, and writes the claim as JSON; null if none was. It runs in a program that may have a bug.
func playCampaign(w io.Writer, subject string, executions uint64, length time.Duration) error {
	p := campaign.NewPlayer()
	goOn := func(played uint64) bool { return played < executions && (length == 0 || processorTime() < length) }
	if subject == trials {
		return json.NewEncoder(w).Encode(tryClaims(goOn))
	}
	draws := campaign.NewDraws(subject, 1, 0)
	var found *claim
	for i := uint64(0); found == nil && goOn(i); i++ {
		x := draws.Next()
		result := p.Play(&x)
		draws.Learn(&x, result)
		if all := result.Violations; len(all) > 0 {
			v := all[0]
			small := p.Shrink(x, v.Claim)
			found = &claim{v.Claim, v.Detail, i + 1, len(small.Events)}
		}
	}
	return json.NewEncoder(w).Encode(found)
}

// tryClaims tries each claim with the numbers from 0, always that which has had the least processor time, until one is
// violated.
func tryClaims(goOn func(tried uint64) bool) *claim {
	type turn struct {
		campaign.ClaimTrial
		number uint64
		used   time.Duration
	}
	var turns []*turn
	for _, c := range campaign.Trials() {
		turns = append(turns, &turn{ClaimTrial: c})
	}
	for tried := uint64(0); len(turns) > 0 && goOn(tried); tried++ {
		next := slices.MinFunc(turns, func(a, b *turn) int { return cmp.Compare(a.used, b.used) })
		begun := processorTime()
		t := next.Try(next.number)
		if t.Err != nil && t.Violation == "" { // verify-claims fails, too
			t.Violation = "it cannot be tried: " + t.Err.Error()
		}
		if t.Violation != "" {
			return &claim{Claim: next.ID, Detail: t.Violation, Executions: tried + 1}
		}
		next.used += processorTime() - begun
		if next.number++; next.number == next.Cases {
			turns = slices.DeleteFunc(turns, func(t *turn) bool { return t == next })
		}
	}
	return nil
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

// tryCampaign plays a campaign with a bug; "": without.
func (t *tester) tryCampaign(bug, subject string, executions uint64) (*claim, altered.Result, error) {
	p := altered.Process{Path: t.campaign, Args: []string{"-campaign", subject, "-executions", fmt.Sprint(executions)},
		Dir: os.TempDir(), Env: []string{variable + "=" + bug}, CPU: processor, Wall: wall, Memory: memory}
	r, err := p.Run()
	if err != nil {
		return nil, r, err
	}
	if !r.Passed { // it panics
		return &claim{Claim: "a panic"}, r, nil
	}
	var found *claim
	if err := json.Unmarshal(r.Output, &found); err != nil {
		return nil, r, errors.Join(err, errors.New(string(r.Output)))
	}
	return found, r, nil
}
