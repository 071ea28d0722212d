package outcome

import (
	"slices"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
)

// Unfinished reports whether the run in a journal is not complete, so that it can be resumed. It
// may still have a decision.
func Unfinished(run *journal.Run) bool { return run.End == nil || Incomplete(run.End.Stopped) }

func Incomplete(stopped string) bool {
	return slices.Contains([]string{Tripped, OverBudget, PastTime, Interrupted, Unwritten}, stopped)
}

// The reasons why a run ended, beside those of package sim.
const (
	Early       = "early"       // no remaining round could change the decision
	OverBudget  = "budget"      // a call was refused because a limit was reached
	PastTime    = "deadline"    // the question's deadline passed
	Interrupted = "interrupted" // the caller gave up, or the process ended
	Tripped     = "breaker"     // a breaker tripped
	Preflight   = "preflight"   // too few members could be reached, so the run was not begun
	Unwritten   = "unwritten"   // the journal or the trace of the run could not be written
)

// cutOff describes what ended runs that were not completed.
var cutOff = map[string]string{
	Tripped:     "a breaker tripped",
	Preflight:   "too few members could be reached",
	OverBudget:  "a limit on calls, tokens or money was reached",
	PastTime:    "the deadline passed",
	Interrupted: "the run was interrupted",
	Unwritten:   "the record of the run could not be written",
	sim.Stalled: "the run stalled before every member had finished",
}

// WasCutOff reports whether a run that ended for this reason was not completed.
func WasCutOff(stopped string) bool { return cutOff[stopped] != "" }

// severity orders the reasons why seats may have stopped, when they differ.
var severity = []string{"", Early, sim.Finished, sim.Stalled, OverBudget, PastTime, Unwritten, Tripped, Preflight,
	Interrupted}
