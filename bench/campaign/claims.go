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
var common = []Claim{
	{ID: claimCrash, Property: "no machine panics, whatever it is sent", Model: Any, Source: "reliability, SC-16"},
	{ID: claimEnds, Property: "every run ends: each member that is up decides within the rounds", Model: Any,
		Source: "SAC Algorithm 1; DecentLLMs §III.C"},
	{ID: claimSame, Property: "one seed and one set of replies give one record", Model: Any, Source: "own"},
	{ID: check.Replay, Property: "a member that is restarted from its journal does again what it did, and goes on",
		Model: Crash, Source: "own"},
	{ID: check.FailedCalls, Property: "a call that failed, or whose reply is not what was asked for, is never " +
		"an answer, a vote or a score", Model: Calls, Source: "own (GR-2)"},
}

// answering are the claims of protocols whose members exchange answers in rounds.
var answering = []Claim{
	{ID: claimCost, Property: "members play at most the announced rounds, in order, with at most the announced calls",
		Model: Any, Source: "SAC §4.1 (I-SAC-8)", Margin: "calls below the bound"},
	{ID: claimSource, Property: "the source of every answer is right: own, kept, adopted from a neighbour, or new",
		Model: Any, Source: "SAC §4.1 (I-SAC-9)"},
}

// allClaims returns the claims of a subject, and those of all subjects that may apply to it.
func allClaims(s *check.Subject) []Claim {
	all := slices.Concat(s.Claims, common)
	if s.Exchanges {
		all = append(all, answering...)
	}
	return slices.DeleteFunc(all, func(c Claim) bool { return slices.Contains(s.Never, c.ID) })
}
