// Package check is what the folder of a protocol says about itself to campaigns (package bench/campaign): its claims,
// the settings in which they are to be tried, and code that checks them in an execution. So a campaign names no
// protocol, and a claim stands beside the code that keeps it.
//
//	Campaigns: []check.Subject{check.Ordinary(1, "{}", "{rounds: 2}")},
//
// A protocol without a line like this is tried with its default parameters, for the claims that all protocols have.
//
// The package has rank 1½: protocol.Entry holds its subjects, and it draws graphs with graph/robustness.
package check

// FaultModel is the fault model under which a claim holds.
type FaultModel string

// The fault models.
const (
	Any   FaultModel = "any"  // whatever is sent, lost, late or failed, above the bound F too
	Sync  FaultModel = "S(f)" // messages within the bound on delays; unforgeable signatures; ≤ f Byzantine members
	Local FaultModel = "L(F)" // the same with at most F Byzantine neighbours of each member
	Async FaultModel = "A"    // delays without bound; signatures still hold; at most f Byzantine members
	Crash FaultModel = "C"    // crash and restart at any event; what was durable survives
	Disk  FaultModel = "D"    // changed and torn bytes on a disk
	Calls FaultModel = "P"    // model servers that fail in any way
)

// Claim is a property that must hold in every execution of its protocols under its fault model.
type Claim struct {
	ID        string     `json:"id"`
	Property  string     `json:"property"` // one sentence
	Model     FaultModel `json:"fault_model"`
	Source    string     `json:"source"`                 // section of a paper, or the name of a finding
	Margin    string     `json:"margin_means,omitempty"` // what the smallest margin means; "": the claim has none
	Protocols []string   `json:"protocols"`              // names of subjects; campaigns fill them in
}

// Claims of all subjects that some subject does not have, or checks itself too.
const (
	Replay      = "RU-2"   // a member that is restarted from its journal does again what it did
	FailedCalls = "SAC-10" // a failed call is no answer, no vote and no score
)

// Violation is a claim that did not hold in an execution.
type Violation struct {
	Claim  string `json:"claim"`
	Detail string `json:"detail"`
}

func (v Violation) String() string { return v.Claim + ": " + v.Detail }
