package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// playCampaign plays so many executions of a subject, for some time at most (0: no limit), until a claim is violated,
// and writes the claim as JSON; null if none was. It runs in a program that may have a bug.
func playCampaign(w io.Writer, subject string, executions uint64, length time.Duration) error {
	p, begun := campaign.NewPlayer(), time.Now()
	draws := campaign.NewDraws(subject, 1, 0)
	var found *claim
	for i := uint64(0); i < executions && found == nil && (length == 0 || time.Since(begun) < length); i++ {
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
