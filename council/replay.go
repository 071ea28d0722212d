package council

import (
	"errors"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
)

// Replay plays a journal again without any model and returns the digest. The error is
// a *journal.Divergence where something differs, and a *ConfigError if the council in
// the journal cannot be built.
func Replay(run *journal.Run) (digest string, err error) {
	p, err := plan.Of(run)
	if err != nil {
		return "", err
	}
	return ReplayOf(p, run)
}

// ReplayOf plays the journal of a run of this plan again without any model and returns the digest. The error is a
// *journal.Divergence where something differs.
func ReplayOf(p *plan.Plan, run *journal.Run) (digest string, err error) {
	if why := p.Full().Runner.Capabilities().NoReplay; why != "" {
		return "", &plan.ConfigError{Section: "runner", Err: errors.New(why)}
	}
	in := outcome.InstanceOf(run)
	keys, instance := plan.Identities(p, in.Seed), plan.SignedInstance(p, in)
	return journal.Replay(run, func(id synod.NodeID) (synod.Machine, error) {
		return p.Machine(keys.Identity(id, instance), &in.Question)
	})
}
