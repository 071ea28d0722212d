package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod"
)

// Verified is how a claim was checked.
type Verified struct {
	Claim
	ClaimTally
	Complete bool   `json:"complete"`         // all cases that the claim is about were tried
	Detail   string `json:"detail,omitempty"` // how it was violated first
	Replay   string `json:"replay,omitempty"` // the file with which that is played again
}

// VerifyOptions determine how claims are checked.
type VerifyOptions struct {
	Time   time.Duration // in all; claims of which all cases are tried take less, and leave the rest to others
	Claims []string      // ids; nil: all
	Seed   uint64
	Dir    string // where replay files are written; it is made when there is one
	// Progress is called with what is being checked, before each part and twice a second; may be nil.
	Progress func(what string)
}

// shareOfRuns is how many times as long as for a claim without runs executions of protocols are played.
const shareOfRuns = 20

// AllClaims returns all claims: those of subjects, and those of trials.
func AllClaims() []Claim {
	all := Claims()
	for _, t := range Trials() {
		all = append(all, t.Claim)
	}
	return all
}

// Verify checks claims for a time on all processors: first those without runs, one after the other, and then in
// executions of protocols. If ctx is done it returns what was checked until then, without an error. Violations are no
// errors: the list has them.
func Verify(ctx context.Context, o VerifyOptions) ([]Verified, error) {
	trials, subjects, err := o.parts()
	if err != nil {
		return nil, err
	}
	var all []Verified
	left := len(trials)
	if len(subjects) > 0 {
		left += shareOfRuns
	}
	end := time.Now().Add(o.Time)
	for _, t := range trials {
		o.report("claim " + t.ID)
		part, cancel := context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		v, err := o.tryAll(part, t)
		cancel()
		if all = append(all, v); err != nil || ctx.Err() != nil {
			return all, err
		}
		left--
	}
	if len(subjects) > 0 {
		played, err := o.play(ctx, time.Until(end), subjects)
		if all = append(all, played...); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (o *VerifyOptions) report(what string) {
	if o.Progress != nil {
		o.Progress(what)
	}
}

func (o *VerifyOptions) wants(id string) bool {
	return len(o.Claims) == 0 || slices.Contains(o.Claims, id)
}

// parts returns the trials and the names of the subjects that check the claims.
func (o *VerifyOptions) parts() (trials []ClaimTrial, names []string, err error) {
	var known []string
	for _, c := range AllClaims() {
		known = append(known, c.ID)
	}
	for _, id := range o.Claims {
		if !slices.Contains(known, id) {
			return nil, nil, fmt.Errorf("campaign: no claim is called %q%s; there are: %s", id, synod.Hint(id, known),
				strings.Join(known, ", "))
		}
	}
	if o.Time <= 0 {
		return nil, nil, errors.New("campaign: the time to check claims must be above 0")
	}
	for _, t := range Trials() {
		if o.wants(t.ID) {
			trials = append(trials, t)
		}
	}
	for _, c := range Claims() {
		for _, name := range c.Protocols {
			if o.wants(c.ID) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return trials, names, nil
}

// tryAll tries a trial for number after number until ctx is done or all cases were tried.
func (o *VerifyOptions) tryAll(ctx context.Context, c ClaimTrial) (Verified, error) {
	v := Verified{Claim: c.Claim}
	var mu sync.Mutex
	var given, tried atomic.Uint64
	var failed error
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for ctx.Err() == nil {
				number := given.Add(1) - 1
				if c.Cases > 0 && number >= c.Cases {
					return
				}
				if c.Cases == 0 {
					number += o.Seed
				}
				t := c.Try(number)
				mu.Lock()
				tried.Add(1)
				err := o.count(&v, &t)
				failed = errors.Join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	v.Complete = c.Cases > 0 && tried.Load() == c.Cases
	return v, failed
}

// count adds what was tried for one number. The first violation is saved.
func (o *VerifyOptions) count(v *Verified, t *ClaimTried) error {
	if t.Err != nil {
		return fmt.Errorf("campaign: claim %s could not be checked: %w", v.ID, t.Err)
	}
	one := ClaimTally{Executions: t.Executions}
	if v.Claim.Margin != "" {
		one.Margin = finite(t.Margin)
	}
	if t.Violation != "" {
		one.Violations = 1
	}
	v.add(one)
	if t.Violation == "" || v.Detail != "" {
		return nil
	}
	v.Detail, v.Replay = t.Violation, filepath.Join(o.Dir, v.ID+".json")
	return SaveTrial(v.Replay, v.ID, t.Violation, t.Number)
}

// play plays executions of subjects, and returns the claims that were asked for.
func (o *VerifyOptions) play(ctx context.Context, d time.Duration, names []string) (all []Verified, err error) {
	s, err := Run(ctx, Options{Time: max(d, time.Millisecond), Protocols: names, Seed: o.Seed}, Setup{
		Progress: func(s *SavedCampaign) {
			o.report(fmt.Sprintf("%d executions of protocols", s.Tally.Executions))
		}})
	if err != nil {
		return nil, err
	}
	for _, sum := range s.Tally.Claims() {
		if !o.wants(sum.ID) {
			continue
		}
		v := Verified{Claim: sum.Claim, ClaimTally: sum.ClaimTally}
		for _, f := range s.Failures {
			if f.Claim != sum.ID || v.Detail != "" {
				continue
			}
			v.Detail, v.Replay = f.Detail, filepath.Join(o.Dir, f.Protocol+"-"+sum.ID+".json")
			if err := errors.Join(os.MkdirAll(o.Dir, 0o700), Save(v.Replay, sum.ID, f.Detail,
				f.Execution)); err != nil {
				return all, err
			}
		}
		all = append(all, v)
	}
	return all, nil
}

// ClaimIDs returns the id of each claim, those of runs of councils first, then those of [Trials].
func ClaimIDs() (ids []string) {
	for _, c := range Claims() {
		ids = append(ids, c.ID)
	}
	for _, c := range Trials() {
		ids = append(ids, c.ID)
	}
	return ids
}
