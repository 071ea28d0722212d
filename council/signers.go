package council

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/sign"
)

// book makes the signers of all seats.
type book interface {
	Signer(id synod.NodeID, run string) synod.Signer
}

// signers are the keys of a run, derived from its seed so that a replay has the
// same; nil for a protocol that signs nothing. They are real, except where all
// members are simulated: tokens then stand for signatures.
func (c *Council) signers(seed uint64) book {
	if p, ok := c.protocol.(protocol.Signing); !ok || !p.Signs() {
		return nil
	}
	if slices.ContainsFunc(c.seats, func(s seat) bool { return c.spec.Models[s.model]["provider"] != "simulated" }) {
		return sign.Derive(seed, len(c.seats))
	}
	return sign.NewSymbolic(seed, len(c.seats))
}

// verifier checks the signatures of one question; nil for a protocol that signs nothing.
func (c *Council) verifier(q *synod.Question, seed uint64) synod.Verifier {
	if keys := c.signers(seed); keys != nil {
		return keys.Signer(0, runID(q, seed))
	}
	return nil
}

// runID is what signatures of one question are bound to.
func runID(q *synod.Question, seed uint64) string {
	return fmt.Sprintf("%d %q %q", seed, q.ID, q.Text)
}

// checkCast refuses a bound that the cast cannot bear.
func (c *Council) checkCast() error {
	p, ok := c.protocol.(protocol.Suiting)
	if !ok {
		return nil
	}
	cast := c.cast
	if cast == nil { // no roles, but a number of seats
		cast = make([]synod.Role, len(c.seats))
	}
	return p.Suits(cast, c.spec.F)
}
