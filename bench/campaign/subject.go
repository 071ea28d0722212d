package campaign

import (
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// chance draws an execution.
type chance = check.Chance

// subject is what executions are of: a protocol, or a building block such as signed broadcast.
type subject struct {
	check.Subject
	protocol string        // its name in the catalogue; "": it is no protocol
	claims   []Claim       // all that are checked
	traits   []synod.Trait // of the protocol
	sweep    uint64        // executions number 0 to sweep-1 are all that there are; 0: they are drawn at random
	counts   bool          // the messages of honest members are counted
	bare     bool          // executions have no faults of the catalogue and no adversaries

	// setup draws parameters, size, graph, roles and the bound of an execution. It leaves faults to the caller.
	setup   func(c chance, x *Execution)
	horizon func(x *Execution) synod.Tick // about when an execution ends
	// build returns the protocol with its parameters; a player calls it once for each text of parameters.
	build func(p *ExecutionPlayer, params string) (synod.Protocol, error)
	check func(t *trace) // all claims of the subject beside those that all subjects have
	// own returns what the machines of the subject record in; nil: nothing
	own func(x *Execution) any
	// disk plays an execution that has no machines, but a disk with a ledger or journals on it, or hostile callers;
	// nil: it has machines
	disk func(t *trace)

	once  sync.Once
	seats []string // see adversaries
}
