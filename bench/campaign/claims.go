package campaign

import (
	"slices"

	"synod.dev/synod/protocol/check"
)

// The types of claims, which protocols declare in their folders.
type (
	// Model is the fault model under which a claim holds.
	Model = check.Model
	// Claim is a property that must hold in every execution of its protocols under its fault model.
	Claim = check.Claim
	// Violation is a claim that did not hold in an execution.
	Violation = check.Violation
)

// The fault models.
const (
	Any   = check.Any
	Sync  = check.Sync
	Local = check.Local
	Async = check.Async
	Crash = check.Crash
	Disk  = check.Disk
	Calls = check.Calls
)

// The claims that every subject has.
const (
	claimCrash  = "EN-1"
	claimEnds   = "EN-2"
	claimCost   = "EN-3"
	claimSource = "I-SAC-9"
	claimSame   = "RU-1"
)

// common are the claims of every subject.
var common = claimsOf(claimCrash, claimEnds, claimSame, check.Replay, check.FailedCalls)

// answering are the claims of protocols whose members exchange answers in rounds.
var answering = claimsOf(claimCost, claimSource)

// allClaims returns the claims of a subject, and those of all subjects that may apply to it.
func allClaims(s *check.Subject) []Claim {
	all := slices.Concat(s.Claims, common)
	if s.Exchanges {
		all = append(all, answering...)
	}
	return slices.DeleteFunc(all, func(c Claim) bool { return slices.Contains(s.Never, c.ID) })
}
